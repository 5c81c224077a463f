// Reads messages for RETR and TOP. Small messages are read many at a time while a client fetches one after the other; large ones are
// streamed. The octets that are read ahead are bounded, and are dropped when the client does not fetch them.

import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import { KeyedLimiter } from '../../concurrency/keyed-limiter.js';
import { fixedShare } from '../../concurrency/share-policies.js';
import { primed } from '../../net/tcp/primed-stream.js';
import type { Pop3Context } from './context.js';
import type { Maildrop, MaildropMessage } from './maildrop.js';
import { ReadAhead, type ReadSpan } from './read-ahead.js';

/** The most octets of a message that is read as a whole; a larger one is streamed. */
export const SMALL_OCTETS = 256 * 1024;
/** The most octets and messages of one reading. */
const SPAN_OCTETS = 512 * 1024;
const MOST_OF_SPAN = 256;
const SPAN_GROWTH = 4;
/** The most messages whose blobs are looked up together. */
const MOST_LOOKED_UP = 1024;
const LOOKUP_GROWTH = 8;

/** Limits the octets that sessions have read and not yet sent, by account. */
const readAhead = new KeyedLimiter(fixedShare({ total: 64 * 1024 * 1024, share: 4 * 1024 * 1024 }));
/** Limits concurrent readings of many messages, by account: the store has few connections, and accounts take turns. */
const readings = new FairSemaphore({ total: 4, share: 2 });

type Source = Pick<Pop3Context, 'messages' | 'blobs'>;

/** The content of a message: its octets, or a stream of them. */
export type MessageOctets = Uint8Array | AsyncIterable<Uint8Array>;

export class MessageReader {
  readonly #source: Source;
  readonly #accountId: string;
  readonly #maildrop: Maildrop;
  /** Hashes of blobs. */
  readonly #hashes: ReadAhead<string>;
  /** Small messages. */
  readonly #octets: ReadAhead<Uint8Array>;
  #wasUsed = false;

  constructor(source: Source, accountId: string, maildrop: Maildrop) {
    this.#source = source;
    this.#accountId = accountId;
    this.#maildrop = maildrop;
    const { highest } = maildrop;
    const lookUp = (first: number, most: number) => this.#lookUp(first, most);
    this.#hashes = new ReadAhead({ load: lookUp, growth: LOOKUP_GROWTH, highest });
    const read = (first: number, most: number) => this.#readSpan(first, most);
    this.#octets = new ReadAhead({ load: read, growth: SPAN_GROWTH, highest });
  }

  /** Returns undefined when the message has left the inbox since the session began. @throws StoreFault */
  async read(message: MaildropMessage): Promise<MessageOctets | undefined> {
    this.#wasUsed = true;
    if (isSmall(message)) return this.#octets.get(message.number);
    const hash = await this.#hashes.get(message.number);
    return hash === undefined ? undefined : primed(this.#source.blobs.stream(hash, 0, message.size));
  }

  /** Drops what was read ahead if nothing was read since the last call. */
  sweep(): void {
    if (this.#wasUsed) this.#wasUsed = false;
    else this.drop();
  }

  drop(): void {
    this.#hashes.drop();
    this.#octets.drop();
  }

  #lookUp(first: number, most: number): ReadSpan<string> {
    const count = Math.min(most, MOST_LOOKED_UP);
    const last = Math.min(this.#maildrop.highest, first + count - 1);
    return { last, count, values: this.#hashesOf(first, last) };
  }

  async #hashesOf(first: number, last: number): Promise<ReadonlyMap<number, string>> {
    const { folderId } = this.#maildrop;
    const range = [this.#maildrop.uidOf(first), this.#maildrop.uidOf(last)] as const;
    const hashes = await this.#source.messages.blobs(this.#accountId, folderId, ...range);
    const found = new Map<number, string>();
    for (let number = first; number <= last; number++) {
      const hash = hashes.get(this.#maildrop.uidOf(number));
      if (hash !== undefined) found.set(number, hash);
    }
    return found;
  }

  /** Skips large messages and those marked as deleted. */
  #readSpan(first: number, most: number): ReadSpan<Uint8Array> {
    const count = Math.min(most, MOST_OF_SPAN);
    const numbers: number[] = [];
    let octets = 0;
    let last = first - 1;
    while (last < this.#maildrop.highest && numbers.length < count) {
      const message = this.#maildrop.at(last + 1);
      if (message !== undefined && isSmall(message)) {
        if (numbers.length > 0 && octets + message.size > SPAN_OCTETS) break;
        numbers.push(message.number);
        octets += message.size;
      }
      last++;
    }
    const isAhead = numbers.length > 1;
    const memory = isAhead ? readAhead.reserve(this.#accountId, octets) : undefined;
    if (isAhead && memory === undefined) return this.#readSpan(first, 1);
    const values = readings.run(this.#accountId, () => this.#octetsOf(numbers));
    return {
      last,
      count: numbers.length,
      values,
      ...(memory && { release: () => memory.release() }),
    };
  }

  async #octetsOf(numbers: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
    const hashes = await Promise.all(numbers.map((number) => this.#hashes.get(number)));
    const blobs = await this.#source.blobs.readAll(hashes.filter((hash) => hash !== undefined));
    const found = new Map<number, Uint8Array>();
    for (const [i, hash] of hashes.entries()) {
      const octets = hash === undefined ? undefined : blobs.get(hash);
      if (octets !== undefined) found.set(numbers[i]!, octets);
    }
    return found;
  }
}

function isSmall({ size }: { readonly size: number }): boolean {
  return size <= SMALL_OCTETS;
}
