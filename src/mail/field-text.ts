// The text of fields of a message header, found by name and read from the octets of the header: unfolded, encoded words
// decoded (RFC 2047). For searches and sorting, which may name any field; the MIME index has the common ones.
import { isUtf8 } from 'node:buffer';
import type { MessageIndex } from './message-index.js';
import { declaredCharset, eightBit, FIELD_LIMIT, usableCharset, WordDecoder } from './mime-index/header-text.js';

/** The texts of a message, as far as they are known. */
interface Texts {
  /** The charset of the first text that declares one: octets of the header are in it that the header says nothing of. */
  readonly textCharset?: string | undefined;
}

const FIELD_NAME = /^[!-9;-~]+$/;
const EIGHT_BIT = /[\u0080-\u00ff]/;
const FOLDING = /\r?\n[ \t]+/g;

/** Gives the bodies of the fields of one name in a header, unfolded, as written: one character an octet. */
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

/** The text of bodies that a finder gave of the header, decoded. */
export function decodedBodies(bodies: readonly string[], header: Buffer, texts: Texts = {}): string[] {
  const words = new WordDecoder();
  const charset = bodies.some((body) => EIGHT_BIT.test(body)) ? charsetOf(header, texts) : undefined;
  return bodies.map((body) => decoded(body, words, charset));
}

/** A body that a finder gave of the header: octets that are no UTF-8 are in the charset that the header or a text declares. */
export function characters(body: string, header: Buffer, texts: Texts = {}): string {
  return EIGHT_BIT.test(body) ? eightBit(body, charsetOf(header, texts)) : body;
}

const findContentType = fieldFinder('content-type');

function charsetOf(header: Buffer, texts: Texts): string | undefined {
  return declaredCharset(findContentType(header)[0]) ?? texts.textCharset;
}

/** The charset of octets in the header is known from the texts alone. */
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

/** The text of a whole header, a line a field. */
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

/** In pieces that the decoder reads as a whole. */
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
