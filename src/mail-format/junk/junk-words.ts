// What an account has learnt: in how many of its junk and of its other messages each token occurs. The counts stand in a hash table of
// typed arrays, whose size is bounded; stored, an entry takes about four octets.
import { type Counts, readStored, writeStored } from './stored-words.js';
import { MOST_TOKENS } from './token-set.js';

/** Tokens that are kept. When there are more, those that occurred once are dropped, then those that occurred twice, and so on. */
export const MOST_WORDS = 60_000;
/** After a drop there is room for more. */
const KEPT_WORDS = 45_000;
/** All counts are halved beyond this number of messages of a kind: what is old counts less. */
const MOST_MESSAGES = 10_000;
const FEWEST_SLOTS = 1_024;
const MOST_COUNT = 0xffff;
/** In thousandths; before any mail has shown another one. */
const FIRST_CEILING = 600;

/** Memory that all look-ups use, one after the other. */
const homeKeys = new Uint32Array(MOST_TOKENS);

export class JunkWords implements Counts {
  /** Messages learnt. */
  junk = 0;
  ham = 0;
  /** About the highest score that other mail had before it was learnt, in thousandths; it falls slowly (junk-verdict.ts). */
  ceiling = FIRST_CEILING;
  /**
   * Two numbers a slot, beside each other, so that a look-up reads one place in memory: the token, 0 in a free slot, and its counts, of junk
   * in the upper 16 bits and of ham in the lower ones.
   */
  #slots: Uint32Array;
  #used = 0;

  constructor(slots = FEWEST_SLOTS) {
    this.#slots = new Uint32Array(slots * 2);
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
    return this.#slots.byteLength;
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
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = (token << 1) & mask; ; at = (at + 2) & mask) {
      const key = slots[at]!;
      if (key === token) return at;
      if (key === 0) return -1;
    }
  }

  /**
   * Writes the place of each token to `places`. At first all home slots are read: no such read waits for the one before, so the processor
   * fetches many of them from memory at the same time.
   */
  placesOf(tokens: Uint32Array, places: Int32Array): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const { length } = tokens;
    const keys = length <= homeKeys.length ? homeKeys : new Uint32Array(length);
    for (let i = 0; i < length; i++) keys[i] = slots[(tokens[i]! << 1) & mask]!;
    for (let i = 0; i < length; i++) {
      const token = tokens[i]!;
      const key = keys[i]!;
      if (key === token) places[i] = (token << 1) & mask;
      else places[i] = key === 0 ? -1 : this.placeOf(token);
    }
  }

  junkAt(place: number): number {
    return this.#slots[place + 1]! >>> 16;
  }

  hamAt(place: number): number {
    return this.#slots[place + 1]! & MOST_COUNT;
  }

  /** Tokens that occur, in ascending order. */
  known(): Uint32Array {
    return this.#slots.filter((key, at) => (at & 1) === 0 && key !== 0 && this.#slots[at + 1] !== 0).sort();
  }

  put(token: number, junk: number, ham: number): void {
    const at = this.#placeFor(token);
    this.#slots[at + 1] = countsOf(junk, ham);
  }

  #count(token: number, kind: 0 | 1, by: 1 | -1): void {
    const found = this.placeOf(token);
    if (found < 0 && by < 0) return;
    const at = found < 0 ? this.#placeFor(token) : found;
    const changed = (count: number) => Math.max(0, Math.min(MOST_COUNT, count + by));
    const [junk, ham] = [this.junkAt(at), this.hamAt(at)];
    this.#slots[at + 1] = kind === 0 ? countsOf(changed(junk), ham) : countsOf(junk, changed(ham));
  }

  #placeFor(token: number): number {
    const found = this.placeOf(token);
    if (found >= 0) return found;
    if ((this.#used + 1) * 3 > this.#slots.length) this.#resize(this.#slots.length, 0);
    return this.#take(token);
  }

  /** Takes the free slot for a token that has none, and returns its place. */
  #take(token: number): number {
    const mask = this.#slots.length - 1;
    let at = (token << 1) & mask;
    while (this.#slots[at] !== 0) at = (at + 2) & mask;
    this.#slots[at] = token;
    this.#used++;
    return at;
  }

  /** Keeps what occurred more often than `least` times. */
  #resize(slots: number, least: number): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(slots * 2);
    this.#used = 0;
    for (let i = 0; i < before.length; i += 2) {
      const [key, counts] = [before[i]!, before[i + 1]!];
      if (key === 0 || (counts >>> 16) + (counts & MOST_COUNT) <= least) continue;
      const at = this.#take(key);
      this.#slots[at + 1] = counts;
    }
  }

  #drop(): void {
    for (let least = 0; this.#used > KEPT_WORDS; least++) this.#resize(this.#slots.length / 2, least);
  }

  #halve(): void {
    this.junk >>= 1;
    this.ham >>= 1;
    for (let at = 0; at < this.#slots.length; at += 2)
      this.#slots[at + 1] = countsOf(this.junkAt(at) >> 1, this.hamAt(at) >> 1);
  }
}

const countsOf = (junk: number, ham: number): number => (junk << 16) | (ham & MOST_COUNT);

function slotsFor(size: number): number {
  let slots = FEWEST_SLOTS;
  while (size * 3 > slots * 2) slots *= 2;
  return slots;
}
