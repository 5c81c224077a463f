// Copies of outbound mail in Sent: every queued email has one. If its sender cancels the email before its release, the copy becomes a draft
// again.

import type { Step } from '../../../machines/outbound-email/step.js';
import { DRAFT, SEEN } from '../../../mail-format/flags.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { EmailOrigin } from '../../../store/mailbox-rows.js';
import type { OutboundRow } from '../../../store/outbound.js';
import { newEmail } from '../commands/new-email.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { advance } from './step.js';

/** What an email takes over from the one that it replaces. */
interface Kept {
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly labels: readonly string[];
}

export const READ: Kept = { flags: SEEN, keywords: [], labels: [] };

/** Returns the id of the copy. */
export function placeInSent(
  tx: MailboxTransaction,
  blob: string,
  summary: MessageSummary,
  kept: Kept,
  origin: EmailOrigin,
): string {
  const id = tx.newId();
  const { flags, keywords, labels } = kept;
  const copy = newEmail(summary, { id, blob, receivedAt: tx.now, flags, keywords, origin });
  tx.add(copy, [tx.folders.rowOf('sent').id, ...labels], { isNew: false });
  return id;
}

/**
 * Removes the email of an outbound email from Drafts or Sent, and deletes it if it is in no other folder except labels. Returns what
 * another email takes over; undefined when the folder does not hold the email.
 */
export function takeOut(tx: MailboxTransaction, { emailId }: OutboundRow, role: 'drafts' | 'sent'): Kept | undefined {
  const slot = tx.find(emailId);
  const folderId = tx.folders.rowOf(role).id;
  if (slot < 0 || tx.folders.uid(folderId, slot) === 0) return undefined;
  const others = tx.folders.holding(slot).filter((id) => id !== folderId);
  const labels = labelsOf(tx, slot);
  const taken = { flags: tx.flags(slot), keywords: tx.keywords(slot), labels };
  if (labels.length < others.length) tx.unplace([slot], folderId);
  else tx.remove([slot]);
  return taken;
}

/** Labels of the draft's email; the copy in Sent gets them. */
export function labelsOfDraft(tx: MailboxTransaction, { emailId }: OutboundRow): readonly string[] {
  const slot = tx.find(emailId);
  return slot < 0 ? [] : labelsOf(tx, slot);
}

const labelsOf = (tx: MailboxTransaction, slot: number): string[] =>
  tx.folders.holding(slot).filter((id) => tx.folders.label(id) !== undefined);

/**
 * Turns an email back into a draft with its id and bodies, also if it never was a draft. `next`: the step of the machine. Its copy moves
 * from Sent to Drafts and becomes the draft's email; if the copy was deleted, a new email is added. The limit of drafts does not apply.
 */
export function returnToDrafts(tx: MailboxTransaction, row: OutboundRow, next: Step, summary: MessageSummary): void {
  const [draftsId, sentId] = [tx.folders.rowOf('drafts').id, tx.folders.rowOf('sent').id];
  const copy = tx.find(row.emailId);
  // A mail program has put the copy into Drafts, where it belongs to another draft.
  if (copy >= 0 && tx.folders.uid(draftsId, copy) !== 0) tx.unplace([copy], draftsId);
  const emailId = copy >= 0 ? row.emailId : tx.newId();
  const updatedAt = Math.max(tx.now, row.updatedAt + 1);
  const parts = { before: row, recipients: 'all' as const, content: undefined, summary };
  // The draft must name its email before the email is placed (draft-rows.ts).
  advance(tx, { ...row, emailId, messageId: null, dsn: null, updatedAt }, next, parts);
  if (copy < 0) {
    const flags = { flags: SEEN | DRAFT, keywords: [] };
    tx.add(newEmail(summary, { id: emailId, blob: row.blob, receivedAt: tx.now, ...flags }), [draftsId], {
      isNew: false,
    });
    return;
  }
  tx.place([copy], draftsId);
  if (tx.folders.uid(sentId, copy) !== 0) tx.unplace([copy], sentId);
  tx.setFlags([copy], tx.flags(copy) | DRAFT);
}
