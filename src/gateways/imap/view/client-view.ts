// A session's view of its folder. While no expunge waits to be sent, the UIDs that the client knows are the beginning of the
// mirror's own array, which all sessions share. While one waits, the view uses the previous array, which the mirror leaves
// unchanged, or a copy if new messages were sent after expunged ones.
import type { SequenceSet } from '../grammar/sequence-set.js';
import { expectedFlags, type FlagState, presentFlags } from './expected-flags.js';
import type { FlagChange } from './folder-mirror.js';
import type { FolderView, ViewUpdates } from './folder-view.js';
import { indexOfUid } from './mirror-columns.js';
import type { MirroredFolder } from './mirrored-folder.js';
import { positionsOf } from './named-positions.js';

type Expunged = ViewUpdates['expunged'];

/** Messages whose flags are sent at a time: they fit into one write. */
const MOST_FLAGGED = 5_000;
/** The position of an expunged message. */
const GONE = -1;
const NONE: readonly number[] = [];
const NOTHING: ViewUpdates = { expunged: [], exists: undefined, flagged: [] };

export class ClientView implements FolderView {
  readonly mirror: MirroredFolder;
  #uids: Uint32Array;
  #count: number;
  /** The highest UID that was sent to the client; it may be expunged by now. */
  #highest: number;
  /** UIDs of messages whose flags the client does not know; undefined when there are none. */
  #changed: Set<number> | undefined;
  /** Whether the last `takeUpdates` left flags for the next one because they were many. */
  #hasMoreFlags = false;
  /** The number of the next note in the mirror's journal. */
  #note: number;
  /** Changes up to this modseq are in `#changed`, or were sent. */
  #modseq: number;
  #sentModseq: number;
  #keywords: ReadonlySet<string>;
  #isClosed = false;

  /** Assumes that the client is now sent what the mirror holds. */
  constructor(mirror: MirroredFolder) {
    this.mirror = mirror;
    this.#uids = mirror.uids;
    this.#count = mirror.count;
    this.#highest = mirror.count === 0 ? 0 : mirror.uids[mirror.count - 1]!;
    this.#note = mirror.journal.end;
    this.#modseq = mirror.modseq;
    this.#sentModseq = mirror.modseq;
    this.#keywords = mirror.keywords;
  }

  get count(): number {
    return this.#count;
  }

  get uids(): Uint32Array {
    return this.#uids;
  }

  uidAt(position: number): number {
    return this.#uids[position]!;
  }

  uidsAt(positions: Uint32Array): Uint32Array {
    const { length } = positions;
    const first = positions[0] ?? 0;
    // Consecutive positions share the array, whose valid part never changes.
    if (length > 0 && positions[length - 1]! - first === length - 1) return this.#uids.subarray(first, first + length);
    // `map` of a typed array takes ten times as long.
    const uids = new Uint32Array(length);
    for (let i = 0; i < length; i++) uids[i] = this.#uids[positions[i]!]!;
    return uids;
  }

  presentAt(positions: Uint32Array): Uint32Array {
    return this.hasExpunged ? positions.filter((position) => this.indexAt(position) !== GONE) : positions;
  }

  changedAfter(modseq: number, positions: Uint32Array): Uint32Array {
    return positions.filter((position) => {
      const index = this.indexAt(position);
      return index !== GONE && this.mirror.modseqAt(index) > modseq;
    });
  }

