// Octets of messages for RETR and TOP. Small ones are read many at a time as soon as a client fetches one after the other, and
// the next ones while they are sent; large ones are streamed. What is read ahead is bounded, and dropped when it is not used.
import { FairSemaphore } from '../../bounds/fair-semaphore.js';
import { FixedShares } from '../../bounds/fixed-shares.js';
import type { Pop3Context } from './context.js';
import type { Maildrop, Message } from './maildrop.js';

/** Octets of a message that is read as a whole; a larger one is streamed. */
export const SMALL_OCTETS = 256 * 1024;
/** Octets and messages that are read at once. */
const GROUP_OCTETS = 512 * 1024;
const MOST_OF_GROUP = 256;
/** A group of a client that goes on is so many times as large as the one before. */
const GROWTH = 4;

/** Octets that sessions have read and not sent, by account. */
const readAhead = new FixedShares({ total: 64 * 1024 * 1024, share: 4 * 1024 * 1024 });
/** Readings of many messages that are under way, by account: the store has few connections, and accounts take turns. */
const readings = new FairSemaphore({ total: 4, share: 2 });

type Source = Pick<Pop3Context, 'messages' | 'blobs'>;

/** What is sent of a message: its octets, or a stream of them. */
export type MessageOctets = Uint8Array | AsyncIterable<Uint8Array>;

/** Messages that are read together, by number. */
interface Group {
  readonly last: number;
  readonly found: Promise<ReadonlyMap<number, Found>>;
  /** Of `readAhead`. */
  readonly octets: number;
  readonly count: number;
}

interface Found {
  readonly blob: string;
  readonly size: number;
  /** Of small messages. */
  readonly octets: Uint8Array | undefined;
}

export class MessageReader {
  readonly #source: Source;
  readonly #accountId: string;
  readonly #maildrop: Maildrop;
  #group: Group | undefined;
  #next: Group | undefined;
  /** The number that was read last. */
  #before = 0;
  /** Messages read of the group. */
  #read = 0;
  #wasUsed = false;

  constructor(source: Source, accountId: string, maildrop: Maildrop) {
    this.#source = source;
    this.#accountId = accountId;
    this.#maildrop = maildrop;
  }

  /** Undefined when the message has left the inbox meanwhile. @throws StoreFault */
  async read(message: Message): Promise<MessageOctets | undefined> {
    const { number } = message;
    this.#wasUsed = true;
    const found = (await this.#found(message)).get(number);
    this.#before = number;
    this.#readOn();
    if (found === undefined) return undefined;
    return found.octets ?? begun(this.#source.blobs.stream(found.blob, 0, found.size));
  }

  /** Drops what was read ahead when nothing was read since the last call. */
  sweep(): void {
    if (this.#wasUsed) this.#wasUsed = false;
    else this.drop();
  }

  drop(): void {
    this.#giveBack(this.#group);
    this.#giveBack(this.#next);
    this.#group = undefined;
    this.#next = undefined;
  }

  async #found(message: Message): Promise<ReadonlyMap<number, Found>> {
    try {
      return await this.#groupOf(message).found;
    } catch (error) {
      // The next command reads again.
      this.drop();
      throw error;
    }
  }

  #groupOf({ number }: Message): Group {
    if (this.#next !== undefined && number > (this.#group?.last ?? 0)) {
      this.#giveBack(this.#group);
      this.#group = this.#next;
      this.#next = undefined;
      this.#read = 0;
    }
    const group = this.#group;
    this.#read++;
    if (group !== undefined && number > this.#before && number <= group.last) return group;
    const isNext = group !== undefined && number > this.#before && number <= group.last + 1;
    const most = isNext ? group.count * GROWTH : 1;
    this.drop();
    this.#read = 1;
    this.#group = this.#load(number, most);
    return this.#group;
  }

  /** Begins to read the next group when half of this one was sent. */
  #readOn(): void {
    const group = this.#group;
    if (group === undefined || this.#next !== undefined || group.count === 1 || this.#read * 2 < group.count) return;
    if (group.last < this.#maildrop.highest) this.#next = this.#load(group.last + 1, group.count * GROWTH);
  }

  #load(first: number, most: number): Group {
    const messages: Message[] = [];
    let octets = 0;
    let last = first - 1;
    while (messages.length < Math.min(most, MOST_OF_GROUP) && last < this.#maildrop.highest) {
      const message = this.#maildrop.at(last + 1);
      const size = message !== undefined && isSmall(message) ? message.size : 0;
      if (messages.length > 0 && octets + size > GROUP_OCTETS) break;
      last++;
      if (message === undefined) continue;
      messages.push(message);
      octets += size;
    }
    const isAhead = messages.length > 1;
    if (isAhead && readAhead.tryTake(this.#accountId, octets) !== undefined) return this.#load(first, 1);
    const found = this.#find(messages);
    // Nobody awaits a group that is dropped.
    found.catch(() => {});
    return { last, found, octets: isAhead ? octets : 0, count: messages.length };
  }

  #find(messages: readonly Message[]): Promise<ReadonlyMap<number, Found>> {
    return readings.run(this.#accountId, async () => {
      const uids = messages.map(({ uid }) => uid);
      const needs = { header: false, index: false };
      const rows = await this.#source.messages.rows(this.#accountId, this.#maildrop.folderId, uids, needs);
      const small = rows.filter(isSmall).map(({ blob }) => blob);
      const octets = small.length === 0 ? undefined : await this.#source.blobs.readAll(small);
      const numbers = new Map(messages.map(({ uid, number }) => [uid, number]));
      return new Map(rows.map(({ uid, blob, size }) => [numbers.get(uid)!, { blob, size, octets: octets?.get(blob) }]));
    });
  }

  #giveBack(group: Group | undefined): void {
    if (group !== undefined) readAhead.give(this.#accountId, group.octets);
  }
}

function isSmall({ size }: { readonly size: number }): boolean {
  return size <= SMALL_OCTETS;
}

/** The stream with its first piece read: what cannot be read at all fails before anything of it is written. */
async function begun(source: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = source[Symbol.asyncIterator]();
  return goneOn(iterator, await iterator.next());
}

async function* goneOn(
  iterator: AsyncIterator<Uint8Array>,
  first: IteratorResult<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
