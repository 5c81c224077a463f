// The content of a forward: the sender's own text, then the sender, the recipients and the date of the original, then the text of the
// original; once as plain text and once as HTML.
import type { IndexedAddress, IndexedEnvelope } from '../message-index.js';

const RULE = '---------- Forwarded message ----------';

export function forwardedText(comment: string, envelope: IndexedEnvelope, text: string): string {
  const about = particulars(envelope).map(([name, value]) => `${name}: ${value}`);
  return [...(comment === '' ? [] : [comment, '']), RULE, ...about, '', text].join('\n');
}

/** The HTML of the original follows unchanged, with its head: readers treat HTML within HTML as a continuation. */
export function forwardedHtml(comment: string, envelope: IndexedEnvelope, html: string): string {
  const about = particulars(envelope).map(([name, value]) => `<b>${name}:</b> ${escaped(value)}<br>`);
  const before = comment === '' ? '' : `<div style="white-space: pre-wrap">${escaped(comment)}</div>\n<br>\n`;
  return `${before}<div>${RULE}<br>\n${about.join('\n')}\n</div>\n<br>\n${html}`;
}

function particulars({ from, date, subject, to, cc }: IndexedEnvelope): readonly (readonly [string, string])[] {
  const rows = [
    ['From', list(from)],
    ['Date', date ?? ''],
    ['Subject', subject],
    ['To', list(to)],
    ['Cc', list(cc)],
  ] as const;
  return rows.filter(([, value]) => value !== '');
}

const list = (mailboxes: readonly IndexedAddress[]): string =>
  mailboxes
    .map(({ name, address }) => (name === '' ? address : address === '' ? name : `${name} <${address}>`))
    .join(', ');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
