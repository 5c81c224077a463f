// The body of a reply or a forward: the original under a line that says who wrote it and when, in the reader's language. Callers pass HTML
// that has been made safe; plain text becomes HTML here.
import { type Person, personText } from './address.js';

/** What the line above the original says, by the catalogue of the reader's language. */
export interface QuoteTexts {
  /** "On 3 May 2026 at 13:05, Mirjam wrote:" */
  wrote(date: string, author: string): string;
  readonly forwarded: string;
  readonly from: string;
  readonly date: string;
  readonly subject: string;
  readonly to: string;
  readonly cc: string;
}

export interface Quoted {
  readonly author: Person;
  /** The time as the reader's locale writes it. */
  readonly date: string;
  readonly subject: string;
  readonly to: readonly Person[];
  readonly cc: readonly Person[];
  /** Safe HTML. */
  readonly html: string;
}

/** Where the cursor stands when the editor opens. */
const EMPTY_LINE = '<div><br></div>';

/** `signature`, `text`: safe HTML; the signature may be empty. */
export function newBody(signature: string, text = EMPTY_LINE): string {
  return `${text}${signatureBlock(signature)}`;
}

export function replyBody({ author, date, html }: Quoted, signature: string, texts: QuoteTexts): string {
  const line = `<div dir="auto">${escaped(texts.wrote(date, author.name === '' ? author.address : author.name))}</div>`;
  return `${EMPTY_LINE}${signatureBlock(signature)}${EMPTY_LINE}${line}<blockquote type="cite">${html}</blockquote>`;
}

export function forwardBody(quoted: Quoted, signature: string, texts: QuoteTexts): string {
  const people = (list: readonly Person[]) => list.map(personText).join(', ');
  const rows = [
    [texts.from, personText(quoted.author)],
    [texts.date, quoted.date],
    [texts.subject, quoted.subject],
    [texts.to, people(quoted.to)],
    [texts.cc, people(quoted.cc)],
  ].filter(([, value]) => value !== '');
  const about = rows.map(([name, value]) => `<div dir="auto"><b>${escaped(name!)}:</b> ${escaped(value!)}</div>`);
  const title = `<div dir="auto">---------- ${escaped(texts.forwarded)} ----------</div>`;
  return `${EMPTY_LINE}${signatureBlock(signature)}${EMPTY_LINE}${title}${about.join('')}${EMPTY_LINE}${quoted.html}`;
}

const signatureBlock = (signature: string): string =>
  signature.trim() === '' ? '' : `${EMPTY_LINE}<div class="signature">${signature}</div>`;

/** How deep `>` marks are followed; deeper quotes stay in the innermost one. */
const DEEPEST = 20;

/** Plain text as HTML: a line is a line, `>` marks are block quotes, and spaces keep their width. */
export function textAsHtml(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  for (const line of text.replace(/\r\n?/g, '\n').trimEnd().split('\n')) {
    const marks = /^(?:>[ ]?)*/.exec(line)![0];
    const wanted = Math.min(DEEPEST, marks.replaceAll(' ', '').length);
    for (; depth < wanted; depth++) parts.push('<blockquote type="cite">');
    for (; depth > wanted; depth--) parts.push('</blockquote>');
    const rest = line.slice(marks.length);
    parts.push(rest === '' ? EMPTY_LINE : `<div dir="auto">${spaced(escaped(rest))}</div>`);
  }
  for (; depth > 0; depth--) parts.push('</blockquote>');
  return parts.join('');
}

const spaced = (text: string): string => text.replaceAll('\t', '    ').replace(/^ | (?= )/g, '\u00a0');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
