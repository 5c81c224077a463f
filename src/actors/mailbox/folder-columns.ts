// What one folder holds, in memory: the UID of each email placed in it, and the order in which lists show them (newest
// `receivedAt` first). Counters are the folder row's, kept by the commits.
import type { FolderRow, PlacementColumns } from '../../store/mailboxes.js';
import { type EmailColumns, grown } from './email-columns.js';
import { SparseColumn } from './sparse-column.js';

/** Up to so many placements are put in one by one; sorting the folder again costs less beyond. */
const FEW = 64;

export class FolderColumns {
  row: FolderRow;
  readonly #emails: EmailColumns;
  readonly #uids = new SparseColumn();
  // Slots by ascending (receivedAt, slot).
  #order = new Uint32Array(16);
  #count = 0;

  constructor(row: FolderRow, emails: EmailColumns) {
    this.row = row;
    this.#emails = emails;
  }

  get count(): number {
    return this.#count;
  }

  get octets(): number {
    return this.#order.length * 4 + this.#uids.octets;
  }

  /** The email's UID here; 0 when it is not placed here. */
  uidOf(slot: number): number {
    return this.#uids.get(slot);
  }

  /** Appends a page of loaded placements; `sort` must follow the last one. */
  load(page: PlacementColumns): void {
    this.#reserve(this.#count + page.count);
    for (let i = 0; i < page.count; i++) {
      const slot = this.#emails.findOctets(page.emailIds, i * 16);
      if (slot < 0) continue;
      this.#uids.set(slot, page.uids[i]!);
      this.#order[this.#count++] = slot;
    }
  }

  sort(): void {
    const order = this.#order.subarray(0, this.#count);
    for (let i = 1; i < order.length; i++) {
      if (this.#precedes(order[i - 1]!, order[i]!)) continue;
      order.sort((a, b) => this.#emails.receivedAt(a) - this.#emails.receivedAt(b) || a - b);
      return;
    }
  }

  /** Slots by ascending (receivedAt, slot); valid until the next change. */
  slots(): Uint32Array {
    return this.#order.subarray(0, this.#count);
  }

  /** Places many at once. */
  placeAll(placements: readonly { readonly slot: number; readonly uid: number }[]): void {
    if (placements.length <= FEW) {
      for (const { slot, uid } of placements) this.place(slot, uid);
      return;
    }
    this.#reserve(this.#count + placements.length);
    for (const { slot, uid } of placements) {
      this.#uids.set(slot, uid);
      this.#order[this.#count++] = slot;
    }
    this.sort();
  }

  place(slot: number, uid: number): void {
    this.#uids.set(slot, uid);
    this.#reserve(this.#count + 1);
    let at = this.#count;
    if (at > 0 && !this.#precedes(this.#order[at - 1]!, slot)) at = this.#position(slot);
    this.#order.copyWithin(at + 1, at, this.#count);
    this.#order[at] = slot;
    this.#count++;
  }

  /** Takes many placements away in one pass. */
  unplace(slots: ReadonlySet<number>): void {
    for (const slot of slots) this.#uids.set(slot, 0);
    let kept = 0;
    for (let i = 0; i < this.#count; i++) {
      const slot = this.#order[i]!;
      if (!slots.has(slot)) this.#order[kept++] = slot;
    }
    this.#count = kept;
  }

  /** Slots of a page (1-based), newest first. */
  page(page: number, pageSize: number): number[] {
    const slots: number[] = [];
    for (let i = this.#count - 1 - (page - 1) * pageSize; i >= 0 && slots.length < pageSize; i--) {
      slots.push(this.#order[i]!);
    }
    return slots;
  }

  /** Slots received before a time (ms since the epoch), oldest first, at most `limit`. */
  before(time: number, limit: number): number[] {
    const slots: number[] = [];
    for (let i = 0; i < this.#count && slots.length < limit; i++) {
      const slot = this.#order[i]!;
      if (this.#emails.receivedAt(slot) >= time) break;
      slots.push(slot);
    }
    return slots;
  }

  #precedes(a: number, b: number): boolean {
    const difference = this.#emails.receivedAt(a) - this.#emails.receivedAt(b);
    return difference < 0 || (difference === 0 && a < b);
  }

  #position(slot: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#precedes(this.#order[middle]!, slot)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #reserve(size: number): void {
    if (size <= this.#order.length) return;
    this.#order = grown(new Uint32Array(Math.max(size, Math.ceil(this.#order.length * 1.5))), this.#order);
  }
}
