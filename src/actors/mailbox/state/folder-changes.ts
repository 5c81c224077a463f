// The folders of a transaction: their rows and their emails as if the batch so far were committed. Only this file updates counters: an
// email that is added, removed or read changes `total` and `unread` of the folders that hold it, and every change in a folder raises its
// `highestModseq`.
import type { FolderCounters, FolderDefinition, FolderRow, SystemRole } from '../../../store/mailbox-rows.js';
import { ActorFault } from '../../runtime/errors.js';
import type { FolderColumns } from './folder-columns.js';
import { grouped } from './grouped.js';
import type { MailboxState } from './state.js';

const NONE: ReadonlyMap<number, number> = new Map();

/** UIDNEXT is above it and also has 32 bits (RFC 9051 §9). */
const LAST_UID = 2 ** 32 - 2;

type Mutable = { -readonly [K in keyof FolderRow]: FolderRow[K] };

/** A folder that may hold emails; `uids` as in ChangedFolder, when the batch has changed the folder. */
interface Holder {
  readonly id: string;
  readonly columns: FolderColumns | undefined;
  readonly uids: ReadonlyMap<number, number> | undefined;
}

interface ChangedFolder {
  row: Mutable;
  /** Undefined for a folder that the batch created. */
  readonly columns: FolderColumns | undefined;
  /** UIDs that differ from the columns; 0 for an email that the batch removed from the folder. */
  readonly uids: Map<number, number>;
  /** The modseqs of placements that the batch has changed. */
  readonly modseqs: Map<number, number>;
  /** `\Deleted` of placements, when the batch has set it or has placed the email. */
  readonly deleted: Map<number, boolean>;
  /** The number of unread emails that have `\Deleted`. */
  deletedUnread: number;
  /** True when emails of the folder may have `\Deleted`. */
  isMarked: boolean;
}

export class FolderChanges {
  readonly #state: MailboxState;
  readonly #changed = new Map<string, ChangedFolder>();
  readonly #deleted = new Set<string>();
  /** Created on first use; dropped when the batch changes, creates or deletes another folder. */
  #knownHolders: readonly Holder[] | undefined;

  constructor(state: MailboxState) {
    this.#state = state;
  }

