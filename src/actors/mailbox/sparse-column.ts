// A column of unsigned numbers over slots of which few may be set: pages are made when first written, so that a small
// label in a large mailbox costs little. 0 means not set.

const PAGE = 1024;

export class SparseColumn {
  readonly #pages: (Uint32Array | undefined)[] = [];
  #made = 0;

  get octets(): number {
    return this.#made * PAGE * 4;
  }

  get(slot: number): number {
    return this.#pages[Math.floor(slot / PAGE)]?.[slot % PAGE] ?? 0;
  }

  set(slot: number, value: number): void {
    const at = Math.floor(slot / PAGE);
    let page = this.#pages[at];
    if (page === undefined) {
      if (value === 0) return;
      page = new Uint32Array(PAGE);
      this.#pages[at] = page;
      this.#made++;
    }
    page[slot % PAGE] = value;
  }
}
