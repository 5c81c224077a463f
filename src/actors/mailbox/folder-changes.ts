// The folders of a transaction: their rows and what is placed in them, read through as if the batch so far had happened already.
// No row stands twice in what comes out, and nothing is left of what was made and unmade within the batch.
import type { FolderChange, FolderRole, FolderRow, MailboxChange } from '../../store/mailboxes.js';
import type { FolderColumns } from './folder-columns.js';
import type { MailboxState } from './state.js';

type Placed = MailboxChange['placed'][number];
type Mutable = { -readonly [K in keyof FolderRow]: FolderRow[K] };

interface FolderDraft {
  readonly row: Mutable;
  /** Undefined for a folder that the batch made. */
  readonly columns: FolderColumns | undefined;
  /** Where the batch differs from the columns; 0 for what it took away. */
  readonly uids: Map<number, number>;
  renamed: boolean;
}

export class FolderChanges {
  readonly #state: MailboxState;
  readonly #touched = new Map<string, FolderDraft>();
  readonly #removed = new Set<string>();
  #placed: Placed[] = [];
  #unplaced: MailboxChange['unplaced'][number][] = [];

  constructor(state: MailboxState) {
    this.#state = state;
  }

  row(id: string): FolderRow | undefined {
    if (this.#removed.has(id)) return undefined;
    return (this.#touched.get(id) ?? this.#state.folders.get(id))?.row;
  }

  rowOf(role: Exclude<FolderRole, 'label'>): FolderRow {
    return this.row(this.#state.folderOf(role).row.id)!;
  }

  label(id: string): FolderRow | undefined {
    const row = this.row(id);
    return row?.role === 'label' ? row : undefined;
  }

  rows(): FolderRow[] {
    const ids = new Set([...this.#state.folders.keys(), ...this.#touched.keys()]);
    return [...ids].flatMap((id) => this.row(id) ?? []);
  }

  /** The email's UID in the folder; 0 when it is not placed there. */
  uid(folderId: string, slot: number): number {
    const overlaid = this.#touched.get(folderId)?.uids.get(slot);
    return overlaid ?? this.#state.folders.get(folderId)?.uidOf(slot) ?? 0;
  }

  /** Ids of the folders that hold the email. */
  holding(slot: number): string[] {
    return this.rows().flatMap(({ id, total }) => (total > 0 && this.uid(id, slot) !== 0 ? [id] : []));
  }

  /** Places an email; `slot` is -1 for one that this batch adds. Returns its UID there. */
  place(folderId: string, emailId: string, slot: number, isUnread: boolean, modseq: number): number {
    const folder = this.#touch(folderId, modseq);
    const uid = folder.row.uidNext++;
    this.#count(folder, 1, isUnread);
    if (slot >= 0) folder.uids.set(slot, uid);
    this.#placed.push({ folderId, uid, emailId, modseq });
    return uid;
  }

  /** Takes an email out of a folder that holds it; returns its UID there. */
  unplace(folderId: string, emailId: string, slot: number, isUnread: boolean, modseq: number): number {
    const uid = this.uid(folderId, slot);
    const folder = this.#touch(folderId, modseq);
    this.#count(folder, -1, isUnread);
    folder.uids.set(slot, 0);
    const kept = this.#placed.filter((row) => row.uid !== uid || row.folderId !== folderId);
    if (kept.length < this.#placed.length) this.#placed = kept;
    else this.#unplaced.push({ folderId, uid, emailId, modseq });
    return uid;
  }

  /** The email has been read or is unread again. */
  recount(slot: number, isUnread: boolean, modseq: number): void {
    for (const id of this.holding(slot)) this.#touch(id, modseq).row.unread += isUnread ? 1 : -1;
  }

  add(row: FolderRow): void {
    this.#touched.set(row.id, { row: { ...row }, columns: undefined, uids: new Map(), renamed: true });
  }

  rename(id: string, changed: Pick<FolderRow, 'name' | 'color' | 'sortOrder'>, modseq: number): void {
    const folder = this.#touch(id, modseq);
    Object.assign(folder.row, changed);
    folder.renamed = true;
  }

  /** Removes a folder with its placements; returns the slots that were placed nowhere else. */
  remove(id: string): number[] {
    const elsewhere = new Uint8Array(this.#state.emails.size);
    for (const row of this.rows()) {
      if (row.id === id) continue;
      for (const slot of this.#slots(row.id)) elsewhere[slot] = 1;
    }
    const homeless = this.#slots(id).filter((slot) => elsewhere[slot] === 0);
    this.#placed = this.#placed.filter(({ folderId }) => folderId !== id);
    this.#unplaced = this.#unplaced.filter(({ folderId }) => folderId !== id);
    this.#touched.delete(id);
    this.#removed.add(id);
    return homeless;
  }

  change(): Pick<MailboxChange, 'placed' | 'unplaced' | 'folders' | 'foldersAdded' | 'foldersRemoved'> {
    const touched = [...this.#touched.values()];
    return {
      placed: this.#placed,
      unplaced: this.#unplaced,
      folders: touched.filter(({ columns }) => columns !== undefined).map(written),
      foldersAdded: touched.filter(({ columns }) => columns === undefined).map(({ row }) => row),
      foldersRemoved: [...this.#removed].filter((id) => this.#state.folders.has(id)),
    };
  }

  #slots(id: string): number[] {
    const uids = this.#touched.get(id)?.uids;
    const slots = [...(this.#state.folders.get(id)?.slots() ?? [])];
    if (uids === undefined || uids.size === 0) return slots;
    const kept = slots.filter((slot) => !uids.has(slot));
    for (const [slot, uid] of uids) if (uid !== 0) kept.push(slot);
    return kept;
  }

  #count(folder: FolderDraft, by: 1 | -1, isUnread: boolean): void {
    folder.row.total += by;
    if (isUnread) folder.row.unread += by;
  }

  #touch(id: string, modseq: number): FolderDraft {
    let folder = this.#touched.get(id);
    if (folder === undefined) {
      const columns = this.#state.folders.get(id)!;
      folder = { row: { ...columns.row }, columns, uids: new Map(), renamed: false };
      this.#touched.set(id, folder);
    }
    folder.row.highestModseq = modseq;
    return folder;
  }
}

function written({ row, renamed }: FolderDraft): FolderChange {
  const { id, uidNext, total, unread, highestModseq, name, color, sortOrder } = row;
  const counted = { id, uidNext, total, unread, highestModseq };
  return renamed ? { ...counted, name, color, sortOrder } : counted;
}
