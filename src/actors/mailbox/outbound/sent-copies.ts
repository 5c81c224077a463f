// Copies of outbound mail in Sent: one with every email that is queued. The copy of an email that its sender cancels before its
// release becomes a draft again.

import type { Step } from '../../../machines/outbound-email/step.js';
import { DRAFT, SEEN } from '../../../mail/flags.js';
import type { MessageSummary } from '../../../mail/summary.js';
import type { EmailOrigin } from '../../../store/mailbox-rows.js';
import type { OutboundRow } from '../../../store/outbound.js';
import { newEmail } from '../new-email.js';
import type { MailboxTransaction } from '../transaction.js';
import { advance } from './step.js';

/** What an email takes over from the one whose place it takes. */
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
 * Takes the email of an outbound email out of Drafts or Sent, and with its labels out of the mailbox unless it is in another
 * folder. Returns what another email takes over; undefined when there is none in that folder.
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

/** Labels of the email that stands for a draft, which go on to the copy in Sent. */
export function labelsOfDraft(tx: MailboxTransaction, { emailId }: OutboundRow): readonly string[] {
  const slot = tx.find(emailId);
  return slot < 0 ? [] : labelsOf(tx, slot);
}

const labelsOf = (tx: MailboxTransaction, slot: number): string[] =>
  tx.folders.holding(slot).filter((id) => tx.folders.label(id) !== undefined);

/**
 * Makes an email the draft again that it was, or could have been: with its id and its bodies. `next`: the step that does so. Its copy
 * moves from Sent to Drafts and stands for the draft; where the copy was deleted, another email does. As many drafts as an account
 * may have do not matter: this is no new one.
 */
export function returnToDrafts(tx: MailboxTransaction, row: OutboundRow, next: Step, summary: MessageSummary): void {
  const [draftsId, sentId] = [tx.folders.rowOf('drafts').id, tx.folders.rowOf('sent').id];
  const copy = tx.find(row.emailId);
  // A mail program has put the copy into Drafts, where it stands for another draft.
  if (copy >= 0 && tx.folders.uid(draftsId, copy) !== 0) tx.unplace([copy], draftsId);
  const emailId = copy >= 0 ? row.emailId : tx.newId();
  const updatedAt = Math.max(tx.now, row.updatedAt + 1);
  const parts = { before: row, recipients: 'all' as const, content: undefined, summary };
  // The draft names its email before the email is placed (draft-rows.ts).
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