  row(id: string): FolderRow | undefined {
    if (this.#deleted.has(id)) return undefined;
    return (this.#changed.get(id) ?? this.#state.folders.get(id))?.row;
  }

  rowOf(role: SystemRole): FolderRow {
    return this.row(this.#state.folderOf(role).row.id)!;
  }

  label(id: string): FolderRow | undefined {
    const row = this.row(id);
    return row?.role === 'label' ? row : undefined;
  }

  rows(): FolderRow[] {
    return [...this.#ids()].map((id) => this.row(id)!);
  }

  /** The email's UID in the folder; 0 when it is not placed there. */
  uid(folderId: string, slot: number): number {
    if (this.#deleted.has(folderId)) return 0;
    const changed = this.#changed.get(folderId)?.uids.get(slot);
    return changed ?? this.#state.folders.get(folderId)?.uidOf(slot) ?? 0;
  }

  /** Returns the slots whose UIDs in the folder lie within the ranges, ordered by UID. */
  slotsOfUids(folderId: string, ranges: readonly (readonly [first: number, last: number])[]): number[] {
    const columns = this.#deleted.has(folderId) ? undefined : this.#state.folders.get(folderId);
    const changed = this.#changed.get(folderId)?.uids ?? NONE;
    const placed = [...changed].filter(([, uid]) => uid !== 0).sort(([, a], [, b]) => a - b);
    let next = 0;
    const slots: number[] = [];
    for (const [first, last] of joined(ranges)) {
      const start = columns?.indexOfUid(first) ?? 0;
      const end = columns?.indexOfUid(last + 1) ?? 0;
      if (changed.size === 0) {
        // Grow the array once: growth by `push` would copy the slots many times.
        let to = slots.length;
        slots.length += Math.max(0, end - start);
        for (let i = start; i < end; i++) slots[to++] = columns!.slotAt(i);
      } else {
        for (let i = start; i < end; i++) {
          const slot = columns!.slotAt(i);
          if (!changed.has(slot)) slots.push(slot);
        }
      }
      // The batch assigns UIDs above all that existed.
      while (next < placed.length && placed[next]![1] < first) next++;
      for (; next < placed.length && placed[next]![1] <= last; next++) slots.push(placed[next]![0]);
    }
    return slots;
  }

  /** The modseq of the placement's last change in this batch; otherwise that of the last change of the placement or the email. */
  modseq(folderId: string, slot: number): number {
    const changed = this.#changed.get(folderId)?.modseqs.get(slot);
    return changed ?? this.#state.folders.get(folderId)?.modseqOf(slot) ?? 0;
  }

  isDeleted(folderId: string, slot: number): boolean {
    if (this.uid(folderId, slot) === 0) return false;
    const changed = this.#changed.get(folderId)?.deleted.get(slot);
    return changed ?? this.#state.folders.get(folderId)?.isDeleted(slot) ?? false;
  }

  /** The number of unread emails that lists show. */
  shownUnread(id: string): number {
    const changed = this.#changed.get(id);
    if (changed !== undefined) return changed.row.unread - changed.deletedUnread;
    return this.#state.folders.get(id)!.shownRow.unread;
  }

  /** Whether a folder other than this one holds the email without `\Deleted`. */
  isKeptElsewhere(slot: number, id: string): boolean {
    return this.holding(slot).some((holder) => holder !== id && !this.isDeleted(holder, slot));
  }

  /** Whether a folder shows the email: at least one placement has no `\Deleted`. */
  isShown(slot: number, markedIds = this.#markedIds()): boolean {
    if (!markedIds.some((id) => this.isDeleted(id, slot))) return true;
    return this.holding(slot).some((id) => !this.isDeleted(id, slot));
  }

  /** Splits slots, keeping their order, into emails that folders show and other emails. */
  apart(slots: readonly number[]): { readonly shown: readonly number[]; readonly hidden: readonly number[] } {
    const markedIds = this.#markedIds();
    if (markedIds.length === 0) return { shown: slots, hidden: [] };
    const groups = grouped(slots, (slot) => this.isShown(slot, markedIds));
    return { shown: groups.get(true) ?? [], hidden: groups.get(false) ?? [] };
  }

  /** Ids of the folders that hold the email. */
  holding(slot: number): string[] {
    const ids: string[] = [];
    for (const { id, columns, uids } of this.#holders()) {
      if ((uids?.get(slot) ?? columns?.uidOf(slot) ?? 0) !== 0) ids.push(id);
    }
    return ids;
  }

  /** @throws ActorFault when the folder has no UID left: the command fails and nothing of it is committed */
  place(folderId: string, slot: number, uid: number, isUnread: boolean, modseq: number): void {
    if (uid > LAST_UID) throw new ActorFault('no-uid-left', `folder ${folderId} has no UID left`);
    const folder = this.#touch(folderId, modseq);
    folder.row.uidNext = Math.max(folder.row.uidNext, uid + 1);
    folder.row.total++;
    if (isUnread) folder.row.unread++;
    folder.uids.set(slot, uid);
    folder.deleted.set(slot, false);
    folder.modseqs.set(slot, modseq);
  }

  unplace(folderId: string, slot: number, isUnread: boolean, modseq: number): void {
    // A placement that ended twice would be counted twice.
    if (this.uid(folderId, slot) === 0) throw new Error(`folder ${folderId} does not hold the email in slot ${slot}`);
    const folder = this.#touch(folderId, modseq);
    folder.row.total--;
    if (isUnread) folder.row.unread--;
    if (isUnread && folder.isMarked && this.isDeleted(folderId, slot)) folder.deletedUnread--;
    folder.uids.set(slot, 0);
  }

  /** Counts emails whose flags change; `unread`: 1 when each became unread, -1 when each was read, 0 otherwise. */
  reflag(slots: readonly number[], unread: number, modseq: number): void {
    for (const { id, columns, uids } of this.#holders()) {
      let held = 0;
      for (const slot of slots) {
        if ((uids?.get(slot) ?? columns?.uidOf(slot) ?? 0) === 0) continue;
        held++;
        // Only the counter of unread emails needs the number.
        if (unread === 0) break;
      }
      if (held === 0) continue;
      const folder = this.#touch(id, modseq);
      folder.row.unread += unread * held;
      if (unread === 0 || !folder.isMarked) continue;
      for (const slot of slots) if (this.isDeleted(id, slot)) folder.deletedUnread += unread;
    }
  }

  setDeleted(folderId: string, slot: number, isDeleted: boolean, isUnread: boolean, modseq: number): void {
    const folder = this.#touch(folderId, modseq);
    if (isUnread && this.isDeleted(folderId, slot) !== isDeleted) folder.deletedUnread += isDeleted ? 1 : -1;
    folder.isMarked ||= isDeleted;
    folder.deleted.set(slot, isDeleted);
    folder.modseqs.set(slot, modseq);
  }

  create(folder: FolderDefinition, modseq: number): void {
    this.#knownHolders = undefined;
    const row = { ...folder, uidNext: 1, total: 0, unread: 0, highestModseq: modseq };
    this.#changed.set(folder.id, unchanged(row, undefined));
  }

  change(folder: FolderDefinition, modseq: number): void {
    const changed = this.#touch(folder.id, modseq);
    changed.row = { ...changed.row, ...folder };
  }

  /** Deletes a folder with its placements. */
  delete(id: string): void {
    this.#knownHolders = undefined;
    this.#changed.delete(id);
    this.#deleted.add(id);
  }

  /** Slots of the emails that are in this folder and in no other. */
  onlyIn(id: string): number[] {
    return this.#slots(id).filter((slot) => this.holding(slot).length === 1);
  }

  /** Slots of the emails that are in this folder and that no other folder holds without `\Deleted`. `size`: above all slots. */
  keptOnlyIn(id: string, size: number): number[] {
    const slots = this.#slots(id);
    const others = this.#holders().filter((holder) => holder.id !== id);
    // Takes the cheaper way: check the other folders for each email, or scan everything that they hold.
    if (slots.length * others.length <= size) return slots.filter((slot) => !this.isKeptElsewhere(slot, id));
    const elsewhere = new Uint8Array(size);
    for (const other of others) {
      for (const slot of this.#slots(other.id)) if (!this.isDeleted(other.id, slot)) elsewhere[slot] = 1;
    }
    return slots.filter((slot) => elsewhere[slot] === 0);
  }

  /** The counters of the folders that the batch has changed and not deleted. */
  counters(): FolderCounters[] {
    return [...this.#changed.values()].map(({ row: { id, uidNext, total, unread, highestModseq } }) => {
      return { id, uidNext, total, unread, highestModseq };
    });
  }

  /** Folders in which emails may have `\Deleted`. */
  #markedIds(): readonly string[] {
    const ids: string[] = [];
    for (const [id, { deletedCount }] of this.#state.folders) {
      if (deletedCount > 0 && !this.#deleted.has(id)) ids.push(id);
    }
    for (const [id, { isMarked }] of this.#changed) if (isMarked && !ids.includes(id)) ids.push(id);
    return ids;
  }

  #holders(): readonly Holder[] {
    if (this.#knownHolders !== undefined) return this.#knownHolders;
    const holders: Holder[] = [];
    for (const id of this.#ids()) {
      const [columns, uids] = [this.#state.folders.get(id), this.#changed.get(id)?.uids];
      if (uids !== undefined || (columns?.count ?? 0) > 0) holders.push({ id, columns, uids });
    }
    this.#knownHolders = holders;
    return holders;
  }

  *#ids(): Iterable<string> {
    for (const id of this.#state.folders.keys()) if (!this.#deleted.has(id)) yield id;
    for (const [id, { columns }] of this.#changed) if (columns === undefined) yield id;
  }

  #slots(id: string): number[] {
    const uids = this.#changed.get(id)?.uids;
    const slots = [...(this.#state.folders.get(id)?.slots() ?? [])];
    if (uids === undefined || uids.size === 0) return slots;
    const kept = slots.filter((slot) => !uids.has(slot));
    for (const [slot, uid] of uids) if (uid !== 0) kept.push(slot);
    return kept;
  }

  #touch(id: string, modseq: number): ChangedFolder {
    let folder = this.#changed.get(id);
    if (folder === undefined) {
      const columns = this.#state.folders.get(id)!;
      folder = unchanged({ ...columns.row }, columns);
      this.#changed.set(id, folder);
      this.#knownHolders = undefined;
    }
    folder.row.highestModseq = modseq;
    return folder;
  }
}

function unchanged(row: Mutable, columns: FolderColumns | undefined): ChangedFolder {
  const counted = { deletedUnread: columns?.deletedUnreadCount ?? 0, isMarked: (columns?.deletedCount ?? 0) > 0 };
  return { row, columns, uids: new Map(), modseqs: new Map(), deleted: new Map(), ...counted };
}

/** Returns the ranges in ascending order, without overlaps. */
function joined(ranges: readonly (readonly [first: number, last: number])[]): [first: number, last: number][] {
  const result: [first: number, last: number][] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = result.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else if (first <= last) result.push([Math.max(first, 1), last]);
  }
  return result;
}
