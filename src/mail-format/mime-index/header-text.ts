// The text of header fields, safe to show and to store: raw 8-bit octets are read, libmime decodes encoded words (RFC 2047), control
// characters and lone surrogates are removed (they break logs, written header fields and jsonb).
import { isUtf8 } from 'node:buffer';
import libmime from 'libmime';
import { decodeCharset, isKnownCharset, isUtf8OrUndeclared } from '../decode/charset.js';

/** The characters of one field that are decoded; the rest of a longer field is left out. */
export const FIELD_LIMIT = 16 * 1024;

/** The cost, in characters, of decoding one short word with a rare charset. */
const WORD_COST = 60;

/** The decoding budget of one message, in characters: about 50 ms in the worst case. */
const BUDGET = 160 * 1024;

const EIGHT_BIT = /[\u0080-\u00ff]/;
/** An encoded word as libmime reads it. */
const WORD = /=\?[\w\-*]+\?([QqBb])\?[^?]*\?=/g;
const CHARSET = /;\s*charset\s*=\s*"?([\w.:+-]{1,40})/i;

/** Returns the charset that a Content-Type field declares, if it tells how octets of its header that are not UTF-8 are read. */
export function declaredCharset(contentType: string | undefined): string | undefined {
  return usableCharset(CHARSET.exec(contentType?.slice(0, FIELD_LIMIT) ?? '')?.[1]);
}

/** Returns a declared charset, unless it does not tell how octets that are not UTF-8 are read. */
export function usableCharset(charset: string | undefined): string | undefined {
  return charset !== undefined && isKnownCharset(charset) && !isUtf8OrUndeclared(charset) ? charset : undefined;
}

/**
 * Decodes octets that were read as latin1: as UTF-8 when they are UTF-8 (RFC 6532), even if a letter is cut; otherwise in `charset`, which
 * the body declares. Octets within an encoded word are in the charset of the word.
 */
export function eightBit(text: string, charset = 'windows-1252'): string {
  if (!EIGHT_BIT.test(text)) return text;
  const words = text.includes('=?') ? text.replace(WORD, asciiWord) : text;
  if (!EIGHT_BIT.test(words)) return words;
  const octets = Buffer.from(words, 'latin1');
  if (isUtf8(octets)) return octets.toString('utf8');
  const read = octets.toString('utf8');
  return isCutUtf8(read) ? read : decodeCharset(octets, charset);
}

/** Returns an encoded word whose 8-bit octets are encoded too; base64 has none. */
function asciiWord(word: string, encoding: string): string {
  const isBase64 = encoding === 'B' || encoding === 'b';
  return word.replace(/[\u0080-\u00ff]/g, (octet) =>
    isBase64 ? '' : `=${octet.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns true when nearly all letters are whole: octets of another charset rarely form a letter of UTF-8. */
function isCutUtf8(read: string): boolean {
  const broken = read.match(/\ufffd/g)?.length ?? 0;
  const whole = (read.match(/[^\0-\x7f]/gu)?.length ?? 0) - broken;
  return whole > 0 && broken <= Math.max(1, whole / 4);
}

/** Returns one trimmed line without control characters and lone surrogates. */
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

  /** Returns false when the budget of the message is used up: `text` then stays as written. */
  spend(text: string, marks: number): boolean {
    this.#budget -= text.length + marks * WORD_COST;
    return this.#budget >= 0;
  }

  /** Decodes unstructured text or a phrase. */
  text(raw: string): string {
    const text = raw.length > FIELD_LIMIT ? raw.slice(0, FIELD_LIMIT) : raw;
    if (!text.includes('=?') || !this.spend(text, text.split('=?').length)) return clean(text);
    return clean(libmime.decodeWords(text));
  }
}
