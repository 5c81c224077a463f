// Things of accounts in the order of their last use, bounded in octets. Entries may grow while they are kept, so the bound is
// looked at after each growth, once a turn of the event loop. The entry that was used longest ago goes first, of the account that
// has more than half of all octets when there is one: so an account never takes the place of all others, and alone has all.
import { Holdings } from '../../../bounds/holdings.js';

export interface CacheEntry {
  readonly accountId: string;
  readonly key: string;
  readonly octets: number;
}

export class OctetCache<E extends CacheEntry> {
  readonly #maxOctets: number;
  /** By account, and of all: oldest first. */
  readonly #byAccount = new Map<string, Map<string, E>>();
  readonly #entries = new Set<E>();
  readonly #held = new Holdings();
  /** The last account that had more than half. */
  #large = '';
  #isDue = false;

  constructor(maxOctets: number) {
    this.#maxOctets = maxOctets;
  }

  get octets(): number {
    return this.#held.held;
  }

  octetsOf(accountId: string): number {
    return this.#held.heldBy(accountId);
  }

  get(accountId: string, key: string): E | undefined {
    const entry = this.#byAccount.get(accountId)?.get(key);
    if (entry !== undefined) this.#touch(entry);
    return entry;
  }

  /** In place of the entry with this key. */
  keep(entry: E): E {
    const before = this.#byAccount.get(entry.accountId)?.get(entry.key);
    if (before !== undefined) this.#drop(before);
    this.#touch(entry);
    this.#take(entry, entry.octets);
    return entry;
  }

  /** Of an entry that was dropped nothing is counted any more, whoever still reads it. */
  protected grown(entry: E, octets: number): void {
    if (this.#entries.has(entry)) this.#take(entry, octets);
  }

  /** What is kept of an entry that is dropped. */
  protected remainderOf(_entry: E): E | undefined {
    return undefined;
  }

  #touch(entry: E): void {
    const entries = this.#byAccount.get(entry.accountId) ?? new Map<string, E>();
    this.#byAccount.set(entry.accountId, entries);
    entries.delete(entry.key);
    entries.set(entry.key, entry);
    this.#entries.delete(entry);
    this.#entries.add(entry);
  }

  #drop(entry: E): void {
    this.#entries.delete(entry);
    const entries = this.#byAccount.get(entry.accountId)!;
    entries.delete(entry.key);
    if (entries.size === 0) this.#byAccount.delete(entry.accountId);
    this.#held.give(entry.accountId, entry.octets);
  }

  #take({ accountId }: E, octets: number): void {
    this.#held.take(accountId, octets);
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
      const [oldest] = isLarge ? this.#byAccount.get(this.#large)!.values() : this.#entries;
      this.#drop(oldest!);
      const remainder = this.remainderOf(oldest!);
      if (remainder !== undefined && remainder.octets < oldest!.octets) this.keep(remainder);
    }
  }
}
