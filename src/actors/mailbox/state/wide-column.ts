// A growing column of whole numbers below 2^48: 4 bytes each while all numbers are below 2^32, then 6 bytes each. Small columns grow by
// half, large ones by a fixed number of places, so that little memory is reserved. All empty columns share one array, because most
// mailboxes have few emails.
import { ARRAY_OCTETS } from './sparse-column.js';

const LOW = 2 ** 32;
export const WIDE_LIMIT = 2 ** 48;
const LEAST_GROWTH = 4;
const MOST_GROWTH = 4_096;

/** The array of all empty columns. */
export const NO_NUMBERS = new Uint32Array(0);

/** The capacity of a column that must hold `size` places. */
export function grownCapacity(capacity: number, size: number): number {
  const growth = Math.min(MOST_GROWTH, Math.max(LEAST_GROWTH, capacity >>> 1));
  return Math.max(size, capacity + growth);
}

/** Returns a copy with another capacity; places that do not fit are dropped. */
export function resized<T extends Uint16Array | Uint32Array | Float64Array>(array: T, capacity: number): T {
  if (array.length === capacity) return array;
  const copy = new (array.constructor as new (length: number) => T)(capacity);
  copy.set(array.length <= capacity ? array : array.subarray(0, capacity));
  return copy;
}

export class WideColumn {
  #low: Uint32Array = NO_NUMBERS;
  #high: Uint16Array | undefined;

  get octets(): number {
    const low = this.#low.length * 4 + (this.#low === NO_NUMBERS ? 0 : ARRAY_OCTETS);
    return this.#high === undefined ? low : low + this.#high.length * 2 + ARRAY_OCTETS;
  }

  get(at: number): number {
    const low = this.#low[at]!;
    return this.#high === undefined ? low : this.#high[at]! * LOW + low;
  }

  /** @throws RangeError when the column cannot hold the number */
  set(at: number, value: number): void {
    this.#makeRoomFor(value);
    if (this.#high !== undefined) this.#high[at] = Math.floor(value / LOW);
    this.#low[at] = value;
  }

  /** Sets the same number in many places. @throws RangeError when the column cannot hold the number */
  setAll(places: readonly number[], value: number): void {
    this.#makeRoomFor(value);
    const low = this.#low;
    const high = this.#high;
    for (const at of places) low[at] = value;
    if (high !== undefined) for (const at of places) high[at] = Math.floor(value / LOW);
  }

  #makeRoomFor(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value >= WIDE_LIMIT)
      throw new RangeError(`${value} is not a whole number below 2^48`);
    if (value >= LOW) this.#high ??= new Uint16Array(this.#low.length);
  }

  resize(capacity: number): void {
    this.#low = resized(this.#low, capacity);
    if (this.#high !== undefined) this.#high = resized(this.#high, capacity);
  }

  /** Moves places like `copyWithin` of an array. */
  move(to: number, start: number, end: number): void {
    this.#low.copyWithin(to, start, end);
    this.#high?.copyWithin(to, start, end);
  }
}

/** Removes the entries at these ascending positions from the first `count` entries of an array. */
export function withdraw(array: Uint32Array, count: number, positions: Uint32Array): void {
  let to = positions[0]!;
  for (let i = 0; i < positions.length; i++) {
    const start = positions[i]! + 1;
    const end = positions[i + 1] ?? count;
    array.copyWithin(to, start, end);
    to += end - start;
  }
}
