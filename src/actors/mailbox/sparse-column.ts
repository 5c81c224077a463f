// Columns over slots of which few may be set: pages are made when first written and dropped when nothing is set in them,
// so that a small folder in a large mailbox costs little.

/** Octets of a typed array beside its contents, about. */
export const ARRAY_OCTETS = 350;
const PAGE_BITS = 10;
const PAGE = 1 << PAGE_BITS;
const BIT_PAGE_BITS = 13;
const BIT_PAGE = 1 << BIT_PAGE_BITS;
const LOW = 2 ** 32;

/** Whole numbers below 2^53; 0 means not set. Numbers from 2^32 on take a second page. */
export class SparseColumn {
  readonly #pages: (Uint32Array | undefined)[] = [];
  /** How many are set in each page. */
  readonly #used: number[] = [];
  #made = 0;
  #high: SparseColumn | undefined;

  get octets(): number {
    return this.#pages.length * 16 + this.#made * (PAGE * 4 + ARRAY_OCTETS) + (this.#high?.octets ?? 0);
  }

  get(slot: number): number {
    const low = this.#pages[slot >>> PAGE_BITS]?.[slot & (PAGE - 1)] ?? 0;
    return this.#high === undefined ? low : this.#high.get(slot) * LOW + low;
  }

  set(slot: number, value: number): void {
    if (value >= LOW) this.#high ??= new SparseColumn();
    this.#high?.set(slot, Math.floor(value / LOW));
    const at = slot >>> PAGE_BITS;
    const low = value % LOW;
    let page = this.#pages[at];
    if (page === undefined) {
      if (low === 0) return;
      while (this.#pages.length <= at) {
        this.#pages.push(undefined);
        this.#used.push(0);
      }
      page = new Uint32Array(PAGE);
      this.#pages[at] = page;
      this.#made++;
    }
    const i = slot & (PAGE - 1);
    this.#used[at]! += Number(low !== 0) - Number(page[i] !== 0);
    page[i] = low;
    if (this.#used[at] !== 0) return;
    this.#pages[at] = undefined;
    this.#made--;
  }
}

/** A set of slots, a bit each. */
export class SparseBits {
  readonly #pages: (Uint8Array | undefined)[] = [];
  readonly #used: number[] = [];
  #made = 0;
  #count = 0;

  get octets(): number {
    return this.#pages.length * 16 + this.#made * (BIT_PAGE / 8 + ARRAY_OCTETS);
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
    while (this.#pages.length <= at) {
      this.#pages.push(undefined);
      this.#used.push(0);
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
