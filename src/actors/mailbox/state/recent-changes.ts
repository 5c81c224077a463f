// Remembers the slots that changed last: questions about recent changes are answered without a scan of all emails. The number is bounded:
// older changes are dropped.
import { ARRAY_OCTETS } from './sparse-column.js';

/** The number of remembered changes: for more changes a scan of all emails is as fast. */
const KEPT = 64;

export class RecentChanges {
  readonly octets = KEPT * 12 + 2 * ARRAY_OCTETS;
  readonly #slots = new Uint32Array(KEPT);
  readonly #modseqs = new Float64Array(KEPT);
  #count = 0;
  /** Changes at this modseq or before may be missing. */
  #floor: number;

  constructor(floor: number) {
    this.#floor = floor;
  }

  add(slot: number, modseq: number): void {
    const at = this.#count++ % KEPT;
    if (this.#count > KEPT) this.#floor = Math.max(this.#floor, this.#modseqs[at]!);
    this.#slots[at] = slot;
    this.#modseqs[at] = modseq;
  }

  /** If there are more slots than fit, only the last ones are remembered. */
  addAll(slots: readonly number[], modseq: number): void {
    if (slots.length > KEPT) this.#floor = Math.max(this.#floor, modseq);
    for (let i = Math.max(0, slots.length - KEPT); i < slots.length; i++) this.add(slots[i]!, modseq);
  }

  /** Slots that changed after this modseq, possibly with duplicates; undefined when not all of them are known. */
  after(modseq: number): number[] | undefined {
    if (modseq < this.#floor) return undefined;
    const slots: number[] = [];
    for (let i = 0; i < Math.min(this.#count, KEPT); i++) if (this.#modseqs[i]! > modseq) slots.push(this.#slots[i]!);
    return slots;
  }
}
