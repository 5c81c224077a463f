// The contents of one folder in memory: its emails in UID order (sequence numbers), the order in which lists show them (newest `receivedAt`
// first), `\Deleted`, and the UIDs that were expunged. Both orders share one array while they are equal, which is usual in the inbox.
// Commits update the counters of the folder row; this class counts how many of these emails have `\Deleted`, because lists hide them. A
// column is created when a value is first set: most folders of most mailboxes are empty.

import { DELETED_BIT } from '../../../mail-format/packed-columns.js';
import type { ExpungedPage, FolderRow, PlacementPage } from '../../../store/mailboxes.js';
import { DeletedMarks } from './deleted-marks.js';
import type { EmailColumns } from './email-columns.js';
import { type ExpungedSince, ExpungedUids } from './expunged-uids.js';
import { RecentChanges } from './recent-changes.js';
import { ARRAY_OCTETS, SparseColumn } from './sparse-column.js';
import { grownCapacity, NO_NUMBERS, resized, withdraw } from './wide-column.js';

/** Approximate memory of an empty folder: its row, name and ids. */
const FOLDER_OCTETS = 450;
/** The initial capacity for changed slots. */
const FEW = 16;
/** The capacity that is added when those are used up: if some emails have changed, mostly all have. */
const MANY = 20_000;

export interface SlotPlacement {
  readonly slot: number;
  readonly uid: number;
  readonly modseq: number;
}

/** Messages of a folder, UIDs ascending. */
export interface ChangedPage {
  readonly slots: Uint32Array;
  readonly uids: Uint32Array;
  /** Bits of mail/flags, and `DELETED_BIT`. */
  readonly flags: Uint16Array;
  readonly modseqs: Float64Array;
  /** The UID at which the next page begins; infinite when this is the last page. */
  readonly nextUid: number;
}

export class FolderColumns {
  row: FolderRow;
  readonly #emails: EmailColumns;
  #uids: SparseColumn | undefined;
  readonly #deleted: DeletedMarks;
  /** Modseqs of placements that changed later than their email. */
  #modseqs: SparseColumn | undefined;
  #highestModseq = 0;
  /** The recent changes of `#modseqs`; created on first use. */
  #recent: RecentChanges | undefined;
  #expunged: ExpungedUids | undefined;
  /** Used until the first UID is expunged: UIDs that were expunged at this modseq or before are unknown. */
  #expungedFloor = 0;
  #slots: Uint32Array = NO_NUMBERS;
  /** Slots by ascending (receivedAt, slot); undefined while `#slots` has the same order. */
  #byTime: Uint32Array | undefined;
  #count = 0;

  constructor(row: FolderRow, emails: EmailColumns) {
    this.row = row;
    this.#emails = emails;
    this.#deleted = new DeletedMarks(emails);
  }

  get count(): number {
    return this.#count;
  }

