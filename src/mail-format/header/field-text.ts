// The text of header fields, found by name and read from the octets of the header: unfolded, with encoded words decoded (RFC 2047).
// Searches and sorting use it, because they may name any field; the MIME index has the common ones.
import { isUtf8 } from 'node:buffer';
import type { MessageIndex } from '../message-index.js';
import { declaredCharset, eightBit, FIELD_LIMIT, usableCharset, WordDecoder } from '../mime-index/header-text.js';

/** The known facts about the texts of a message. */
interface Texts {
  /** The charset of the first text part that declares one. It applies to 8-bit octets of a header that declares none. */
  readonly textCharset?: string | undefined;
}

const FIELD_NAME = /^[!-9;-~]+$/;
const EIGHT_BIT = /[\u0080-\u00ff]/;
const FOLDING = /\r?\n[ \t]+/g;

/**
 * Returns a function that finds the bodies of the fields with one name in a header: unfolded, otherwise as written, one character per
 * octet.
 */
export function fieldFinder(name: string): (header: Buffer) => string[] {
  if (!FIELD_NAME.test(name)) return () => [];
  const escaped = name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const field = new RegExp(`(?:^|\\n)${escaped}[ \\t]*:([^\\n]*(?:\\n[ \\t][^\\n]*)*)`, 'gi');
  return (header) => {
    const found: string[] = [];
    for (const [, body = ''] of header.toString('latin1').matchAll(field)) found.push(unfolded(body));
    return found;
  };
}

/** Decodes the bodies that a finder found in the header. */
export function decodedBodies(bodies: readonly string[], header: Buffer, texts: Texts = {}): string[] {
  const words = new WordDecoder();
  const charset = bodies.some((body) => EIGHT_BIT.test(body)) ? charsetOf(header, texts) : undefined;
  return bodies.map((body) => decoded(body, words, charset));
}

/** Reads a body that a finder found in the header: octets that are not UTF-8 are in the charset that the header or a text declares. */
export function characters(body: string, header: Buffer, texts: Texts = {}): string {
  return EIGHT_BIT.test(body) ? eightBit(body, charsetOf(header, texts)) : body;
}

const findContentType = fieldFinder('content-type');

function charsetOf(header: Buffer, texts: Texts): string | undefined {
  return declaredCharset(findContentType(header)[0]) ?? texts.textCharset;
}

/** Returns true when only the text parts can tell the charset of the header's octets. */
export function needsTextCharset({ buffer, byteOffset, length }: Uint8Array): boolean {
  const header = Buffer.from(buffer, byteOffset, length);
  return !isUtf8(header) && charsetOf(header, {}) === undefined;
}

export function textCharset({ root }: Pick<MessageIndex, 'root'>): string | undefined {
  const open = [root];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const charset = part.type === 'text' ? usableCharset(part.params['charset']) : undefined;
    if (charset !== undefined) return charset;
    for (let i = part.parts.length - 1; i >= 0; i--) open.push(part.parts[i]!);
  }
  return undefined;
}

/** Returns the text of a whole header, one line per field. */
export function headerText(header: Buffer, texts: Texts = {}): string {
  const text = header.toString('latin1').replace(FOLDING, ' ');
  if (!text.includes('=?') && !EIGHT_BIT.test(text)) return text;
  const words = new WordDecoder();
  const charset = charsetOf(header, texts);
  return text
    .split('\n')
    .map((line) => decoded(line, words, charset))
    .join('\n');
}

function unfolded(body: string): string {
  return (body.includes('\n') ? body.replace(FOLDING, ' ') : body).trim();
}

/** Decodes the body in pieces that the decoder reads as a whole. */
function decoded(body: string, words: WordDecoder, charset: string | undefined): string {
  const text = eightBit(body, charset);
  if (text.length <= FIELD_LIMIT) return words.text(text);
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + FIELD_LIMIT);
    if (end < text.length) {
      const space = text.lastIndexOf(' ', end - 1);
      if (space > start) end = space;
    }
    pieces.push(words.text(text.slice(start, end)));
    start = end;
  }
  return pieces.join(' ');
}
