// UIDs that left a folder and the modseq at which they left, by ascending modseq: the answer to a client that resynchronizes (QRESYNC, RFC
// 7162). The number is bounded: a client whose state is older is told every UID that does not exist, which is always complete.
import { ARRAY_OCTETS } from './sparse-column.js';
import { grownCapacity, NO_NUMBERS, resized, WideColumn } from './wide-column.js';

/** The number of UIDs that are remembered for a folder with fewer emails. */
const LEAST_REMEMBERED = 20_000;

export interface ExpungedSince {
  /** Ascending. */
  readonly uids: Uint32Array;
  /** False when UIDs that were expunged after the modseq may be missing. */
  readonly isComplete: boolean;
}

export class ExpungedUids {
  #uids: Uint32Array = NO_NUMBERS;
  readonly #modseqs = new WideColumn();
  #count = 0;
  /** UIDs that were expunged at this modseq or before are unknown. */
  #floor: number;

  constructor(floor: number) {
    this.#floor = floor;
  }

  get octets(): number {
    return this.#uids.length * 4 + ARRAY_OCTETS + this.#modseqs.octets;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds UIDs of a folder that still holds `present` emails. */
  add(uids: Iterable<number>, modseq: number, present: number): void {
    const added = Uint32Array.from(uids);
    const end = this.#count + added.length;
    if (end > this.#uids.length) this.#resize(grownCapacity(this.#uids.length, end));
    const at = this.#after(modseq);
    this.#uids.copyWithin(at + added.length, at, this.#count);
    this.#modseqs.move(at + added.length, at, this.#count);
    this.#uids.set(added, at);
    for (let i = 0; i < added.length; i++) this.#modseqs.set(at + i, modseq);
    this.#count = end;
    const most = Math.max(LEAST_REMEMBERED, present);
    // Prunes to half, so that the cost per UID is small.
    if (end > most * 2) this.prune(this.#modseqs.get(end - most - 1));
  }

  /** Forgets the UIDs that were expunged at this modseq or before. */
  prune(modseq: number): void {
    if (modseq <= this.#floor) return;
    this.#floor = modseq;
    const gone = this.#after(modseq);
    if (gone === 0) return;
    this.#uids.copyWithin(0, gone, this.#count);
    this.#modseqs.move(0, gone, this.#count);
    this.#count -= gone;
    this.#resize(this.#count);
  }

  since(modseq: number): ExpungedSince {
    const uids = this.#uids.slice(this.#after(modseq), this.#count).sort();
    return { uids, isComplete: modseq >= this.#floor };
  }

  /** The number of UIDs that were expunged at this modseq or before. */
  #after(modseq: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#modseqs.get(middle) <= modseq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #resize(capacity: number): void {
    this.#uids = resized(this.#uids, capacity);
    this.#modseqs.resize(capacity);
  }
}
