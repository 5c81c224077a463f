// Emails that arrive in a folder because they are copied, moved or labelled: each gets a new UID there and no `\Deleted` (RFC 9051 §6.4.7).
// A folder holds an email once, so a placement that is marked `\Deleted` ends when its email arrives again.
// Over IMAP, an email that the folder already holds without `\Deleted` arrives as another email with the same message: clients count two.
// The same applies to an email that would be in Drafts and elsewhere: REST changes a draft, but its copy must not change (decision 0066).

import type { Usage } from '../../../store/limits/quotas.js';
import type { EmailSummaryRow } from '../../../store/mailbox-rows.js';
import { MOST_DRAFTS } from '../outbound/draft-emails.js';
import type { MailboxTransaction } from '../state/transaction.js';

/** The most emails that one command duplicates. */
const MOST_DUPLICATES = 1_000;
/** The most characters of their rows; the rows are in the commit and in the log. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** What happens to an email that the folder holds without `\Deleted`: it stays, gets a new placement, or another email arrives. */
export type Meeting = 'stays' | 'placedAgain' | 'duplicated';

/** How emails arrive in a folder. A plan: it changes nothing yet. */
export interface Arrival {
  readonly folderId: string;
  /** Each slot occurs once. */
  readonly slots: readonly number[];
  /** Emails whose placements in the folder end. */
  readonly displaced: readonly number[];
  readonly staying: ReadonlySet<number>;
  /** Emails that are duplicated: another email arrives for each. */
  readonly duplicated: ReadonlyMap<number, EmailSummaryRow>;
  /** True when all requested emails arrive; false when only the first ones do, as many as the bounds of one command allow. */
  readonly isComplete: boolean;
}

/** `leaving`: the folder that the emails leave when they have arrived. */
export function arrivalOf(
  tx: MailboxTransaction,
  slots: readonly number[],
  folderId: string,
  meeting: Meeting,
  leaving?: string,
): Arrival {
  const there = slots.filter((slot) => tx.folders.uid(folderId, slot) !== 0);
  const isDisplaced = (slot: number) => meeting === 'placedAgain' || tx.isDeleted(slot, folderId);
  const displaced = there.filter(isDisplaced);
  const met = there.filter((slot) => !isDisplaced(slot));
  if (meeting !== 'duplicated') {
    return { folderId, slots, displaced, staying: new Set(met), duplicated: new Map(), isComplete: true };
  }
  const { duplicated, end } = othersOf(tx, slots, new Set([...met, ...draftsApart(tx, slots, folderId, leaving)]));
  const arriving = new Set(slots.slice(0, end));
  return {
    folderId,
    slots: [...arriving],
    displaced: displaced.filter((slot) => arriving.has(slot)),
    staying: new Set(),
    duplicated,
    isComplete: end === slots.length,
  };
}

/**
 * Returns the rows of the emails that are duplicated, and the end of the part of `slots` that one command may process: at least one slot.
 */
function othersOf(tx: MailboxTransaction, slots: readonly number[], others: ReadonlySet<number>) {
  const duplicated = new Map<number, EmailSummaryRow>();
  let count = 0;
  let characters = 0;
  for (const [position, slot] of slots.entries()) {
    if (!others.has(slot)) continue;
    if (count === MOST_DUPLICATES) return { duplicated, end: position };
    count++;
    const row = tx.emailRows.get(tx.id(slot));
    // When the row is read, the command is planned again.
    if (row === undefined) continue;
    characters += JSON.stringify(row).length;
    if (characters > MOST_CHARACTERS && count > 1) return { duplicated, end: position };
    duplicated.set(slot, row);
  }
  return { duplicated, end: slots.length };
}

/** Returns the emails that would be drafts in Drafts and also be in another folder. */
function draftsApart(tx: MailboxTransaction, slots: readonly number[], folderId: string, leaving?: string): number[] {
  const { drafts } = tx.outbound;
  const draftsId = tx.folders.rowOf('drafts').id;
  if (folderId === draftsId) {
    const isElsewhere = (slot: number) => tx.folders.holding(slot).some((id) => id !== leaving);
    const coming = slots.filter((slot) => tx.folders.uid(draftsId, slot) === 0 && isElsewhere(slot));
    return coming.slice(0, Math.max(0, MOST_DRAFTS - drafts.size));
  }
  if (leaving === draftsId || drafts.size === 0) return [];
  return slots.filter((slot) => drafts.draftOf(tx.id(slot)) !== undefined);
}

/** What the mailbox uses more afterwards. */
export function addedBy({ duplicated }: Arrival): Usage {
  const bytes = [...duplicated.values()].reduce((sum, { size }) => sum + size, 0);
  return { bytes, messages: duplicated.size };
}

/** Returns the slots that are in the folder afterwards, in the order of the emails; the UIDs of arrived emails have the same order. */
export function arrive(tx: MailboxTransaction, arrival: Arrival): readonly number[] {
  const { folderId, slots, displaced, staying, duplicated } = arrival;
  tx.displace(displaced, folderId);
  const arrived: number[] = [];
  let placed: number[] = [];
  for (const slot of slots) {
    const row = duplicated.get(slot);
    if (row === undefined) {
      if (!staying.has(slot)) placed.push(slot);
      arrived.push(slot);
      continue;
    }
    tx.place(placed, folderId);
    placed = [];
    arrived.push(duplicate(tx, slot, row, folderId));
  }
  tx.place(placed, folderId);
  return arrived;
}

/** Places the email in the folder, unless the folder already holds it without `\Deleted`. */
export function put(tx: MailboxTransaction, slot: number, folderId: string): void {
  arrive(tx, arrivalOf(tx, [slot], folderId, 'stays'));
}

/** Whether the folder holds the email without `\Deleted`. */
export function isKept(tx: MailboxTransaction, slot: number, folderId: string): boolean {
  return tx.folders.uid(folderId, slot) !== 0 && !tx.isDeleted(slot, folderId);
}

function duplicate(tx: MailboxTransaction, slot: number, row: EmailSummaryRow, folderId: string): number {
  const id = tx.newId();
  // Only the original is the copy that a submission made.
  const origin = row.origin === 'submitted' ? 'sent' : (row.origin ?? null);
  const email = { ...row, id, flags: tx.flags(slot), keywords: tx.keywords(slot), origin };
  tx.add(email, [folderId], { isNew: false });
  return tx.find(id);
}
