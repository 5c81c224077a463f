// Keywords of the messages of a folder, by position: each message has the number of its set of keywords, and each set is stored
// once. Without keywords the column takes no memory.

import type { ChangeOfKeywords } from './expected-flags.js';

const NONE: readonly string[] = [];
/** Memory of a set: its names and its entries in the tables. */
const SET_OCTETS = 200;
/** The least number of sets at which sets without a message are removed. */
const LEAST_TO_CLEAN = 128;

export class KeywordColumn {
  /** Numbers of sets; 0 is the empty set. Undefined while no message has keywords. */
  #numbers: Uint32Array | undefined;
  #sets: (readonly string[])[] = [NONE];
  #cleanAt = LEAST_TO_CLEAN;
  /** The last set of keywords, and its number. */
  #lastNames: readonly string[] | undefined;
  #lastNumber = 0;
  readonly #numberOf = new Map<string, number>([['', 0]]);
  /** All names of the sets; another object when names are added or removed. */
  names: ReadonlySet<string> = new Set();

  get octets(): number {
    return (this.#numbers?.byteLength ?? 0) + this.#sets.length * SET_OCTETS;
  }

  /** Whether no message has ever had keywords. */
  get isEmpty(): boolean {
    return this.#numbers === undefined;
  }

  /** Returns keywords in the order of their lower-case forms. */
  at(index: number): readonly string[] {
    return this.#sets[this.#numbers?.[index] ?? 0]!;
  }

  /** `capacity` is the number of entries that the column must have room for. */
  set(index: number, names: readonly string[], capacity: number): void {
    if (this.#numbers === undefined && names.length === 0) return;
    if (this.#numbers === undefined || this.#numbers.length < capacity) this.#resize(capacity);
    // Adjacent messages mostly have the same set.
    if (names !== this.#lastNames) {
      this.#lastNumber = this.#number(names);
      this.#lastNames = names;
    }
    this.#numbers![index] = this.#lastNumber;
  }

  /** Returns a function that changes the entry at an index and tells whether its set differs. `capacity` as in `set`. */
  changing(change: ChangeOfKeywords, capacity: number): (index: number) => boolean {
    let numbers = this.#numbers;
    if (numbers === undefined && change(NONE).length === 0) return () => false;
    if (numbers === undefined || numbers.length < capacity) {
      this.#resize(capacity);
      numbers = this.#numbers!;
    }
    const renumbered = new Map<number, number>();
    return (index) => {
      const before = numbers[index]!;
      let after = renumbered.get(before);
      if (after === undefined) {
        after = this.#numberOfChanged(this.#sets[before]!, change);
        renumbered.set(before, after);
      }
      numbers[index] = after;
      return after !== before;
    };
  }

  /** Unused sets are not removed while numbers change. */
  #numberOfChanged(names: readonly string[], change: ChangeOfKeywords): number {
    const cleanAt = this.#cleanAt;
    this.#cleanAt = Number.POSITIVE_INFINITY;
    const number = this.#number(change(names));
    this.#cleanAt = cleanAt;
    return number;
  }

  /** Keeps only the entries at these ascending positions. */
  keep(positions: Uint32Array): void {
    const old = this.#numbers;
    if (old === undefined) return;
    this.#numbers = new Uint32Array(positions.length);
    for (let to = 0; to < positions.length; to++) this.#numbers[to] = old[positions[to]!] ?? 0;
  }

  #resize(capacity: number): void {
    const numbers = new Uint32Array(capacity);
    if (this.#numbers !== undefined) numbers.set(this.#numbers);
    this.#numbers = numbers;
  }

  #number(names: readonly string[]): number {
    const sorted = [...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
    const key = sorted.join(' ');
    let number = this.#numberOf.get(key);
    if (number === undefined) {
      if (this.#sets.length >= this.#cleanAt) this.#forgetUnused();
      number = this.#sets.push(sorted) - 1;
      this.#numberOf.set(key, number);
      if (sorted.some((name) => !this.names.has(name))) this.names = new Set([...this.names, ...sorted]);
    }
    return number;
  }

  #forgetUnused(): void {
    const numbers = this.#numbers!;
    const sets = this.#sets;
    this.#cleanAt = Number.POSITIVE_INFINITY;
    this.#sets = [NONE];
    this.names = new Set();
    this.#lastNames = undefined;
    this.#numberOf.clear();
    this.#numberOf.set('', 0);
    const renumbered = new Map([...new Set(numbers)].map((number) => [number, this.#number(sets[number]!)]));
    for (let i = 0; i < numbers.length; i++) numbers[i] = renumbered.get(numbers[i]!)!;
    this.#cleanAt = Math.max(LEAST_TO_CLEAN, 2 * this.#sets.length);
  }
}
