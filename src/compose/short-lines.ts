// A submitted message without lines that are too long, before anybody signs it: parts that have some are encoded anew
// (mail/long-lines), by nodemailer's encoders, in bounded memory. A message that has none stays octet for octet.
import { Encoder as Base64Encoder } from 'nodemailer/lib/base64';
import { Encoder as QuotedPrintableEncoder } from 'nodemailer/lib/qp';
import { decodeStream } from '../mail/decode/transfer.js';
import { LongLines, type Reencoding, reencodedHeader, reencodings } from '../mail/long-lines.js';
import type { SpooledContent, SpoolWriter } from '../spool/spool.js';

/** A line that is too long stands where nothing can be encoded: in a header, or in a part that was signed. */
export class UnencodableLine extends Error {
  override readonly name = 'UnencodableLine';
}

/**
 * The content itself, or another one in its place, which it is released for. `newWriter` writes that one.
 * @throws UnencodableLine, SpoolFault. The content is the caller's still then.
 */
export async function withShortLines(content: SpooledContent, newWriter: () => SpoolWriter): Promise<SpooledContent> {
  const lines = new LongLines();
  for await (const piece of content.chunks()) lines.push(piece);
  lines.finish();
  if (lines.starts.length === 0) return content;
  const parts = reencodings(content.index, lines.starts);
  if (parts === undefined) throw new UnencodableLine();
  const writer = newWriter();
  try {
    for await (const piece of rewritten(content, parts)) await writer.write(piece);
  } catch (error) {
    writer.discard();
    throw error;
  }
  const shorter = await writer.finish();
  content.release();
  return shorter;
}

async function* rewritten(content: SpooledContent, parts: readonly Reencoding[]): AsyncGenerator<Uint8Array> {
  const octets = new Octets(content.chunks());
  for (const part of parts) {
    yield* octets.upTo(part.headerStart);
    const header: Uint8Array[] = [];
    for await (const piece of octets.upTo(part.bodyStart)) header.push(piece);
    const fields = reencodedHeader(Buffer.concat(header), part);
    if (fields === undefined) throw new UnencodableLine();
    yield fields;
    yield* encoded(decodeStream(part.from, octets.upTo(part.bodyEnd)), part.to);
    // The encoder ends no line, and the message ends in one.
    if (part.bodyEnd === content.size && part.to === 'base64') yield Buffer.from('\r\n');
  }
  yield* octets.upTo(content.size);
}

/** The message from its start, read once, piece by piece. */
class Octets {
  readonly #pieces: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #rest: Uint8Array = Buffer.alloc(0);
  #at = 0;

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#pieces = Symbol.iterator in chunks ? chunks[Symbol.iterator]() : chunks[Symbol.asyncIterator]();
  }

  /** Those before `end` that were not read yet. */
  async *upTo(end: number): AsyncGenerator<Uint8Array> {
    while (this.#at < end) {
      if (this.#rest.length === 0) {
        const next = await this.#pieces.next();
        if (next.done === true) return;
        this.#rest = next.value;
      }
      const piece = this.#rest.subarray(0, end - this.#at);
      this.#rest = this.#rest.subarray(piece.length);
      this.#at += piece.length;
      if (piece.length > 0) yield piece;
    }
  }
}

async function* encoded(body: AsyncIterable<Uint8Array>, encoding: Reencoding['to']): AsyncGenerator<Uint8Array> {
  const encoder = encoding === 'base64' ? new Base64Encoder() : new QuotedPrintableEncoder();
  for await (const piece of body) {
    encoder.write(piece);
    for (let octets = encoder.read(); octets !== null; octets = encoder.read()) yield octets as Buffer;
  }
  encoder.end();
  for await (const octets of encoder) yield octets as Buffer;
}
