// Where the rows of a list are, in px from its beginning: all rows have one height, and a row that begins a group has the header of the group
// above it. Headers are known for the part of the list that is loaded.

export interface RowSizes {
  readonly row: number;
  readonly header: number;
}

export class ListGeometry {
  readonly total: number;
  readonly #sizes: RowSizes;
  readonly #headers: readonly number[];

  /** `headers`: the indexes of the rows that have a header, ascending. */
  constructor(total: number, sizes: RowSizes, headers: readonly number[] = []) {
    this.total = total;
    this.#sizes = sizes;
    this.#headers = headers;
  }

  get height(): number {
    return this.total * this.#sizes.row + this.#headers.length * this.#sizes.header;
  }

  /** The upper edge of the row, below its header. */
  top(index: number): number {
    return index * this.#sizes.row + this.#headersUpTo(index) * this.#sizes.header;
  }

  /** The row at this height, or the one whose header is there. */
  indexAt(y: number): number {
    let low = 0;
    let high = Math.max(0, this.total - 1);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.top(middle) + this.#sizes.row <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The rows of which something is between the two heights: first, and the one after the last. */
  between(from: number, to: number): { readonly start: number; readonly end: number } {
    if (this.total === 0) return { start: 0, end: 0 };
    return { start: this.indexAt(from), end: Math.min(this.total, this.indexAt(to) + 1) };
  }

  #headersUpTo(index: number): number {
    let low = 0;
    let high = this.#headers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#headers[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A row that stays where it is, `offset` px below the upper edge of what is seen. */
export interface Anchor {
  readonly id: string;
  readonly offset: number;
}

/** What a list shows when it is drawn: the part that is loaded, and where its rows are. */
export interface Drawn {
  readonly start: number;
  readonly items: readonly { readonly id: string }[];
  readonly geometry: ListGeometry;
}

/** The rows that are loaded from this height on, each of which can be the anchor. */
export function anchorsAt({ start, items, geometry }: Drawn, scrollTop: number, height: number): Anchor[] {
  const { start: first, end } = geometry.between(scrollTop, scrollTop + height);
  const anchors: Anchor[] = [];
  for (let index = Math.max(first, start); index < Math.min(end, start + items.length); index++)
    anchors.push({ id: items[index - start]!.id, offset: geometry.top(index) - scrollTop });
  return anchors;
}

/** The height at which to look so that the first anchor that is still there stays; undefined when none is. */
export function heldAt({ start, items, geometry }: Drawn, anchors: readonly Anchor[]): number | undefined {
  for (const { id, offset } of anchors) {
    const index = items.findIndex((item) => item.id === id);
    if (index !== -1) return geometry.top(start + index) - offset;
  }
  return undefined;
}
