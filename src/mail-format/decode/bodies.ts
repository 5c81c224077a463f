// The text body and the HTML body of a message, joined from their parts. The code is pure and synchronous: the caller decides which decoder
// reads the parts, in which thread, how many octets and for how long.
import { htmlText } from './html-text.js';
import { type TextPart, textOf } from './part-text.js';

export interface BodyPart extends TextPart {
  /** True when the part belongs to the text body; it may belong to both bodies. */
  readonly inText: boolean;
  readonly inHtml: boolean;
  readonly bytes: Uint8Array;
}

export interface Bodies {
  readonly text: string;
  readonly html: string;
  /** True when the message has more text than the bodies show. */
  readonly partial: boolean;
  /** Set when decoding failed or took too long: the bodies are then the start of the message, read without its character sets. */
  readonly isUndecoded?: true;
}

/** Joins decoded parts until both bodies together have `limit` characters. */
export class BodiesBuilder {
  readonly #limit: number;
  readonly #toText: (html: string) => string;
  #text = '';
  #html = '';
  #isPartial = false;

  constructor(limit: number, toText: (html: string) => string) {
    this.#limit = limit;
    this.#toText = toText;
  }

  /** Returns true when there is room for another part; otherwise marks the bodies as partial. */
  hasRoom(): boolean {
    if (this.#left > 0) return true;
    this.#isPartial = true;
    return false;
  }

  add(part: BodyPart, decoded: string): void {
    const content = decoded.length > this.#left ? decoded.slice(0, this.#left).replace(/\p{Cs}$/u, '') : decoded;
    if (content.length < decoded.length) this.#isPartial = true;
    const isHtml = part.subtype === 'html';
    if (part.inText) this.#text = joined(this.#text, isHtml ? this.#toText(content) : content, '\n');
    if (part.inHtml) this.#html = joined(this.#html, isHtml ? content : asHtml(content), '\n<br>\n');
  }

  get bodies(): Bodies {
    return { text: this.#text, html: this.#html, partial: this.#isPartial };
  }

  get #left(): number {
    return this.#limit - this.#text.length - this.#html.length;
  }
}

/** Composes the bodies with Mansio's own decoders. `limit` is in characters, for both bodies together. */
export function composeBodies(parts: readonly BodyPart[], limit: number): Bodies {
  const builder = new BodiesBuilder(limit, htmlText);
  for (const part of parts) {
    if (!builder.hasRoom()) break;
    builder.add(part, textOf(part, part.bytes));
  }
  return builder.bodies;
}

function joined(before: string, next: string, separator: string): string {
  return before === '' ? next : before + separator + next;
}

/** Wraps plain text that stands between HTML parts (the footer of a mailing list), escaped so that HTML sees no markup in it. */
function asHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div style="white-space: pre-wrap">${escaped}</div>`;
}
