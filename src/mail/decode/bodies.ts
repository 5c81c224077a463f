// The text and html body of a message from the octets of the parts that make them up. Pure and synchronous: where it
// runs (here, in a worker), with how many octets and for how long is the caller's.
import { htmlText } from './html-text.js';
import { type TextPart, textOf } from './part-text.js';

export interface BodyPart extends TextPart {
  /** Of the text body, of the html body; a part may be in both. */
  readonly inText: boolean;
  readonly inHtml: boolean;
  readonly bytes: Uint8Array;
}

export interface Bodies {
  readonly text: string;
  readonly html: string;
  /** Something is left out: the raw message has more. */
  readonly partial: boolean;
  /** The decoding failed or took too long: this is the start of the bodies, without their character sets. */
  readonly isUndecoded?: true;
}

/** `limit`: characters of text and html together. */
export function composeBodies(parts: readonly BodyPart[], limit: number): Bodies {
  let text = '';
  let html = '';
  let partial = false;
  for (const part of parts) {
    const left = limit - text.length - html.length;
    if (left <= 0) return { text, html, partial: true };
    const own = textOf(part, part.bytes);
    const content = own.length > left ? own.slice(0, left).replace(/\p{Cs}$/u, '') : own;
    if (content.length < own.length) partial = true;
    const isHtml = part.subtype === 'html';
    if (part.inText) text = joined(text, isHtml ? htmlText(content) : content, '\n');
    if (part.inHtml) html = joined(html, isHtml ? content : asHtml(content), '\n<br>\n');
  }
  return { text, html, partial };
}

function joined(before: string, next: string, separator: string): string {
  return before === '' ? next : before + separator + next;
}

/** Plain text between html parts (a mailing list's footer), with nothing in it that html would read as markup. */
function asHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div style="white-space: pre-wrap">${escaped}</div>`;
}
