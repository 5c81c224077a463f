// What a search knows of the selected folder without reading messages: columns by position in the view, copied when the search
// begins, so that the whole search sees one moment however long it takes.
import { DELETED_BIT } from '../../../actors/mailbox/packed-columns.js';
import { flagBit, isDeletedFlag } from '../../../mail/flags.js';
import type { FolderMirror } from '../view/folder-mirror.js';
import type { FolderView } from '../view/folder-view.js';
import { PositionSet } from './position-set.js';

const GONE = -1;

export class SearchedFolder {
  readonly count: number;
  /** By position. */
  readonly uids: Uint32Array;
  /** Messages that are not expunged. */
  readonly present: PositionSet;
  readonly #mirror: FolderMirror;
  /** With `DELETED_BIT`. */
  readonly #flags: Uint16Array;
  readonly #modseqs: Float64Array | undefined;
  readonly #keywords = new Map<string, PositionSet>();
  readonly #withFlag = new Map<number, PositionSet>();

  /** `keywords`: those that the search asks for. */
  constructor(view: FolderView, keywords: Iterable<string>, withModseqs: boolean) {
    const { mirror, count } = view;
    this.#mirror = mirror;
    this.count = count;
    // Where nothing is changed any more.
    this.uids = view.uids.subarray(0, count);
    this.present = new PositionSet(count);
    this.#flags = new Uint16Array(count);
    this.#modseqs = withModseqs ? new Float64Array(count) : undefined;
    const asked = this.#askedKeywords(keywords);
    if (!view.hasExpunged) {
      this.present.addRange(0, count);
      mirror.copyBits(this.#flags);
      if (!withModseqs && asked.size === 0) return;
    }
    for (let position = 0; position < count; position++) {
      const index = view.indexAt(position);
      if (index === GONE) continue;
      this.present.add(position);
      this.#flags[position] = mirror.bitsAt(index);
      if (this.#modseqs !== undefined) this.#modseqs[position] = mirror.modseqAt(index);
      if (asked.size > 0) for (const name of mirror.keywordsAt(index)) asked.get(name.toLowerCase())?.add(position);
    }
  }

  /** Whether the flag is one that a message may have without being asked for as a keyword. */
  static isKeyword(name: string): boolean {
    return flagBit(name) === 0 && !isDeletedFlag(name);
  }

  withFlag(name: string): PositionSet {
    const bit = isDeletedFlag(name) ? DELETED_BIT : flagBit(name);
    if (bit === 0) return this.#keywords.get(name.toLowerCase()) ?? new PositionSet(this.count);
    let found = this.#withFlag.get(bit);
    if (found === undefined) {
      found = PositionSet.withBit(this.#flags, bit);
      this.#withFlag.set(bit, found);
    }
    return found;
  }

  /** @throws Error when modseqs were not asked for */
  modseqOf(position: number): number {
    if (this.#modseqs === undefined) throw new Error('the search has no modseqs');
    return this.#modseqs[position]!;
  }

  withUids(uids: Uint32Array): PositionSet {
    const found = new PositionSet(this.count);
    let position = 0;
    for (const uid of uids) {
      while (position < this.count && this.uids[position]! < uid) position++;
      if (this.uids[position] === uid) found.add(position);
    }
    return found;
  }

  /** Only those that a message of the folder has. */
  #askedKeywords(names: Iterable<string>): ReadonlyMap<string, PositionSet> {
    const known = new Set([...this.#mirror.keywords].map((name) => name.toLowerCase()));
    for (const name of names) {
      const folded = name.toLowerCase();
      if (known.has(folded)) this.#keywords.set(folded, new PositionSet(this.count));
    }
    return this.#keywords;
  }
}
