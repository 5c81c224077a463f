// All emails of a mailbox by time, whatever folders they are in: what search and export go through. Made when first asked
// for, then extended by what was added since; an array once given is never changed, so a pass over it may take breaks.
import type { EmailColumns } from './email-columns.js';

export class TimeOrder {
  readonly #emails: EmailColumns;
  #order: Uint32Array = new Uint32Array(0);

  constructor(emails: EmailColumns) {
    this.#emails = emails;
  }

  get octets(): number {
    return this.#order.length * 4;
  }

  /** Slots by ascending (receivedAt, slot), dead ones included. */
  get slots(): Uint32Array {
    const emails = this.#emails;
    const before = this.#order.length;
    if (before === emails.size) return this.#order;
    const order = new Uint32Array(emails.size);
    order.set(this.#order);
    for (let slot = before; slot < order.length; slot++) order[slot] = slot;
    this.#order = this.sorted(order, before);
    return order;
  }

  /** Sorts slots the same way, in place; the first `done` of them are in order already. */
  sorted(slots: Uint32Array, done = 0): Uint32Array {
    const emails = this.#emails;
    for (let i = Math.max(1, done); i < slots.length; i++) {
      const [a, b] = [slots[i - 1]!, slots[i]!];
      const difference = emails.receivedAt(a) - emails.receivedAt(b);
      if (difference < 0 || (difference === 0 && a < b)) continue;
      return slots.sort((c, d) => emails.receivedAt(c) - emails.receivedAt(d) || c - d);
    }
    return slots;
  }

  /** How many of `slots` come before (time, slot). */
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
