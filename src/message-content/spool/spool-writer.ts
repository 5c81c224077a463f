// Two writers of a message into the spool. SpoolWriter hashes and indexes the message while it passes. BodyWriter takes a message
// whose first header fields are written last, because they hold the results of its checks; it hashes and indexes at the end.
import { createHash, type Hash, hash } from 'node:crypto';
import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { MimeIndexer } from '../../mail-format/mime-index/indexer.js';
import type { BlobContent } from '../../store/blobs.js';
import type { SpoolBudget } from './spool-budget.js';
import { SpoolHold } from './spool-hold.js';

/** Bytes to be stored, held until `release`. */
export interface SpooledContent extends BlobContent {
  /** Whether no file is open for it. */
  readonly isInMemory: boolean;
  release(): void;
}

/** Takes one message. The caller ends it with either `finish` or `discard`. */
export class SpoolWriter {
  readonly #hold: SpoolHold;
  readonly #digest = new Digest();
  /** Memory that the caller uses for its own data. */
  readonly #memory: Reservation;

  constructor(budget: SpoolBudget, key: string) {
    this.#hold = new SpoolHold(budget, key);
    this.#memory = budget.memory.charge(key, 0);
  }

  /** Reserves memory for octets that the caller itself keeps, until `finish` or `discard`; returns whether there is room. */
  reserve(octets: number): boolean {
    return this.#memory.grow(octets);
  }

  /**
   * The caller must not change the chunk afterwards. Returns a promise when the caller has to wait for it before the next write.
   * Throws and rejects with SpoolFault.
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#digest.push(chunk);
    return this.#hold.write(chunk);
  }

  /** @throws SpoolFault after it has discarded everything. */
  async finish(): Promise<SpooledContent> {
    this.#memory.release();
    await this.#hold.finish();
    const hold = this.#hold;
    const { isInMemory } = hold;
    const { hash, size, index } = this.#digest.finish();
    return { hash, size, index, isInMemory, chunks: () => hold.chunks(), release: () => hold.discard() };
  }

  /** Releases memory and file; may be called again. */
  discard(): void {
    this.#memory.release();
    this.#hold.discard();
  }
}

/**
 * Takes the body of one message and its header at the end, or a header and a body, whose header is replaced at the end. The
 * caller ends it with either `finish` or `discard`.
 */
export class BodyWriter {
  readonly #hold: SpoolHold;
  /** Memory that the caller uses for its own data. */
  readonly #memory: Reservation;

  constructor(budget: SpoolBudget, key: string) {
    this.#hold = new SpoolHold(budget, key);
    this.#memory = budget.memory.charge(key, 0);
  }

  /** Like `SpoolWriter.reserve`; `unreserve` ends the reservation too. */
  reserve(octets: number): boolean {
    return this.#memory.grow(octets);
  }

  unreserve(): void {
    this.#memory.release();
  }

  /** Like `SpoolWriter.write`. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    return this.#hold.write(chunk);
  }

  /** Reads everything but the first `from` octets; the caller writes nothing afterwards. @throws SpoolFault */
  async *read(from = 0): AsyncGenerator<Uint8Array> {
    await this.#hold.finish();
    yield* this.#hold.chunks(from);
  }

  /**
   * The message consists of `header` and of what was written without its first `from` octets. @throws SpoolFault after it has
   * discarded everything.
   */
  async finish(header: Uint8Array, from = 0): Promise<SpooledContent> {
    try {
      await this.#hold.finish();
      const digest = new Digest();
      digest.push(header);
      const pieces = this.#hold.chunks(from);
      if (Symbol.iterator in pieces) for (const piece of pieces) digest.push(piece);
      else for await (const piece of pieces) digest.push(piece);
      const { hash, size, index } = digest.finish();
      return {
        hash,
        size,
        index,
        isInMemory: this.#hold.isInMemory,
        chunks: () => joined(header, this.#hold.chunks(from)),
        release: () => this.discard(),
      };
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Releases memory and file; may be called again. */
  discard(): void {
    this.#memory.release();
    this.#hold.discard();
  }
}

/** Hash, size and index of the octets that pass. The caller must not change them afterwards. */
class Digest {
  /**
   * The first piece, until a second one comes: a message in one piece needs no Hash object that outlives the call and burdens the
   * garbage collector.
   */
  #only: Uint8Array | undefined;
  #hash: Hash | undefined;
  readonly #indexer = new MimeIndexer();
  #size = 0;

  push(octets: Uint8Array): void {
    if (this.#hash !== undefined) this.#hash.update(octets);
    else if (this.#only === undefined) this.#only = octets;
    else {
      this.#hash = createHash('sha256').update(this.#only).update(octets);
      this.#only = undefined;
    }
    this.#indexer.push(octets);
    this.#size += octets.length;
  }

  finish(): Pick<BlobContent, 'hash' | 'size' | 'index'> {
    const digest = this.#hash?.digest('hex') ?? hash('sha256', this.#only ?? new Uint8Array(0), 'hex');
    return { hash: digest, size: this.#size, index: this.#indexer.finish() };
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
