// What a search knows about the selected folder without reading messages: columns by position in the view, copied when the search
// begins, so that a long search sees a single state.
import { DELETED_BIT } from '../../../actors/mailbox/protocol.js';
import { flagBit, isDeletedFlag } from '../../../mail-format/flags.js';
import type { FolderView } from '../view/folder-view.js';
import { PositionSet } from '../view/position-set.js';

const GONE = -1;

/** The columns that a search needs. */
export interface ColumnDemands {
  /** The bits of flags; see `bitOf`. */
  readonly bits: Iterable<number>;
  readonly keywords: ReadonlySet<string>;
  readonly hasModseq: boolean;
}

/** The bit of a flag in a mirror; 0 for a flag that is stored as a keyword. */
export const bitOf = (name: string): number => flagBit(name) || (isDeletedFlag(name) ? DELETED_BIT : 0);

export class SearchedFolder {
  readonly count: number;
  /** UIDs by position, valid up to `count`, where they never change. */
  readonly uids: Uint32Array;
  /** Messages that are not expunged. */
  readonly present: PositionSet;
  readonly #modseqs: Float64Array | undefined;
  readonly #keywords = new Map<string, PositionSet>();
  readonly #withBit = new Map<number, PositionSet>();

  constructor(view: FolderView, { bits, keywords, hasModseq }: ColumnDemands) {
    const { mirror, count } = view;
    this.count = count;
    this.uids = view.uids;
    this.#modseqs = hasModseq ? new Float64Array(count) : undefined;
    if (keywords.size > 0) this.#askFor(keywords, mirror.keywords);
    const isWhole = !view.hasExpunged;
    this.present = isWhole ? PositionSet.whole(count) : new PositionSet(count);
    for (const bit of bits) this.#withBit.set(bit, isWhole ? mirror.withBit(bit).below(count) : new PositionSet(count));
    if (isWhole && !hasModseq && this.#keywords.size === 0) return;
    for (let position = 0; position < count; position++) {
      const index = view.indexAt(position);
      if (index === GONE) continue;
      if (!isWhole) {
        this.present.add(position);
        const flags = mirror.bitsAt(index);
        for (const [bit, found] of this.#withBit) if ((flags & bit) !== 0) found.add(position);
      }
      if (this.#modseqs !== undefined) this.#modseqs[position] = mirror.modseqAt(index);
      if (this.#keywords.size === 0) continue;
      for (const name of mirror.keywordsAt(index)) this.#keywords.get(name.toLowerCase())?.add(position);
    }
  }

  /** Returns messages with a flag that was requested. */
  withFlag(name: string): PositionSet {
    const bit = bitOf(name);
    const found = bit === 0 ? this.#keywords.get(name.toLowerCase()) : this.#withBit.get(bit);
    return found ?? new PositionSet(this.count);
  }

  /** @throws Error when modseqs were not requested */
  modseqOf(position: number): number {
    if (this.#modseqs === undefined) throw new Error('the search has no modseqs');
    return this.#modseqs[position]!;
  }

  withUids(uids: Uint32Array): PositionSet {
    const found = new PositionSet(this.count);
    let position = 0;
    for (const uid of uids) {
      while (position < this.count && this.uids[position]! < uid) position++;
      if (position < this.count && this.uids[position] === uid) found.add(position);
    }
    return found;
  }

  /** Adds only names that a message of the folder has. */
  #askFor(names: ReadonlySet<string>, known: ReadonlySet<string>): void {
    const folded = new Set([...known].map((name) => name.toLowerCase()));
    for (const name of names) {
      const key = name.toLowerCase();
      if (folded.has(key)) this.#keywords.set(key, new PositionSet(this.count));
    }
  }
}
