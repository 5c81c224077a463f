// A cache of recently shown emails: their rows, the list items made from them, and the emails of recently requested threads. A row never
// changes, except for its thread. A commit drops the entries that it changes; data that was read before the commit and arrives after it is
// not cached.
import { LRUCache } from 'lru-cache';
import type { BudgetedCache, CacheBudget } from '../../../concurrency/cache-budget.js';
import type { CoalescedChanges } from '../../../store/changes/coalesced-changes.js';
import { countOf } from '../../../store/changes/coalesced-placements.js';
import type { EmailSummaryRow } from '../../../store/mailbox-rows.js';
import type { EmailListItem } from '../view-shapes.js';
import type { EmailColumns } from './email-columns.js';

/** The limit for the rows and items of one mailbox. */
const MOST_OCTETS = 1024 * 1024;
/** Approximate memory of a row and its item, apart from their texts. */
const ROW_OCTETS = 1_500;
/** Approximate memory of an item's parts, in the item and in its encoded form: the id of a folder, and a label apart from its name. */
const FOLDER_OCTETS = 60;
const LABEL_OCTETS = 250;
/** Texts are in the row and in the encoded item, with up to two bytes per character each. */
const OCTETS_A_CHARACTER = 4;
/** The limit for the threads of one mailbox, and the approximate memory of one, apart from its slots. */
const THREADS_OCTETS = 128 * 1024;
const THREAD_OCTETS = 200;
const SLOT_OCTETS = 8;
/** With more changed placements than this, all items are dropped: a search for each would take longer than to make the items again. */
const MANY = 100;

interface Kept {
  readonly row: EmailSummaryRow;
  item: EmailListItem | undefined;
  /** The email's modseq when the item was made. */
  readonly modseq: number;
}

type Budget = Pick<CacheBudget, 'use'>;
const OWN_BUDGET: Budget = { use() {} };

export class Summaries implements BudgetedCache {
  /** The account id. */
  readonly name: string;
  readonly #mostOctets: number;
  /** Shared by all mailboxes of a node. */
  budget: Budget = OWN_BUDGET;
  /** Keyed by slot. */
  #kept: LRUCache<number, Kept> | undefined;
  /** Slots of whole threads, oldest first, by the requested id. */
  #threads: LRUCache<string, readonly number[]> | undefined;
  #version = 0;
  #isClosed = false;

  constructor(accountId: string, mostOctets = MOST_OCTETS) {
    this.name = accountId;
    this.#mostOctets = mostOctets;
  }

  get octets(): number {
    return (this.#kept?.calculatedSize ?? 0) + (this.#threads?.calculatedSize ?? 0);
  }

  /** Data that was read from the store under one version is only cached under the same version. */
  get version(): number {
    return this.#version;
  }

  /** The email's row; undefined when it must be read. */
  row(slot: number): EmailSummaryRow | undefined {
    return this.#kept?.get(slot)?.row;
  }

  keep(slot: number, row: EmailSummaryRow, version: number): void {
    if (version !== this.#version || this.#isClosed) return;
    this.#kept ??= new LRUCache({ maxSize: this.#mostOctets, sizeCalculation: octetsOf });
    this.#kept.set(slot, { row, item: undefined, modseq: 0 });
  }

  /** The item that was made from this row, if nothing that it shows has changed. `modseq`: that of the email. */
  item(slot: number, row: EmailSummaryRow, modseq: number): EmailListItem | undefined {
    const kept = this.#kept?.peek(slot);
    return kept?.row === row && kept.modseq === modseq ? kept.item : undefined;
  }

  keepItem(slot: number, row: EmailSummaryRow, modseq: number, item: EmailListItem): void {
    // Otherwise the row was dropped meanwhile, and its thread may have changed.
    if (this.#kept?.peek(slot)?.row === row) this.#kept.set(slot, { row, item, modseq });
  }

  /** Slots of a whole thread, oldest first, including those of emails that were deleted since. */
  thread(threadId: string): readonly number[] | undefined {
    return this.#threads?.get(threadId);
  }

  keepThread(threadId: string, slots: readonly number[], version: number): void {
    if (version !== this.#version || this.#isClosed) return;
    this.#threads ??= new LRUCache({ maxSize: THREADS_OCTETS, sizeCalculation: octetsOfThread });
    this.#threads.set(threadId, slots);
  }

  /** Must be called before the columns evolve: slots are looked up by the ids of emails that are removed. */
  evolve(coalesced: CoalescedChanges, emails: EmailColumns): void {
    if (this.#kept === undefined || this.#kept.size === 0) return;
    for (const id of coalesced.emailsRemoved) this.#kept.delete(emails.find(id));
    let placements = 0;
    for (const { placed, placedTogether, expunged, expungedTogether, marked } of coalesced.placements.values()) {
      placements += countOf(placed, placedTogether) + countOf(expunged, expungedTogether) + marked.length;
    }
    // Items show the folders of their email, and more of a label than its id.
    if (placements > MANY || coalesced.foldersChanged.length + coalesced.foldersRemoved.length > 0) this.#dropItems();
    else {
      // Placements that are named together always exceed MANY.
      for (const { placed, expunged, marked } of coalesced.placements.values()) {
        for (const { emailId } of [...placed, ...expunged, ...marked]) this.#dropItem(emails.find(emailId));
      }
    }
  }

  /** Called when threads were joined, or when a thread has more emails. */
  threadsChanged({ areJoined }: { readonly areJoined: boolean }): void {
    if (areJoined) this.clear();
    else {
      this.#version++;
      this.#threads?.clear();
    }
  }

  clear(): void {
    this.#version++;
    this.#kept = undefined;
    this.#threads = undefined;
  }

  /** Stops caching: rows of the account may change without a commit of this mailbox. */
  close(): void {
    this.#isClosed = true;
    this.clear();
  }

  #dropItem(slot: number): void {
    const kept = this.#kept?.peek(slot);
    if (kept !== undefined) kept.item = undefined;
  }

  #dropItems(): void {
    for (const kept of this.#kept?.values() ?? []) kept.item = undefined;
  }
}

function octetsOf({ row, item }: Kept): number {
  return rowOctets(row) + (item === undefined ? 0 : itemOctets(item));
}

function octetsOfThread(slots: readonly number[]): number {
  return THREAD_OCTETS + slots.length * SLOT_OCTETS;
}

function rowOctets({
  subject,
  preview,
  fromAddress,
  fromName,
  messageId,
  inReplyTo,
  references,
}: EmailSummaryRow): number {
  let characters = subject.length + preview.length + fromAddress.length + fromName.length;
  characters += (messageId?.length ?? 0) + (inReplyTo?.length ?? 0);
  for (const reference of references) characters += reference.length;
  return ROW_OCTETS + characters * OCTETS_A_CHARACTER;
}

/** The memory of an item in addition to that of its row. */
function itemOctets({ folderIds, labels }: EmailListItem): number {
  let octets = folderIds.length * FOLDER_OCTETS;
  for (const { name } of labels) octets += LABEL_OCTETS + name.length * OCTETS_A_CHARACTER;
  return octets;
}
