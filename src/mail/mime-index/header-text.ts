// The text of header fields, safe to show and to store: raw 8-bit octets are read, libmime decodes encoded words (RFC 2047),
// control characters and lone surrogates are removed (they break logs, written header fields and jsonb).
import { isUtf8 } from 'node:buffer';
import libmime from 'libmime';
import { decodeCharset } from '../decode/charset.js';

/** Characters of one field that are decoded; the rest of a longer one is left out. */
export const FIELD_LIMIT = 16 * 1024;

/** A decode of one short word with a strange charset costs about as much as this many characters of a long one. */
const WORD_COST = 60;

/** Decoding budget of one message in characters: about 50 ms for the worst case. */
const BUDGET = 160 * 1024;

/** Of octets read as latin1: UTF-8 where they are valid UTF-8 (RFC 6532), else windows-1252. */
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

  /** False when the budget of the message is used up: then `text` stays as written. */
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
