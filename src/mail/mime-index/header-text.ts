// Header field text made fit to show and to store: raw 8-bit octets read, encoded words decoded (RFC 2047, by
// libmime), control characters and lone surrogates out (they break logs, headers written from them, and jsonb).
import { isUtf8 } from 'node:buffer';
import libmime from 'libmime';
import { decodeCharset } from '../decode/charset.js';

/** Characters of one field that are decoded; the rest of a longer one is left out. */
const FIELD_LIMIT = 16 * 1024;

/** A decode of one short word with a strange charset costs about as much as this many characters of a long one. */
const WORD_COST = 60;

/** Decoding budget of one message in characters: about 50 ms of the worst a peer can write. */
const BUDGET = 160 * 1024;

/** Octets read as latin1, turned into UTF-8 text where they are that (RFC 6532), else taken as windows-1252. */
export function eightBit(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text)) return text;
  const octets = Buffer.from(text, 'latin1');
  return isUtf8(octets) ? octets.toString('utf8') : decodeCharset(octets, 'windows-1252');
}

/** One line without control characters and lone surrogates, trimmed. */
export function clean(text: string): string {
  const trimmed = text.trim();
  if (!/[^ -~]/.test(trimmed)) return trimmed;
  return trimmed
    .replace(/[\t\r\n]+/g, ' ')
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '')
    .trim();
}

/** Decodes the encoded words of one message, within a budget for all of them. */
export class WordDecoder {
  #budget = BUDGET;

  /** False once the message has used its budget up: then `text` stays as written. */
  spend(text: string, marks: number): boolean {
    this.#budget -= text.length + marks * WORD_COST;
    return this.#budget >= 0;
  }

  /** Of unstructured text or a phrase. */
  text(raw: string): string {
    const text = raw.length > FIELD_LIMIT ? raw.slice(0, FIELD_LIMIT) : raw;
    if (!text.includes('=?') || !this.spend(text, text.split('=?').length)) return clean(text);
    return clean(libmime.decodeWords(text));
  }
}
