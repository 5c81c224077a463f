// The links of plain text: addresses of the web, names that begin with `www.`, and addresses of mail.
import { type Link, linkOf } from '../html/links.js';

export interface TextPiece {
  readonly text: string;
  readonly link?: Link;
}

/** What more a text has stays text. */
const MOST_LINKS = 2000;
/** Each form begins where no longer one could, so that the search takes linear time. */
const CANDIDATE =
  /(?<![\p{L}\p{N}])(?:https?:\/\/|www\.|mailto:)[^\s<>"“”«»\p{Cf}]{1,2000}|(?<![\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-])[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,250}[\p{L}\p{N}])?/giu;

/** The pieces of a text, in order. */
export function textPieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  let links = 0;
  for (const match of text.matchAll(CANDIDATE)) {
    const found = withoutEnd(match[0]);
    const link = links < MOST_LINKS ? linkOf(hrefOf(found), found) : undefined;
    if (link === undefined) continue;
    links++;
    if (match.index > at) pieces.push({ text: text.slice(at, match.index) });
    pieces.push({ text: found, link });
    at = match.index + found.length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at) });
  return pieces;
}

function hrefOf(found: string): string {
  if (/^https?:/i.test(found)) return found;
  if (/^mailto:/i.test(found)) return /^mailto:[^@?]+@[^@]/i.test(found) ? found : '';
  if (/^www\./i.test(found)) return /^www\.[^.]+\./i.test(found) ? `https://${found}` : '';
  return found.includes('.', found.indexOf('@')) ? `mailto:${found}` : '';
}

const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Leaves out what ends the sentence around a link, and a bracket that the link does not open. */
function withoutEnd(found: string): string {
  let end = found.length;
  for (; end > 0; end--) {
    const last = found[end - 1]!;
    if (/[.,;:!?'*_…]/.test(last)) continue;
    const opening = CLOSING[last];
    if (opening === undefined || isOpened(found.slice(0, end), opening, last)) break;
  }
  return found.slice(0, end);
}

function isOpened(text: string, opening: string, closing: string): boolean {
  return text.split(opening).length >= text.split(closing).length;
}