  positionOf(uid: number): number {
    const position = indexOfUid(this.#uids, this.#count, uid);
    return position < this.#count && this.#uids[position] === uid ? position : -1;
  }

  indexAt(position: number): number {
    const uid = this.#uids[position]!;
    const { uids, count } = this.mirror;
    if (position < count && uids[position] === uid) return position;
    return this.#indexOf(uid);
  }

  resolve(set: SequenceSet, isUid: boolean, saved: readonly number[]): Uint32Array {
    return positionsOf(this.#uids, this.#count, set, isUid, saved);
  }

  get sentModseq(): number {
    return this.#sentModseq;
  }

  get hasExpunged(): boolean {
    return this.#present < this.#count;
  }

  takeUpdates(mayExpunge: boolean, maySendFlags = true): ViewUpdates {
    const { mirror } = this;
    this.#collect();
    const present = this.#present;
    const expungesWait = present < this.#count && !mayExpunge;
    if (!expungesWait && (maySendFlags || this.#changed === undefined)) this.#sentModseq = mirror.modseq;
    if (present === this.#count && present === mirror.count && this.#changed === undefined) {
      this.#uids = mirror.uids;
      return NOTHING;
    }
    const expunged = present < this.#count && mayExpunge ? this.#expunged() : [];
    const added = mirror.count - present;
    if (expungesWait) this.#append(mirror.uids.subarray(present, mirror.count));
    else {
      this.#uids = mirror.uids;
      this.#count = mirror.count;
    }
    if (added > 0) this.#highest = mirror.uids[mirror.count - 1]!;
    return { expunged, exists: added > 0 ? this.#count : undefined, flagged: maySendFlags ? this.#takeFlagged() : [] };
  }

  get hasPendingFlags(): boolean {
    return this.#hasMoreFlags && this.#changed !== undefined;
  }

  takeNewKeywords(): boolean {
    const { keywords } = this.mirror;
    if (keywords === this.#keywords) return false;
    const known = this.#keywords;
    const hasNew = [...keywords].some((name) => !known.has(name));
    if (hasNew) this.#keywords = keywords;
    return hasNew;
  }

  markFlagsSent(uids: ArrayLike<number>): void {
    this.#collect(uids);
    if (this.#changed === undefined) return;
    for (let i = 0; i < uids.length; i++) this.#changed.delete(uids[i]!);
    if (this.#changed.size === 0) this.#changed = undefined;
  }

  markFlagsUnknown(uids: ArrayLike<number>): void {
    for (let i = 0; i < uids.length; i++) this.#markChanged(uids[i]!);
  }

  expectFlags(uids: ArrayLike<number>, change: FlagChange): (isAlone: boolean) => void {
    this.#collect();
    const { mirror } = this;
    const expect = expectedFlags(change);
    const indexes = this.#indexesOf(uids);
    const expected: (FlagState | undefined)[] = [];
    for (let i = 0; i < uids.length; i++) {
      const isKnown = indexes[i] !== GONE && this.#changed?.has(uids[i]!) !== true;
      expected.push(isKnown ? expect(mirror, indexes[i]!) : undefined);
    }
    return (isAlone) => {
      if (isAlone) {
        // All notes since then are about this change, and the client still knows the flags that it knew before.
        this.#note = mirror.journal.end;
        this.#modseq = mirror.modseq;
      } else this.#settle(uids, expected);
    };
  }

  /** Marks the flags that are as expected as known to the client. */
  #settle(uids: ArrayLike<number>, expected: readonly (FlagState | undefined)[]): void {
    const present = presentFlags();
    const indexes = this.#indexesOf(uids);
    const sent: number[] = [];
    for (let i = 0; i < uids.length; i++) {
      if (indexes[i] !== GONE && expected[i] === present(this.mirror, indexes[i]!)) sent.push(uids[i]!);
    }
    this.markFlagsSent(sent);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.mirror.close();
  }

  /** The number of messages that the client knows and that still exist: UIDs rise, so higher ones are new. */
  get #present(): number {
    return this.mirror.indexOf(this.#highest + 1);
  }

  #indexOf(uid: number): number {
    const index = this.mirror.indexOf(uid);
    return index < this.mirror.count && this.mirror.uids[index] === uid ? index : GONE;
  }

  /** Returns indexes of messages in the mirror; fast for consecutive messages. */
  #indexesOf(uids: ArrayLike<number>): Int32Array {
    const { uids: there, count } = this.mirror;
    const indexes = new Int32Array(uids.length);
    let next = 0;
    for (let i = 0; i < uids.length; i++) {
      const index = next < count && there[next] === uids[i] ? next : this.#indexOf(uids[i]!);
      indexes[i] = index;
      if (index !== GONE) next = index + 1;
    }
    return indexes;
  }

  /** Returns the messages that the client knows and the mirror does not. */
  #expunged(): Expunged {
    const expunged: { seq: number; uid: number }[] = [];
    const known = this.#uids;
    const { uids } = this.mirror;
    for (let position = 0; position < this.#count; position++) {
      // Between two expunged messages, all messages have moved by the number of those expunged before them.
      let end = this.#count;
      while (position < end) {
        const middle = (position + end) >>> 1;
        if (uids[middle - expunged.length] === known[middle]) position = middle + 1;
        else end = middle;
      }
      if (position < this.#count) expunged.push({ seq: position + 1, uid: known[position]! });
    }
    return expunged;
  }

  #append(added: Uint32Array): void {
    if (added.length === 0) return;
    const uids = new Uint32Array(this.#count + added.length);
    uids.set(this.#uids.subarray(0, this.#count));
    uids.set(added, this.#count);
    this.#uids = uids;
    this.#count = uids.length;
  }

  /** Marks the messages that the client knows and that have changed. It may skip those of `sent`, where these ascend. */
  #collect(sent: ArrayLike<number> = NONE): void {
    const { journal, modseq } = this.mirror;
    if (this.#note === journal.end && this.#modseq === modseq) return;
    const highest = this.#highest;
    const notes = journal.reaches(this.#note)
      ? journal.notesFrom(this.#note)
      : [this.mirror.uidsChangedAfter(this.#modseq, this.#present)];
    for (const uids of notes) {
      let next = 0;
      for (let i = 0; i < uids.length; i++) {
        const uid = uids[i]!;
        while (next < sent.length && sent[next]! < uid) next++;
        if (uid <= highest && sent[next] !== uid) this.#markChanged(uid);
      }
    }
    this.#note = journal.end;
    this.#modseq = modseq;
  }

  #markChanged(uid: number): void {
    this.#changed ??= new Set();
    this.#changed.add(uid);
  }

  #takeFlagged(): number[] {
    const changed = this.#changed;
    if (changed === undefined) return [];
    this.#changed = undefined;
    const positions: number[] = [];
    for (const uid of changed) {
      const position = this.#indexOf(uid) === -1 ? -1 : this.positionOf(uid);
      if (position !== -1) positions.push(position);
    }
    positions.sort((a, b) => a - b);
    const later = positions.splice(MOST_FLAGGED);
    this.#hasMoreFlags = later.length > 0;
    for (const position of later) this.#markChanged(this.uidAt(position));
    return positions;
  }
}
