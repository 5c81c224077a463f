// A folder with a row per thread: the emails of a thread that the folder shows are one row, at the place of the newest of them. Computed from
// memory in one pass over the folder.
import { FLAGGED, SEEN } from '../../../mail-format/flags.js';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';

/**
 * The most emails of a row. A longer thread has several rows, filled from its oldest email on, so that a row can name all of its emails, and
 * a new email changes one row only.
 */
export const MOST_OF_ROW = 100;

/** Memory of an email of the folder: its position before, and its part of the four numbers of a row. */
const OCTETS_OF_EMAIL = 4 + 4 + 1 + 1 + 1;

interface RowChoice {
  /** 1-based. */
  readonly page: number;
  readonly pageSize: number;
  /** Whether all emails of the row are read. */
  readonly isRead?: boolean | undefined;
  /** Whether an email of the row is flagged. */
  readonly isFlagged?: boolean | undefined;
  readonly isDescending: boolean;
  /** Whether a row with this newest email is wanted. */
  readonly isWanted?: ((newest: number) => boolean) | undefined;
}

interface RowPage {
  /** Emails of each row, the newest first. */
  readonly rows: readonly (readonly number[])[];
  /** Counts rows. */
  readonly totalCount: number;
  /** Counts the unread emails of the rows. */
  readonly unreadCount: number;
  /** Counts the emails of the rows. */
  readonly emailCount: number;
}

/** The rows of a folder, which lists share until the mailbox changes. The threads must be current (list-threads.ts). */
export function conversationsOf(state: MailboxState, folder: FolderColumns): FolderConversations {
  return state.threads.grouping(folder.row.id, () => new FolderConversations(state, folder));
}

class FolderConversations {
  readonly folderId: string;
  /** Valid until the mailbox changes. */
  readonly #slots: Uint32Array;
  /** The position of the email before, of the same row; -1 for the first one. */
  readonly #previous: Int32Array;
  /** The position of the newest email of each row. */
  readonly #last: Int32Array;
  readonly #unread: Uint8Array;
  readonly #flagged: Uint8Array;
  readonly #sizes: Uint8Array;
  /** Rows by the place of their newest email, oldest first. */
  readonly #order: Uint32Array;

  constructor({ emails, threads }: MailboxState, folder: FolderColumns) {
    this.folderId = folder.row.id;
    const slots = folder.slots();
    const { length } = slots;
    const rowOf = new Int32Array(length).fill(-1);
    this.#slots = slots;
    this.#previous = new Int32Array(length);
    this.#last = new Int32Array(length);
    this.#unread = new Uint8Array(length);
    this.#flagged = new Uint8Array(length);
    const sizes = new Uint8Array(length);
    this.#sizes = sizes;
    const open = new OpenRows(emails.size, length);
    const isAllShown = folder.deletedCount === 0;
    let count = 0;
    for (let i = 0; i < length; i++) {
      const slot = slots[i]!;
      if (!isAllShown && folder.isDeleted(slot)) continue;
      const thread = threads.of(slot);
      let row = open.get(thread);
      if (row === -1 || sizes[row] === MOST_OF_ROW) {
        row = count++;
        open.set(thread, row);
        this.#previous[i] = -1;
      } else this.#previous[i] = this.#last[row]!;
      const flags = emails.flags(slot);
      rowOf[i] = row;
      this.#last[row] = i;
      sizes[row]!++;
      if ((flags & SEEN) === 0) this.#unread[row]!++;
      if ((flags & FLAGGED) !== 0) this.#flagged[row] = 1;
    }
    this.#order = new Uint32Array(count);
    for (let i = 0, at = 0; i < length; i++) {
      const row = rowOf[i]!;
      if (row !== -1 && this.#last[row] === i) this.#order[at++] = row;
    }
  }

  get octets(): number {
    return this.#slots.length * OCTETS_OF_EMAIL + this.#order.length * 4;
  }

  page({ page, pageSize, isRead, isFlagged, isDescending, isWanted }: RowChoice): RowPage {
    const first = (page - 1) * pageSize;
    const order = this.#order;
    const rows: number[][] = [];
    let totalCount = 0;
    let unreadCount = 0;
    let emailCount = 0;
    for (let i = 0; i < order.length; i++) {
      const row = order[isDescending ? order.length - 1 - i : i]!;
      const unread = this.#unread[row]!;
      if (isRead !== undefined && isRead !== (unread === 0)) continue;
      if (isFlagged !== undefined && isFlagged !== (this.#flagged[row] === 1)) continue;
      if (isWanted?.(this.#slots[this.#last[row]!]!) === false) continue;
      if (totalCount >= first && rows.length < pageSize) rows.push(this.#emailsFrom(this.#last[row]!));
      totalCount++;
      unreadCount += unread;
      emailCount += this.#sizes[row]!;
    }
    return { rows, totalCount, unreadCount, emailCount };
  }

  /** The emails of the rows that have one of these emails, the newest row first. */
  with(some: ReadonlySet<number>): readonly (readonly number[])[] {
    const rows: (readonly number[])[] = [];
    for (let i = this.#order.length - 1; i >= 0; i--) {
      const last = this.#last[this.#order[i]!]!;
      for (let at = last; at !== -1; at = this.#previous[at]!) {
        if (!some.has(this.#slots[at]!)) continue;
        rows.push(this.#emailsFrom(last));
        break;
      }
    }
    return rows;
  }

  /** The emails of the rows whose newest email is one of these, by that email. */
  of(newest: Iterable<number>): ReadonlyMap<number, readonly number[]> {
    const wanted = new Set(newest);
    const found = new Map<number, readonly number[]>();
    for (const row of this.#order) {
      const last = this.#last[row]!;
      const slot = this.#slots[last]!;
      if (wanted.has(slot)) found.set(slot, this.#emailsFrom(last));
    }
    return found;
  }

  #emailsFrom(last: number): number[] {
    const emails: number[] = [];
    for (let at = last; at !== -1; at = this.#previous[at]!) emails.push(this.#slots[at]!);
    return emails;
  }
}

/** The row of each thread that is filled at present: an array for large folders, a map for small ones in large mailboxes. */
class OpenRows {
  readonly #array: Int32Array | undefined;
  readonly #map = new Map<number, number>();

  constructor(size: number, emails: number) {
    if (emails * 16 >= size) this.#array = new Int32Array(size).fill(-1);
  }

  get(thread: number): number {
    return this.#array === undefined ? (this.#map.get(thread) ?? -1) : this.#array[thread]!;
  }

  set(thread: number, row: number): void {
    if (this.#array === undefined) this.#map.set(thread, row);
    else this.#array[thread] = row;
  }
}
