// Things of accounts in the order of their last use, bounded in octets. Entries may grow while they are kept, so the bound is
// looked at after each growth, once a turn of the event loop. What was used longest ago goes first, measured against its worth, of
// the account that has more than half of all octets when there is one: so an account never takes the place of all others, and
// alone has all.
import { Holdings } from '../../../bounds/holdings.js';

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
  /** By account and key. */
  readonly #entries = new Map<string, Map<string, E>>();
  /** By worth. */
  readonly #queues = new Map<number, UseQueue<E>>();
  readonly #held = new Holdings();
  /** Octets that were ever taken: the time by which the age of an entry is measured. */
  #clock = 0;
  /** The last account that had more than half. */
  #large = '';
  #isDue = false;

  /** `dropped`: called with each entry for which there is no room. */
  constructor(maxOctets: number, dropped: (entry: E) => void = () => {}) {
    this.#maxOctets = maxOctets;
    this.#dropped = dropped;
  }

  get octets(): number {
    return this.#held.held;
  }

  octetsOf(accountId: string): number {
    return this.#held.heldBy(accountId);
  }

  get(accountId: string, key: string): E | undefined {
    const entry = this.#entries.get(accountId)?.get(key);
    if (entry !== undefined) this.#touch(entry);
    return entry;
  }

  /** In place of the entry with this key. */
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

  /** The entry is used. */
  used(entry: E): void {
    if (this.#has(entry)) this.#touch(entry);
  }

  /** Of an entry that was dropped nothing is counted any more, whoever still reads it. */
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
    this.#held.give(accountId, octets);
  }

  #take({ accountId }: E, octets: number): void {
    this.#held.take(accountId, octets);
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

  /** Of one account or of all. */
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

/** Entries with the time of their last use, oldest first: of all accounts, and of each. */
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
