// All emails of a mailbox by time, whatever their folders: the order in which search and export scan them. Created on first use, then
// extended with new emails. A returned array is never changed, so a scan may take breaks: new emails in order are written behind the
// returned arrays.
import type { EmailColumns } from './email-columns.js';
import { grownCapacity } from './wide-column.js';

export class TimeOrder {
  readonly #emails: EmailColumns;
  /** The first `#size` slots are in order; the rest is spare capacity. */
  #order: Uint32Array = new Uint32Array(0);
  #size = 0;

  constructor(emails: EmailColumns) {
    this.#emails = emails;
  }

  get octets(): number {
    return this.#order.length * 4;
  }

  /** Slots by ascending (receivedAt, slot), including dead ones. */
  get slots(): Uint32Array {
    const { size } = this.#emails;
    const before = this.#size;
    if (size > this.#order.length) this.#move(before === 0 ? size : grownCapacity(this.#order.length, size));
    for (let slot = before; slot < size; slot++) this.#order[slot] = slot;
    if (!this.#isSorted(this.#order.subarray(0, size), before)) this.#merge(before, size);
    this.#size = size;
    return this.#order.subarray(0, size);
  }

  /** Copies to a new array, because returned arrays must not change. */
  #move(capacity: number): void {
    const order = new Uint32Array(capacity);
    order.set(this.#order);
    this.#order = order;
  }

  /** Inserts the slots from `before` on into the others, which are in order. */
  #merge(before: number, size: number): void {
    const known = this.#order.subarray(0, before);
    const order = new Uint32Array(this.#order.length);
    let taken = 0;
    let at = 0;
    for (const slot of this.sorted(this.#order.slice(before, size))) {
      const earlier = this.before(known, this.#emails.receivedAt(slot), slot);
      order.set(known.subarray(taken, earlier), at);
      at += earlier - taken;
      order[at++] = slot;
      taken = earlier;
    }
    order.set(known.subarray(taken), at);
    this.#order = order;
  }

  /** Sorts slots in the same order, in place. */
  sorted(slots: Uint32Array): Uint32Array {
    const emails = this.#emails;
    if (this.#isSorted(slots, 0)) return slots;
    return slots.sort((a, b) => emails.receivedAt(a) - emails.receivedAt(b) || a - b);
  }

  /** The first `done` slots must be sorted. */
  #isSorted(slots: Uint32Array, done: number): boolean {
    const emails = this.#emails;
    for (let i = Math.max(1, done); i < slots.length; i++) {
      const [a, b] = [slots[i - 1]!, slots[i]!];
      const difference = emails.receivedAt(a) - emails.receivedAt(b);
      if (difference > 0 || (difference === 0 && a > b)) return false;
    }
    return true;
  }

  /** The number of `slots` that are before (time, slot). */
  before(slots: Uint32Array, time: number, slot = -1): number {
    let low = 0;
    let high = slots.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = slots[middle]!;
      const difference = this.#emails.receivedAt(at) - time;
      if (difference < 0 || (difference === 0 && at < slot)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
