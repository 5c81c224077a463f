// Which emails of one folder have `\Deleted`, in memory, and how many of these are unread: lists and counters exclude them.
import { SEEN } from '../../../mail-format/flags.js';
import type { EmailColumns } from './email-columns.js';
import { SparseBits } from './sparse-column.js';

export class DeletedMarks {
  readonly #emails: EmailColumns;
  /** Created with the first mark. */
  #marked: SparseBits | undefined;
  #unread = 0;

  constructor(emails: EmailColumns) {
    this.#emails = emails;
  }

  get octets(): number {
    return this.#marked?.octets ?? 0;
  }

  get count(): number {
    return this.#marked?.count ?? 0;
  }

  /** The number of marked emails that are unread. */
  get unread(): number {
    return this.#unread;
  }

  has(slot: number): boolean {
    return this.#marked?.has(slot) === true;
  }

  set(slot: number, isMarked: boolean): void {
    if (this.has(slot) === isMarked) return;
    this.#marked ??= new SparseBits();
    this.#marked.set(slot, isMarked);
    if (this.#isUnread(slot)) this.#unread += isMarked ? 1 : -1;
  }

  /** Must be called before the emails get these flags. */
  reflag(slots: readonly number[], flags: number): void {
    if (this.count === 0) return;
    const isUnread = (flags & SEEN) === 0;
    for (const slot of slots) {
      if (this.has(slot) && this.#isUnread(slot) !== isUnread) this.#unread += isUnread ? 1 : -1;
    }
  }

  #isUnread(slot: number): boolean {
    return (this.#emails.flags(slot) & SEEN) === 0;
  }
}
