// What an account has learnt: in how many of its junk and of its other messages each token occurs. The counts stand in a hash table of
// typed arrays, whose size is bounded; stored, an entry takes about four octets.
import { type Counts, readStored, writeStored } from './stored-words.js';

/** Tokens that are kept. When there are more, those that occurred once are dropped, then those that occurred twice, and so on. */
export const MOST_WORDS = 60_000;
/** After a drop there is room for more. */
const KEPT_WORDS = 45_000;
/** All counts are halved beyond this number of messages of a kind: what is old counts less. */
const MOST_MESSAGES = 10_000;
const FEWEST_SLOTS = 1_024;
/** In thousandths; before any mail has shown another one. */
const FIRST_CEILING = 600;

export class JunkWords implements Counts {
  /** Messages learnt. */
  junk = 0;
  ham = 0;
  /** About the highest score that other mail had before it was learnt, in thousandths; it falls slowly (junk-verdict.ts). */
  ceiling = FIRST_CEILING;
  #keys: Uint32Array;
  /** Two counts for a key: of junk, of ham. */
  #counts: Uint16Array;
  #used = 0;

  constructor(slots = FEWEST_SLOTS) {
    this.#keys = new Uint32Array(slots);
    this.#counts = new Uint16Array(slots * 2);
  }

  /** @throws RangeError when the octets are no stored words */
  static from(octets: Uint8Array): JunkWords {
    return readStored(octets, (size) => new JunkWords(slotsFor(size)));
  }

  stored(): Uint8Array {
    return writeStored(this);
  }

  /** Memory, in octets. */
  get octets(): number {
    return this.#keys.byteLength + this.#counts.byteLength;
  }

  learn(tokens: Uint32Array, isJunk: boolean): void {
    if (isJunk) this.junk++;
    else this.ham++;
    for (const token of tokens) this.#count(token, isJunk ? 0 : 1, 1);
    if (this.#used > MOST_WORDS) this.#drop();
    if (this.junk > MOST_MESSAGES || this.ham > MOST_MESSAGES) this.#halve();
  }

  /** Undoes `learn`. Tokens that were dropped in between do not count. */
  unlearn(tokens: Uint32Array, isJunk: boolean): void {
    if (isJunk) this.junk = Math.max(0, this.junk - 1);
    else this.ham = Math.max(0, this.ham - 1);
    for (const token of tokens) this.#count(token, isJunk ? 0 : 1, -1);
  }

  /** The place of a token, to be passed to `junkAt` and `hamAt`; -1 when it is unknown. */
  placeOf(token: number): number {
    const mask = this.#keys.length - 1;
    for (let at = token & mask; ; at = (at + 1) & mask) {
      const key = this.#keys[at]!;
      if (key === token) return at;
      if (key === 0) return -1;
    }
  }

  junkAt(place: number): number {
    return this.#counts[place * 2]!;
  }

  hamAt(place: number): number {
    return this.#counts[place * 2 + 1]!;
  }

  /** Tokens that occur, in ascending order. */
  known(): Uint32Array {
    return this.#keys.filter((key, at) => key !== 0 && this.#occurs(at)).sort();
  }

  put(token: number, junk: number, ham: number): void {
    const at = this.#placeFor(token);
    this.#counts[at * 2] = junk;
    this.#counts[at * 2 + 1] = ham;
  }

  #count(token: number, kind: 0 | 1, by: 1 | -1): void {
    const found = this.placeOf(token);
    if (found < 0 && by < 0) return;
    const at = (found < 0 ? this.#placeFor(token) : found) * 2 + kind;
    this.#counts[at] = Math.max(0, Math.min(0xffff, this.#counts[at]! + by));
  }

  #placeFor(token: number): number {
    const found = this.placeOf(token);
    if (found >= 0) return found;
    if ((this.#used + 1) * 3 > this.#keys.length * 2) this.#resize(this.#keys.length * 2, 0);
    const mask = this.#keys.length - 1;
    let at = token & mask;
    while (this.#keys[at] !== 0) at = (at + 1) & mask;
    this.#keys[at] = token;
    this.#used++;
    return at;
  }

  #occurs(at: number): boolean {
    return this.#counts[at * 2]! + this.#counts[at * 2 + 1]! > 0;
  }

  /** Keeps what occurred more often than `least` times. */
  #resize(slots: number, least: number): void {
    const keys = this.#keys;
    const counts = this.#counts;
    this.#keys = new Uint32Array(slots);
    this.#counts = new Uint16Array(slots * 2);
    this.#used = 0;
    const mask = slots - 1;
    for (let i = 0; i < keys.length; i++) {
      const [key, junk, ham] = [keys[i]!, counts[i * 2]!, counts[i * 2 + 1]!];
      if (key === 0 || junk + ham <= least) continue;
      let at = key & mask;
      while (this.#keys[at] !== 0) at = (at + 1) & mask;
      this.#keys[at] = key;
      this.#counts[at * 2] = junk;
      this.#counts[at * 2 + 1] = ham;
      this.#used++;
    }
  }

  #drop(): void {
    for (let least = 0; this.#used > KEPT_WORDS; least++) this.#resize(this.#keys.length, least);
  }

  #halve(): void {
    this.junk >>= 1;
    this.ham >>= 1;
    for (let i = 0; i < this.#counts.length; i++) this.#counts[i]! >>= 1;
  }
}

function slotsFor(size: number): number {
  let slots = FEWEST_SLOTS;
  while (size * 3 > slots * 2) slots *= 2;
  return slots;
}
