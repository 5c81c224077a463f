// The messages of a folder as columns in UID order: 14 octets per message, plus keywords.
import { DELETED_BIT } from '../../../actors/mailbox/protocol.js';
import { type ChangeOfBits, type ChangeOfKeywords, KEPT_KEYWORDS } from './expected-flags.js';
import { KeywordColumn } from './keyword-column.js';
import type { ChangesPage } from './owner-changes.js';
import { PositionSet } from './position-set.js';

/** Returns the index of the first of `count` ascending UIDs that is not below this one; `count` when there is none. */
export function indexOfUid(uids: Uint32Array, count: number, uid: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (uids[middle]! < uid) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class MirrorColumns {
  /** Valid up to `count`, where it never changes: sessions keep using the array after messages were expunged. */
  uids = new Uint32Array(0);
  count = 0;
  #flags = new Uint16Array(0);
  #modseqs = new Float64Array(0);
  readonly #keywords = new KeywordColumn();
  /** Messages by bit; cleared when flags change. */
  readonly #withBit = new Map<number, PositionSet>();

  get octets(): number {
    let octets = this.uids.byteLength + this.#flags.byteLength + this.#modseqs.byteLength + this.#keywords.octets;
    for (const set of this.#withBit.values()) octets += set.octets;
    return octets;
  }

  /** The highest UID; 0 when there is none. */
  get lastUid(): number {
    return this.count === 0 ? 0 : this.uids[this.count - 1]!;
  }

  indexOf(uid: number): number {
    return indexOfUid(this.uids, this.count, uid);
  }

  flagsAt(index: number): number {
    return this.#flags[index]! & ~DELETED_BIT;
  }

  bitsAt(index: number): number {
    return this.#flags[index]!;
  }

  /** Returns the messages that have the bit, which is one of `bitsAt`. The result never changes. */
  withBit(bit: number): PositionSet {
    let set = this.#withBit.get(bit);
    if (set === undefined) {
      set = PositionSet.withBit(this.#flags.subarray(0, this.count), bit);
      this.#withBit.set(bit, set);
    }
    return set;
  }

  isDeletedAt(index: number): boolean {
    return (this.#flags[index]! & DELETED_BIT) !== 0;
  }

  modseqAt(index: number): number {
    return this.#modseqs[index]!;
  }

  /** Returns changed messages among the first `end`. */
  uidsChangedAfter(modseq: number, end: number): Uint32Array {
    const modseqs = this.#modseqs;
    const { uids } = this;
    const changed = new Uint32Array(end);
    let count = 0;
    for (let i = 0; i < end; i++) if (modseqs[i]! > modseq) changed[count++] = uids[i]!;
    return changed.subarray(0, count);
  }

  keywordsAt(index: number): readonly string[] {
    return this.#keywords.at(index);
  }

  get keywords(): ReadonlySet<string> {
    return this.#keywords.names;
  }

  /** Tells whether `other` has each message here whose UID is below `uidNext`. */
  isWithin(other: MirrorColumns, uidNext: number): boolean {
    const end = this.indexOf(uidNext);
    for (let i = 0, j = 0; i < end; i++) {
      const uid = this.uids[i]!;
      while (j < other.count && other.uids[j]! < uid) j++;
      if (j === other.count || other.uids[j] !== uid) return false;
    }
    return true;
  }

  /** Tells whether the page has an unknown message whose UID is not above the last one. That cannot be: UIDs rise. */
  isContradictedBy({ uids }: ChangesPage): boolean {
    const last = this.lastUid;
    const here = this.uids;
    let next = 0;
    for (let i = 0; i < uids.length; i++) {
      const uid = uids[i]!;
      if (uid > last) return false;
      if (here[next] !== uid) next = this.indexOf(uid);
      if (here[next++] !== uid) return true;
    }
    return false;
  }

  /**
   * Applies a page that does not contradict these columns, and returns the UIDs of the messages that existed here before and
   * have changed.
   */
  apply(page: ChangesPage): Uint32Array {
    this.#withBit.clear();
    const last = this.lastUid;
    const known = indexOfUid(page.uids, page.uids.length, last + 1);
    this.#reserve(this.count + page.uids.length - known);
    const hasKeywords = page.hasKeywords || !this.#keywords.isEmpty;
    // All of them exist here: the messages of a run are the same if the first and the last are.
    const start = known === 0 || hasKeywords ? this.count : this.indexOf(page.uids[0]!);
    const isRun = start < this.count && this.uids[start + known - 1] === page.uids[known - 1];
    if (isRun) {
      this.#flags.set(page.flags.subarray(0, known), start);
      this.#modseqs.set(page.modseqs.subarray(0, known), start);
    }
    let next = 0;
    for (let i = isRun ? known : 0; i < page.uids.length; i++) {
      const uid = page.uids[i]!;
      let index = this.count;
      if (uid <= last) {
        // Changed messages are mostly consecutive.
        index = this.uids[next] === uid ? next : this.indexOf(uid);
        next = index + 1;
      } else {
        this.uids[index] = uid;
        this.count++;
      }
      this.#flags[index] = page.flags[i]!;
      this.#modseqs[index] = page.modseqs[i]!;
      if (hasKeywords) this.#keywords.set(index, page.keywordsOf(uid), this.uids.length);
    }
    this.#remove(page.expunged);
    // Copied, because the journal keeps it for long, and a slice would keep the whole page.
    return page.uids.slice(0, known);
  }

  /** Returns the index of the first of these ascending UIDs if all exist here and no UID is missing between them; else -1. */
  #startOfRun(uids: ArrayLike<number>): number {
    const { length } = uids;
    if (length === 0 || uids[length - 1]! - uids[0]! !== length - 1) return -1;
    const start = this.indexOf(uids[0]!);
    const end = start + length;
    return end <= this.count && this.uids[start] === uids[0] && this.uids[end - 1] === uids[length - 1] ? start : -1;
  }

  /**
   * Changes those of the ascending `uids` that exist here, and returns the UIDs whose flags changed, possibly as a slice of a
   * larger array.
   */
  changeFlags(uids: ArrayLike<number>, change: ChangeOfBits, keywords: ChangeOfKeywords, modseq: number): Uint32Array {
    this.#withBit.clear();
    const areKept = keywords === KEPT_KEYWORDS;
    const start = areKept ? this.#startOfRun(uids) : -1;
    if (start >= 0 && this.#changeRun(start, start + uids.length, change)) {
      this.#modseqs.fill(modseq, start, start + uids.length);
      return this.uids.subarray(start, start + uids.length);
    }
    const { kept, added } = change;
    const rename = areKept ? undefined : this.#keywords.changing(keywords, this.uids.length);
    const changed = new Uint32Array(uids.length);
    let count = 0;
    let next = Math.max(start, 0);
    for (let i = 0; i < uids.length; i++) {
      const uid = uids[i]!;
      const index = next < this.count && this.uids[next] === uid ? next : this.indexOf(uid);
      if (index >= this.count || this.uids[index] !== uid) continue;
      next = index + 1;
      const bits = (this.#flags[index]! & kept) | added;
      const hasOthers = rename?.(index) === true;
      if (bits === this.#flags[index] && !hasOthers) continue;
      this.#flags[index] = bits;
      this.#modseqs[index] = modseq;
      changed[count++] = uid;
    }
    return changed.subarray(0, count);
  }

  /** Succeeds when all had the same bits and these change: mostly all messages of a folder change at once. */
  #changeRun(start: number, end: number, { kept, added }: ChangeOfBits): boolean {
    const flags = this.#flags;
    const before = flags[start]!;
    const bits = (before & kept) | added;
    if (bits === before) return false;
    for (let i = start; i < end; i++) if (flags[i] !== before) return false;
    flags.fill(bits, start, end);
    return true;
  }

  /** Reserves room for `count` messages and an eighth more, so that a message takes less than 16 octets. */
  #reserve(count: number): void {
    if (count <= this.uids.length) return;
    this.#resize(count + (this.count === 0 ? 0 : 8 + (count >>> 3)));
  }

  #resize(capacity: number): void {
    const { uids } = this;
    const flags = this.#flags;
    const modseqs = this.#modseqs;
    this.uids = new Uint32Array(capacity);
    this.uids.set(uids.subarray(0, this.count));
    this.#flags = new Uint16Array(capacity);
    this.#flags.set(flags.subarray(0, this.count));
    this.#modseqs = new Float64Array(capacity);
    this.#modseqs.set(modseqs.subarray(0, this.count));
  }

  #remove(expunged: Uint32Array): void {
    if (expunged.length === 0) return;
    const kept = this.#without(expunged);
    if (kept.length === this.count) return;
    const { uids } = this;
    const flags = this.#flags;
    const modseqs = this.#modseqs;
    this.uids = new Uint32Array(kept.length);
    this.#flags = new Uint16Array(kept.length);
    this.#modseqs = new Float64Array(kept.length);
    for (let to = 0; to < kept.length; to++) {
      const from = kept[to]!;
      this.uids[to] = uids[from]!;
      this.#flags[to] = flags[from]!;
      this.#modseqs[to] = modseqs[from]!;
    }
    this.#keywords.keep(kept);
    this.count = kept.length;
  }

  /** Returns the positions of all messages except these. */
  #without(expunged: Uint32Array): Uint32Array {
    const kept = new Uint32Array(this.count);
    let to = 0;
    let next = 0;
    for (let i = 0; i < this.count; i++) {
      const uid = this.uids[i]!;
      while (next < expunged.length && expunged[next]! < uid) next++;
      if (expunged[next] !== uid) kept[to++] = i;
    }
    return kept.subarray(0, to);
  }
}
