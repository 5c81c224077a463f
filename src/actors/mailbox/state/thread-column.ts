// The thread of each email in memory, for lists with a row per thread. Threads are rows of the store: the column is read on first use, and
// the threads of new emails are read again when a commit has put them into threads that existed (queries/list-threads.ts reads).
import { uuidText } from '../../../mail-format/ids.js';
import type { ThreadChange, ThreadPage } from '../../../store/mailboxes.js';
import type { EmailColumns } from './email-columns.js';
import { ARRAY_OCTETS } from './sparse-column.js';
import { grownCapacity, NO_NUMBERS, resized } from './wide-column.js';

const ID_OCTETS = 16;
/** Approximate memory of a set's entry. */
const ENTRY_OCTETS = 40;

interface Grouping {
  readonly folderId: string;
  readonly octets: number;
}

export class ThreadColumn {
  readonly #emails: EmailColumns;
  /** A slot per slot: all emails of a thread have the same one, which no other thread has. */
  #threads = NO_NUMBERS;
  #size = 0;
  /** The emails of the last commit. */
  #newest: readonly number[] = [];
  /** Emails whose threads must be read. */
  readonly #unread = new Set<number>();
  /** The ids of threads whose first email is gone, while the column is read. */
  readonly #named = new Map<string, number>();
  /** The whole column must be read. */
  isMissing = true;
  /** Counts the commits since which the store may join threads without a commit, so that nothing that was read stays right; 0 for none. */
  unsettled = 0;
  /** What a list has made of the threads and the emails; undefined after each change of them. */
  #grouping: Grouping | undefined;

  constructor(emails: EmailColumns) {
    this.#emails = emails;
    this.#grow();
  }

  get octets(): number {
    const grouping = this.#grouping?.octets ?? 0;
    return this.#threads.length * 4 + ARRAY_OCTETS + this.#unread.size * ENTRY_OCTETS + grouping;
  }

  /** The grouping of a folder: made once for all lists that are read before the mailbox changes. */
  grouping<G extends Grouping>(folderId: string, make: () => G): G {
    if (this.#grouping?.folderId !== folderId) this.#grouping = make();
    return this.#grouping as G;
  }

  /** Nothing must be read. */
  get isCurrent(): boolean {
    return !this.isMissing && this.#unread.size === 0;
  }

  /** The slot that stands for the email's thread. */
  of(slot: number): number {
    return this.#threads[slot]!;
  }

  /** Must be called after the columns have evolved. `threadId`: the first of the new emails that are one thread. */
  evolve(added: readonly { readonly id: string; readonly threadId: string }[]): void {
    this.#grouping = undefined;
    this.#grow();
    this.#newest = added.map(({ id }) => this.#emails.find(id)).filter((slot) => slot >= 0);
    for (const { id, threadId } of added) {
      const slot = this.#emails.find(id);
      const first = this.#emails.find(threadId);
      if (slot >= 0 && first >= 0) this.#threads[slot] = first;
    }
  }

  /** The last commit has put its emails into threads that existed. */
  changed(change: ThreadChange): void {
    this.#grouping = undefined;
    for (const slot of this.#newest) this.#unread.add(slot);
    if (change !== 'unsettled') return;
    this.unsettled++;
    this.isMissing = true;
  }

  /** At most `most` emails whose threads must be read. */
  unread(most: number): readonly number[] {
    const found: number[] = [];
    for (const slot of this.#unread) {
      if (found.length === most) break;
      found.push(slot);
    }
    return found;
  }

  /** The threads of these emails are read. */
  read(slots: readonly number[]): void {
    for (const slot of slots) this.#unread.delete(slot);
  }

  /** A page of the emails that do not begin their threads; an email that begins one has had its own slot from the beginning. */
  load(page: ThreadPage): void {
    this.#grouping = undefined;
    const slots = this.#slotsOf(page.emailIds);
    const firsts = this.#slotsOf(page.threadIds);
    slots.forEach((slot, i) => {
      if (slot < 0) return;
      // A thread has the id of its first email, unless that email is gone.
      this.#threads[slot] = firsts[i]! >= 0 ? firsts[i]! : this.#nameOf(page.threadIds, i, slot);
    });
  }

  /** `settled`: the value of `unsettled` for whose commits the store had joined the threads before the column was read. */
  loaded(settled: number): void {
    this.#named.clear();
    if (this.unsettled === settled) this.unsettled = 0;
    this.isMissing = this.unsettled > 0;
  }

  /** All emails of some threads. */
  replace(page: ThreadPage): void {
    this.#grouping = undefined;
    const slots = this.#slotsOf(page.emailIds);
    const first = new Map<string, number>();
    slots.forEach((slot, i) => {
      if (slot < 0) return;
      const id = uuidText(page.threadIds, i * ID_OCTETS);
      if (!first.has(id)) first.set(id, slot);
      // Every slot here is of this thread, so no other thread has the name.
      this.#threads[slot] = first.get(id)!;
    });
  }

  #nameOf(ids: Uint8Array, i: number, slot: number): number {
    const id = uuidText(ids, i * ID_OCTETS);
    const known = this.#named.get(id);
    if (known !== undefined) return known;
    this.#named.set(id, slot);
    return slot;
  }

  /** -1 for emails that do not exist. */
  #slotsOf(ids: Uint8Array): Int32Array {
    const slots = new Int32Array(ids.length / ID_OCTETS).fill(-1);
    this.#emails.eachSlot(ids, (slot, position) => {
      slots[position] = slot;
    });
    return slots;
  }

  /** A new email is a thread of its own until more is known. */
  #grow(): void {
    const { size } = this.#emails;
    if (size > this.#threads.length) this.#threads = resized(this.#threads, grownCapacity(this.#threads.length, size));
    for (; this.#size < size; this.#size++) this.#threads[this.#size] = this.#size;
  }
}
