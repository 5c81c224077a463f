// A cache of entries of accounts, bounded in octets. Entries may grow while they are cached, so the bound is checked after growth,
// once per turn of the event loop. The entry with the longest time since its last use, relative to its worth, is dropped first. If
// one account has more than half of all octets, its entries are dropped first, so that no account displaces all others, while
// an account alone may use the whole cache. `lru-cache` has neither worths nor shares of accounts.
import { UsageByKey } from '../../../concurrency/usage-by-key.js';

export interface CacheEntry {
  readonly accountId: string;
  readonly key: string;
  readonly octets: number;
  /** An entry of worth 4 is kept without use four times as long as one of worth 1. */
  readonly worth: number;
}

export class OctetCache<E extends CacheEntry> {
  readonly #maxOctets: number;
  readonly #dropped: (entry: E) => void;
  /** Entries by account and key. */
  readonly #entries = new Map<string, Map<string, E>>();
  /** Queues by worth. */
  readonly #queues = new Map<number, UseQueue<E>>();
  readonly #usage = new UsageByKey();
  /** The number of octets that were ever added: the clock that measures the age of entries. */
  #clock = 0;
  /** The last account that had more than half of the octets. */
  #large = '';
  #isDue = false;

  /** `dropped` is called with each entry that is removed for lack of room. */
  constructor(maxOctets: number, dropped: (entry: E) => void = () => {}) {
    this.#maxOctets = maxOctets;
    this.#dropped = dropped;
  }

  get octets(): number {
    return this.#usage.used;
  }

  octetsOf(accountId: string): number {
    return this.#usage.usedBy(accountId);
  }

  get(accountId: string, key: string): E | undefined {
    const entry = this.#entries.get(accountId)?.get(key);
    if (entry !== undefined) this.#touch(entry);
    return entry;
  }

  /** Adds the entry and replaces one with the same key. */
  keep(entry: E): E {
    const { accountId, key, octets } = entry;
    const before = this.#entries.get(accountId)?.get(key);
    if (before !== undefined) this.#remove(before);
    const entries = this.#entries.get(accountId) ?? new Map<string, E>();
    this.#entries.set(accountId, entries);
    entries.set(key, entry);
    this.#touch(entry);
    this.#take(entry, octets);
    return entry;
  }

  /** Marks the entry as used. */
  used(entry: E): void {
    if (this.#has(entry)) this.#touch(entry);
  }

  /** Counts growth, unless the entry was dropped: a dropped entry is not counted, even if somebody still reads it. */
  grown(entry: E, octets: number): void {
    if (this.#has(entry)) this.#take(entry, octets);
  }

  #has(entry: E): boolean {
    return this.#entries.get(entry.accountId)?.get(entry.key) === entry;
  }

  #touch(entry: E): void {
    let queue = this.#queues.get(entry.worth);
    if (queue === undefined) {
      queue = new UseQueue();
      this.#queues.set(entry.worth, queue);
    }
    queue.remove(entry);
    queue.add(entry, this.#clock);
  }

  #remove(entry: E): void {
    const { accountId, key, octets, worth } = entry;
    this.#queues.get(worth)!.remove(entry);
    const entries = this.#entries.get(accountId)!;
    entries.delete(key);
    if (entries.size === 0) this.#entries.delete(accountId);
    this.#usage.add(accountId, -octets);
  }

  #take({ accountId }: E, octets: number): void {
    this.#usage.add(accountId, octets);
    this.#clock += octets;
    if (this.octetsOf(accountId) > this.#maxOctets / 2) this.#large = accountId;
    this.#makeRoomSoon();
  }

  #makeRoomSoon(): void {
    if (this.#isDue || this.octets <= this.#maxOctets) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#makeRoom();
    });
  }

  #makeRoom(): void {
    while (this.octets > this.#maxOctets) {
      const isLarge = this.octetsOf(this.#large) > this.#maxOctets / 2;
      const entry = this.#leastNeeded(isLarge ? this.#large : undefined);
      this.#remove(entry);
      this.#dropped(entry);
    }
  }

  /** Returns the entry to drop next, of one account or of all. */
  #leastNeeded(accountId: string | undefined): E {
    let found: E | undefined;
    let most = -1;
    for (const [worth, queue] of this.#queues) {
      const oldest = queue.oldest(accountId);
      if (oldest === undefined) continue;
      const age = (this.#clock - oldest[1]) / worth;
      if (age <= most) continue;
      found = oldest[0];
      most = age;
    }
    return found!;
  }
}

/** Entries with the time of their last use, oldest first, of all accounts and of each one. */
class UseQueue<E extends CacheEntry> {
  readonly #all = new Map<E, number>();
  readonly #byAccount = new Map<string, Map<E, number>>();

  add(entry: E, usedAt: number): void {
    this.#all.set(entry, usedAt);
    const own = this.#byAccount.get(entry.accountId) ?? new Map<E, number>();
    this.#byAccount.set(entry.accountId, own);
    own.set(entry, usedAt);
  }

  remove(entry: E): void {
    if (!this.#all.delete(entry)) return;
    const own = this.#byAccount.get(entry.accountId)!;
    own.delete(entry);
    if (own.size === 0) this.#byAccount.delete(entry.accountId);
  }

  oldest(accountId: string | undefined): [E, number] | undefined {
    const entries = accountId === undefined ? this.#all : this.#byAccount.get(accountId);
    return entries?.entries().next().value;
  }
}