  get octets(): number {
    const arrays = Number(this.#slots.length > 0) + Number(this.#byTime !== undefined);
    const orders = arrays * (this.#slots.length * 4 + ARRAY_OCTETS);
    const columns = [this.#uids, this.#deleted, this.#modseqs, this.#recent, this.#expunged];
    return columns.reduce((sum, column) => sum + (column?.octets ?? 0), FOLDER_OCTETS + orders);
  }

  /** Appends a page of loaded placements; the UIDs are ascending and above all previous ones. */
  load(page: PlacementPage): void {
    const placements: SlotPlacement[] = [];
    this.#emails.eachSlot(page.emailIds, (slot, i) => {
      placements.push({ slot, uid: page.uids[i]!, modseq: page.modseqs[i]! });
      if (page.isDeleted[i] === 1) this.#deleted.set(slot, true);
    });
    this.placeAll(placements);
  }

  /** Loads UIDs that left the folder; the modseqs are ascending. */
  loadExpunged({ uids, modseqs, count }: ExpungedPage): void {
    for (let start = 0, end = 1; start < count; start = end++) {
      while (end < count && modseqs[end] === modseqs[start]) end++;
      this.#expungedUids().add(uids.subarray(start, end), modseqs[start]!, this.#count);
    }
  }

  /** Forgets UIDs that were expunged at this modseq or before. */
  pruneExpunged(modseq: number): void {
    if (this.#expunged !== undefined) this.#expunged.prune(modseq);
    else this.#expungedFloor = Math.max(this.#expungedFloor, modseq);
  }

  /** Releases reserved memory that is not in use. */
  trim(): void {
    this.#resize(this.#count);
  }

  /** The email's UID in this folder; 0 when it is not in the folder. */
  uidOf(slot: number): number {
    return this.#uids?.get(slot) ?? 0;
  }

  /** The slot of the email with this UID; -1 when there is none. */
  slotOfUid(uid: number): number {
    const index = this.indexOfUid(uid);
    return index < this.#count && this.uidAt(index) === uid ? this.#slots[index]! : -1;
  }

  /** Returns the UID at a 0-based position in UID order: a sequence number minus 1. */
  uidAt(index: number): number {
    return this.uidOf(this.#slots[index]!);
  }

  slotAt(index: number): number {
    return this.#slots[index]!;
  }

  /** The position of the first UID that is not below this one; `count` when there is none. */
  indexOfUid(uid: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.uidAt(middle) < uid) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether the email has `\Deleted` in this folder. */
  isDeleted(slot: number): boolean {
    return this.#deleted.has(slot);
  }

  /** The number of emails in this folder that have `\Deleted`. */
  get deletedCount(): number {
    return this.#deleted.count;
  }

  /** The number of unread emails in this folder that have `\Deleted`. */
  get deletedUnreadCount(): number {
    return this.#deleted.unread;
  }

  /** Whether lists of this folder show the email: they hide emails with `\Deleted`. */
  shows(slot: number): boolean {
    return this.uidOf(slot) !== 0 && !this.isDeleted(slot);
  }

  /** The row with counters that exclude emails with `\Deleted`. */
  get shownRow(): FolderRow {
    const { total, unread } = this.row;
    if (this.deletedCount === 0) return this.row;
    return { ...this.row, total: total - this.deletedCount, unread: unread - this.deletedUnreadCount };
  }

  /** Must be called before the emails get these flags. */
  reflag(slots: readonly number[], flags: number): void {
    this.#deleted.reflag(slots, flags);
  }

  /** The modseq of the last change of the email or of its placement here. */
  modseqOf(slot: number): number {
    const modseq = this.#emails.modseq(slot);
    return this.#modseqs === undefined ? modseq : Math.max(modseq, this.#modseqs.get(slot));
  }

  /** Slots by ascending (receivedAt, slot); valid until the next change. */
  slots(): Uint32Array {
    return (this.#byTime ?? this.#slots).subarray(0, this.#count);
  }

  /** Places emails that are not in the folder yet; their UIDs must be above all UIDs of the folder. */
  placeAll(placements: readonly SlotPlacement[]): void {
    if (placements.length === 0) return;
    const end = this.#count + placements.length;
    if (end > this.#slots.length) this.#resize(grownCapacity(this.#slots.length, end));
    let last = this.#count === 0 ? 0 : this.uidAt(this.#count - 1);
    this.#uids ??= new SparseColumn();
    const uids = this.#uids;
    for (const { slot, uid, modseq } of byUid(placements)) {
      if (uid <= last) throw new Error(`UID ${uid} is not above UID ${last}, which folder ${this.row.id} has given`);
      if (this.uidOf(slot) !== 0)
        throw new Error(`folder ${this.row.id} holds the email already, as UID ${this.uidOf(slot)}`);
      last = uid;
      uids.set(slot, uid);
      this.#keepModseq(slot, modseq);
      this.#slots[this.#count++] = slot;
    }
    this.#orderByTime(this.#count - placements.length);
  }

  /** Removes the emails that are in the folder, and remembers that their UIDs were expunged at this modseq. */
  unplaceAll(slots: Iterable<number>, modseq: number): void {
    const gone = [...new Set(slots)].filter((slot) => this.uidOf(slot) !== 0);
    if (gone.length === 0) return;
    const uids = gone.map((slot) => this.uidOf(slot));
    let next = 0;
    const atUids = Uint32Array.from(gone, (slot, i) => {
      // Mostly the removed emails are neighbours.
      const index = next < this.#count && this.#slots[next] === slot ? next : this.indexOfUid(uids[i]!);
      next = index + 1;
      return index;
    }).sort();
    if (this.#byTime !== undefined) {
      const byTime = this.#byTime;
      withdraw(byTime, this.#count, Uint32Array.from(gone, (slot) => this.#position(byTime, slot)).sort());
    }
    withdraw(this.#slots, this.#count, atUids);
    this.#count -= gone.length;
    for (const slot of gone) {
      this.#deleted.set(slot, false);
      this.#uids?.set(slot, 0);
      this.#modseqs?.set(slot, 0);
    }
    if (this.#byTime !== undefined && this.#agree(this.#byTime)) this.#byTime = undefined;
    if (this.#count * 2 < this.#slots.length) this.trim();
    this.#expungedUids().add(
      uids.sort((a, b) => a - b),
      modseq,
      this.#count,
    );
  }

  setDeleted(slot: number, isDeleted: boolean, modseq: number): void {
    this.#deleted.set(slot, isDeleted);
    this.#keepModseq(slot, modseq);
  }

  /** Messages that were added or changed after this modseq, from this UID on, at most `limit`. */
  changedAfter(modseq: number, fromUid: number, limit: number): ChangedPage {
    const recent = this.#recentAfter(modseq, fromUid);
    if (recent !== undefined) return this.#page(recent, limit);
    // One message more than the limit is searched: the next page begins with it.
    const emails = this.#emails;
    const own = this.#modseqs;
    const all = this.#slots;
    const end = this.#count;
    let slots = new Uint32Array(FEW);
    let count = 0;
    for (let i = this.indexOfUid(fromUid); i < end && count <= limit; i++) {
      const slot = all[i]!;
      if (emails.modseq(slot) <= modseq && (own === undefined || own.get(slot) <= modseq)) continue;
      if (count === slots.length) slots = resized(slots, count + Math.min(end - i, MANY));
      slots[count++] = slot;
    }
    return this.#page(slots.subarray(0, count), limit);
  }

  /** Returns the slots in UID order; undefined when not all changes are known. */
  #recentAfter(modseq: number, fromUid: number): Uint32Array | undefined {
    this.#recent ??= new RecentChanges(this.#highestModseq);
    const placements = this.#recent.after(modseq);
    const emails = placements && this.#emails.changedAfter(modseq);
    if (emails === undefined) return undefined;
    const from = Math.max(fromUid, 1);
    const here = new Set([...placements!, ...emails].filter((slot) => this.uidOf(slot) >= from));
    return Uint32Array.from(here).sort((a, b) => this.uidOf(a) - this.uidOf(b));
  }

  #page(changed: Uint32Array, limit: number): ChangedPage {
    const count = Math.min(changed.length, limit);
    const uids = new Uint32Array(count);
    const flags = new Uint16Array(count);
    const modseqs = new Float64Array(count);
    const emails = this.#emails;
    const own = this.#modseqs;
    const placed = this.#uids;
    const deleted = this.#deleted;
    for (let i = 0; i < count; i++) {
      const slot = changed[i]!;
      const modseq = emails.modseq(slot);
      uids[i] = placed!.get(slot);
      flags[i] = emails.flags(slot) | (deleted.has(slot) ? DELETED_BIT : 0);
      modseqs[i] = own === undefined ? modseq : Math.max(modseq, own.get(slot));
    }
    const nextUid = count < changed.length ? this.uidOf(changed[count]!) : Number.POSITIVE_INFINITY;
    return { slots: changed.subarray(0, count), uids, flags, modseqs, nextUid };
  }

  /** Octets of all messages in the folder, and of those with `\Deleted`. */
  sizes(): { readonly all: number; readonly deleted: number } {
    let all = 0;
    let deleted = 0;
    for (let i = 0; i < this.#count; i++) {
      const slot = this.#slots[i]!;
      const size = this.#emails.sizeOf(slot);
      all += size;
      if (this.isDeleted(slot)) deleted += size;
    }
    return { all, deleted };
  }

  /** UIDs that left the folder after this modseq. */
  expungedSince(modseq: number): ExpungedSince {
    return this.#expunged?.since(modseq) ?? { uids: NO_NUMBERS, isComplete: modseq >= this.#expungedFloor };
  }

  /** Skips the first `skipped` emails that lists show, and returns at most `limit` slots of the rest, in order of time. */
  shown(skipped: number, limit: number, isNewestFirst: boolean): number[] {
    const slots = this.slots();
    const isAllShown = this.deletedCount === 0;
    const found: number[] = [];
    let rest = isAllShown ? 0 : skipped;
    for (let i = isAllShown ? skipped : 0; i < slots.length && found.length < limit; i++) {
      const slot = slots[isNewestFirst ? slots.length - 1 - i : i]!;
      if (!isAllShown && this.isDeleted(slot)) continue;
      if (rest > 0) rest--;
      else found.push(slot);
    }
    return found;
  }

  /** Slots received before a time (ms since the epoch), oldest first, at most `limit`. */
  before(time: number, limit: number): number[] {
    const slots = this.slots();
    let count = 0;
    while (count < slots.length && count < limit && this.#emails.receivedAt(slots[count]!) < time) count++;
    return [...slots.subarray(0, count)];
  }

  #keepModseq(slot: number, modseq: number): void {
    if (modseq <= this.#emails.modseq(slot)) return;
    this.#modseqs ??= new SparseColumn();
    this.#modseqs.set(slot, modseq);
    this.#highestModseq = Math.max(this.#highestModseq, modseq);
    this.#recent?.add(slot, modseq);
  }

  #expungedUids(): ExpungedUids {
    this.#expunged ??= new ExpungedUids(this.#expungedFloor);
    return this.#expunged;
  }

  /** Sorts the emails from position `from` on, which were appended in UID order, into the order by time. */
  #orderByTime(from: number): void {
    const isInOrder = this.#byTime === undefined && this.#isInOrder(from);
    if (isInOrder) return;
    const byTime = this.#byTime ?? this.#slots.slice();
    this.#byTime = byTime;
    const added = this.#slots.slice(from, this.#count).sort((a, b) => this.#compare(a, b));
    // Merges from the end: new emails are usually the newest, and all emails before the oldest added one stay in place.
    let old = from - 1;
    let next = added.length - 1;
    for (let to = this.#count - 1; next >= 0; to--) {
      const isOld = old >= 0 && this.#compare(byTime[old]!, added[next]!) > 0;
      byTime[to] = isOld ? byTime[old--]! : added[next--]!;
    }
  }

  #isInOrder(from: number): boolean {
    for (let i = Math.max(1, from); i < this.#count; i++) {
      if (this.#compare(this.#slots[i - 1]!, this.#slots[i]!) > 0) return false;
    }
    return true;
  }

  #agree(byTime: Uint32Array): boolean {
    for (let i = 0; i < this.#count; i++) if (byTime[i] !== this.#slots[i]) return false;
    return true;
  }

  #compare(a: number, b: number): number {
    return this.#emails.receivedAt(a) - this.#emails.receivedAt(b) || a - b;
  }

  #position(byTime: Uint32Array, slot: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(byTime[middle]!, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #resize(capacity: number): void {
    this.#slots = resized(this.#slots, capacity);
    if (this.#byTime !== undefined) this.#byTime = resized(this.#byTime, capacity);
  }
}

function byUid(placements: readonly SlotPlacement[]): readonly SlotPlacement[] {
  const isSorted = placements.every(({ uid }, i) => i === 0 || placements[i - 1]!.uid < uid);
  return isSorted ? placements : [...placements].sort((a, b) => a.uid - b.uid);
}
