// Columns over slots of which few may be set: a page is created where enough slots are set, and dropped when none is. So a folder's memory
// depends on its own emails, even if they are spread over a large mailbox.

/** Approximate memory of a typed array apart from its contents. */
export const ARRAY_OCTETS = 220;
const PAGE_BITS = 10;
const PAGE = 1 << PAGE_BITS;
/** The most entries that a part of the column holds without a page: below this, a map takes less memory. */
const MOST_FEW = 80;
/** Approximate memory of a map entry. */
const FEW_OCTETS = 50;
/** Approximate memory of an empty column: objects and lists. */
const COLUMN_OCTETS = 350;
const BIT_PAGE_BITS = 13;
const BIT_PAGE = 1 << BIT_PAGE_BITS;
const LOW = 2 ** 32;

/** Returns a longer copy without spare capacity: lists that grow by `push` start with room for 17. */
function lengthened<T>(list: readonly T[], length: number, entry: T): T[] {
  const copy = new Array<T>(length).fill(entry);
  for (let i = 0; i < list.length; i++) copy[i] = list[i]!;
  return copy;
}

/** Whole numbers below 2^53; 0 means not set. Numbers from 2^32 on use a second column for the high part. */
export class SparseColumn {
  #pages: (Uint32Array | undefined)[] = [];
  /** Entries of parts that have no page. */
  readonly #few = new Map<number, number>();
  /** The number of entries in each part. */
  #used: number[] = [];
  #made = 0;
  #high: SparseColumn | undefined;

  get octets(): number {
    const pages = this.#pages.length * 16 + this.#made * (PAGE * 4 + ARRAY_OCTETS);
    return COLUMN_OCTETS + pages + this.#few.size * FEW_OCTETS + (this.#high?.octets ?? 0);
  }

  get(slot: number): number {
    const low = this.#low(slot);
    return this.#high === undefined ? low : this.#high.get(slot) * LOW + low;
  }

  set(slot: number, value: number): void {
    if (value >= LOW) this.#high ??= new SparseColumn();
    this.#high?.set(slot, Math.floor(value / LOW));
    const at = slot >>> PAGE_BITS;
    const low = value % LOW;
    const before = this.#low(slot);
    if (low === before) return;
    if (at >= this.#pages.length) {
      this.#pages = lengthened(this.#pages, at + 1, undefined);
      this.#used = lengthened(this.#used, at + 1, 0);
    }
    this.#used[at]! += Number(low !== 0) - Number(before !== 0);
    const page = this.#pages[at];
    if (page !== undefined) page[slot & (PAGE - 1)] = low;
    else if (low === 0) this.#few.delete(slot);
    else this.#few.set(slot, low);
    if (page === undefined && this.#used[at]! > MOST_FEW) this.#makePage(at);
    if (page === undefined || this.#used[at] !== 0) return;
    this.#pages[at] = undefined;
    this.#made--;
  }

  #low(slot: number): number {
    const at = slot >>> PAGE_BITS;
    const page = this.#pages[at];
    if (page !== undefined) return page[slot & (PAGE - 1)]!;
    return (this.#used[at] ?? 0) === 0 ? 0 : (this.#few.get(slot) ?? 0);
  }

  #makePage(at: number): void {
    const page = new Uint32Array(PAGE);
    const first = at << PAGE_BITS;
    for (let i = 0; i < PAGE; i++) {
      const value = this.#few.get(first + i);
      if (value === undefined) continue;
      page[i] = value;
      this.#few.delete(first + i);
    }
    this.#pages[at] = page;
    this.#made++;
  }
}

/** A set of slots, one bit each. */
export class SparseBits {
  #pages: (Uint8Array | undefined)[] = [];
  #used: number[] = [];
  #made = 0;
  #count = 0;

  get octets(): number {
    return COLUMN_OCTETS + this.#pages.length * 16 + this.#made * (BIT_PAGE / 8 + ARRAY_OCTETS);
  }

  get count(): number {
    return this.#count;
  }

  has(slot: number): boolean {
    const octet = this.#pages[slot >>> BIT_PAGE_BITS]?.[(slot & (BIT_PAGE - 1)) >>> 3];
    return octet !== undefined && (octet & (1 << (slot & 7))) !== 0;
  }

  set(slot: number, isSet: boolean): void {
    if (this.has(slot) === isSet) return;
    const at = slot >>> BIT_PAGE_BITS;
    if (at >= this.#pages.length) {
      this.#pages = lengthened(this.#pages, at + 1, undefined);
      this.#used = lengthened(this.#used, at + 1, 0);
    }
    let page = this.#pages[at];
    if (page === undefined) {
      page = new Uint8Array(BIT_PAGE / 8);
      this.#pages[at] = page;
      this.#made++;
    }
    page[(slot & (BIT_PAGE - 1)) >>> 3]! ^= 1 << (slot & 7);
    const by = isSet ? 1 : -1;
    this.#count += by;
    this.#used[at]! += by;
    if (this.#used[at] !== 0) return;
    this.#pages[at] = undefined;
    this.#made--;
  }
}
