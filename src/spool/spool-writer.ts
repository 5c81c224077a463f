// A message on its way into the spool, in two forms. SpoolWriter hashes and indexes the message as it passes. BodyWriter
// takes a message whose first fields are written last, because they hold the results of its checks, and hashes and
// indexes at the end.
import { createHash, type Hash, hash } from 'node:crypto';
import { MimeIndexer } from '../mail/mime-index/indexer.js';
import type { BlobContent } from '../store/blobs.js';
import type { SpoolBudget } from './spool-budget.js';
import { SpoolHold } from './spool-hold.js';

/** Bytes to be stored, held until `release`. */
export interface SpooledContent extends BlobContent {
  /** Whether no file is open for it. */
  readonly isInMemory: boolean;
  release(): void;
}

/** Takes one message. Exactly one of `finish` and `discard` ends it. */
export class SpoolWriter {
  readonly #hold: SpoolHold;
  readonly #digest = new Digest();
  readonly #reservation: Reservation;

  constructor(budget: SpoolBudget, holder: string) {
    this.#hold = new SpoolHold(budget, holder);
    this.#reservation = new Reservation(budget, holder);
  }

  /** Whether there is room for so many octets more that the caller keeps itself; until `finish` or `discard`. */
  reserve(octets: number): boolean {
    return this.#reservation.add(octets);
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
    this.#reservation.end();
    await this.#hold.finish();
    const hold = this.#hold;
    const { isInMemory } = hold;
    const { hash, size, index } = this.#digest.finish();
    return { hash, size, index, isInMemory, chunks: () => hold.chunks(), release: () => hold.discard() };
  }

  /** Gives back memory and file; may be called again. */
  discard(): void {
    this.#reservation.end();
    this.#hold.discard();
  }
}

/**
 * Takes the body of one message, whose header is given at the end, or a header and its body, whose header is replaced at the
 * end. Exactly one of `finish` and `discard` ends it.
 */
export class BodyWriter {
  readonly #hold: SpoolHold;
  readonly #reservation: Reservation;

  constructor(budget: SpoolBudget, holder: string) {
    this.#hold = new SpoolHold(budget, holder);
    this.#reservation = new Reservation(budget, holder);
  }

  /** As of SpoolWriter, until `unreserve` too. */
  reserve(octets: number): boolean {
    return this.#reservation.add(octets);
  }

  unreserve(): void {
    this.#reservation.end();
  }

  /** As of SpoolWriter. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    return this.#hold.write(chunk);
  }

  /** What was written but for its first `from` octets; nothing is written afterwards. @throws SpoolFault */
  async *read(from = 0): AsyncGenerator<Uint8Array> {
    await this.#hold.finish();
    yield* this.#hold.chunks(from);
  }

  /**
   * The message: `header` and then what was written but for its first `from` octets.
   * @throws SpoolFault, and has then discarded everything.
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

  /** Gives back memory and file; may be called again. */
  discard(): void {
    this.#reservation.end();
    this.#hold.discard();
  }
}

/** Memory of the spool's that is used beside it. */
class Reservation {
  readonly #budget: SpoolBudget;
  readonly #holder: string;
  #octets = 0;

  constructor(budget: SpoolBudget, holder: string) {
    this.#budget = budget;
    this.#holder = holder;
  }

  add(octets: number): boolean {
    if (!this.#budget.reserve(this.#holder, octets)) return false;
    this.#octets += octets;
    return true;
  }

  end(): void {
    this.#budget.unreserve(this.#holder, this.#octets);
    this.#octets = 0;
  }
}

/** What is known of octets by their passing. They must not be changed afterwards. */
class Digest {
  /** Until there are more: octets in one piece need no object that outlives the call, which the garbage collector has to look after. */
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
