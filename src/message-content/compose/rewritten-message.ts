// Rewrites some parts of a stored message (mail/writing/part-edits) with nodemailer's encoders, in limited memory. Every other octet stays.
import { Encoder as Base64Encoder } from 'nodemailer/lib/base64';
import { Encoder as QuotedPrintableEncoder } from 'nodemailer/lib/qp';
import { decodeStream } from '../../mail-format/decode/transfer.js';
import { type EncodedAs, editedHeader, type PartEdit } from '../../mail-format/writing/part-edits.js';

/** Thrown when the header of a part cannot be written as the edit wants it. */
export class UnwritableHeader extends Error {
  override readonly name = 'UnwritableHeader';
}

interface Original {
  readonly size: number;
  /** Reads the message from its start. */
  chunks(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** `edits` are in the order of the message. @throws UnwritableHeader, and what reading throws */
export async function* rewrittenMessage(content: Original, edits: readonly PartEdit[]): AsyncGenerator<Uint8Array> {
  const octets = new Octets(content.chunks());
  for (const edit of edits) {
    const { part, to } = edit;
    yield* octets.upTo(part.headerStart);
    const header: Uint8Array[] = [];
    for await (const piece of octets.upTo(part.bodyStart)) header.push(piece);
    const fields = editedHeader(Buffer.concat(header), edit);
    if (fields === undefined) throw new UnwritableHeader();
    yield fields;
    if (to === undefined || to === '7bit') continue;
    yield* encoded(decodeStream(part.encoding, octets.upTo(part.bodyEnd)), to);
    // The encoder does not end its last line, but the message must.
    if (part.bodyEnd === content.size && to === 'base64') yield Buffer.from('\r\n');
  }
  yield* octets.upTo(content.size);
}

/** Reads the message once from its start, piece by piece. */
class Octets {
  readonly #pieces: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #rest: Uint8Array = Buffer.alloc(0);
  #at = 0;

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#pieces = Symbol.iterator in chunks ? chunks[Symbol.iterator]() : chunks[Symbol.asyncIterator]();
  }

  /** Yields the octets before `end` that were not read yet. */
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

async function* encoded(body: AsyncIterable<Uint8Array>, encoding: EncodedAs): AsyncGenerator<Uint8Array> {
  const encoder = encoding === 'base64' ? new Base64Encoder() : new QuotedPrintableEncoder();
  for await (const piece of body) {
    encoder.write(piece);
    for (let octets = encoder.read(); octets !== null; octets = encoder.read()) yield octets as Buffer;
  }
  encoder.end();
  for await (const octets of encoder) yield octets as Buffer;
}
