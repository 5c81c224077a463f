// A message on its way into the spool, in two forms: one that is hashed and indexed as it passes, and one whose beginning is
// only known at its end (a field put before it says what was found out about the whole), which is hashed and indexed then.
import { createHash, type Hash } from 'node:crypto';
import { MimeIndexer } from '../../mail/mime-index/indexer.js';
import type { BlobContent } from '../../store/blobs.js';
import { SpoolFault } from './errors.js';
import type { Spool } from './spool.js';
import { SpoolHold } from './spool-hold.js';

/** Bytes to be stored, held until `release`. */
export interface SpooledContent extends BlobContent {
  release(): void;
}

/** Takes one message. Exactly one of `finish` and `discard` ends it. */
export class SpoolWriter {
  readonly #hold: SpoolHold;
  readonly #digest = new Digest();

  constructor(spool: Spool) {
    this.#hold = new SpoolHold(spool);
  }

  /**
   * The chunk must not be changed afterwards. Returns a promise when the caller has to wait for it before it writes again.
   * Throws and rejects with SpoolFault.
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#digest.push(chunk);
    return this.#hold.write(chunk);
  }

  /** @throws SpoolFault, and has then discarded everything. */
  async finish(): Promise<SpooledContent> {
    await this.#hold.finish();
    const hold = this.#hold;
    return { ...this.#digest.finish(), chunks: () => hold.chunks(), release: () => hold.discard() };
  }

  /** Gives back memory and file; may be called again. */
  discard(): void {
    this.#hold.discard();
  }
}

/** Takes the body of one message, whose header is given at the end. Exactly one of `finish` and `discard` ends it. */
export class BodyWriter {
  readonly #spool: Spool;
  readonly #hold: SpoolHold;
  #reserved = 0;

  constructor(spool: Spool) {
    this.#spool = spool;
    this.#hold = new SpoolHold(spool);
  }

  /** Makes room for so many octets that the caller keeps itself, until the end. @throws SpoolFault */
  reserve(octets: number): void {
    if (!this.#spool.reserve(octets)) throw new SpoolFault('spool-memory', 'the memory of the spool is used up');
    this.#reserved += octets;
  }

  /** As of SpoolWriter. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    return this.#hold.write(chunk);
  }

  /** The message: `header` and then what was written. @throws SpoolFault, and has then discarded everything. */
  async finish(header: Uint8Array): Promise<SpooledContent> {
    try {
      await this.#hold.finish();
      const digest = new Digest();
      digest.push(header);
      const pieces = this.#hold.chunks();
      if (Symbol.iterator in pieces) for (const piece of pieces) digest.push(piece);
      else for await (const piece of pieces) digest.push(piece);
      return {
        ...digest.finish(),
        chunks: () => joined(header, this.#hold.chunks()),
        release: () => this.discard(),
      };
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Gives back memory and file; may be called again. */
  discard(): void {
    this.#spool.unreserve(this.#reserved);
    this.#reserved = 0;
    this.#hold.discard();
  }
}

/** What is known of octets by their passing. */
class Digest {
  readonly #hash: Hash = createHash('sha256');
  readonly #indexer = new MimeIndexer();
  #size = 0;

  push(octets: Uint8Array): void {
    this.#hash.update(octets);
    this.#indexer.push(octets);
    this.#size += octets.length;
  }

  finish(): Pick<BlobContent, 'hash' | 'size' | 'index'> {
    return { hash: this.#hash.digest('hex'), size: this.#size, index: this.#indexer.finish() };
  }
}

function joined(
  header: Uint8Array,
  rest: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (Symbol.iterator in rest) return [header, ...rest];
  return (async function* () {
    yield header;
    yield* rest;
  })();
}
