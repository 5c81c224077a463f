// Copies of outbound mail in Sent: one with every email that is queued. The copy of an email that its sender cancels before its
// release becomes a draft again.
import { DRAFT, SEEN } from '../../../mail/flags.js';
import type { MessageSummary } from '../../../mail/summary.js';
import type { OutboundRow } from '../../../store/outbound.js';
import { put } from '../arriving.js';
import { newEmail } from '../new-email.js';
import type { MailboxTransaction } from '../transaction.js';
import { MOST_DRAFTS } from './draft-emails.js';
import { newDraft } from './draft-rows.js';

/** What an email takes over from the one whose place it takes. */
interface Kept {
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly labels: readonly string[];
}

const READ: Kept = { flags: SEEN, keywords: [], labels: [] };

/** Returns the id of the copy. */
export function placeInSent(tx: MailboxTransaction, blob: string, summary: MessageSummary, kept = READ): string {
  const id = tx.newId();
  const { flags, keywords, labels } = kept;
  const copy = newEmail(summary, { id, blob, receivedAt: tx.now, flags, keywords });
  tx.add(copy, [tx.folders.rowOf('sent').id, ...labels], { isNew: false });
  return id;
}

/**
 * Takes the email of an outbound email out of Drafts or Sent, and with its labels out of the mailbox unless it is in another
 * folder. Returns what another email takes over; undefined when there is none in that folder.
 */
export function takeOut(tx: MailboxTransaction, { emailId }: OutboundRow, role: 'drafts' | 'sent'): Kept | undefined {
  const slot = emailId === null ? -1 : tx.find(emailId);
  const folderId = tx.folders.rowOf(role).id;
  if (slot < 0 || tx.folders.uid(folderId, slot) === 0) return undefined;
  const others = tx.folders.holding(slot).filter((id) => id !== folderId);
  const labels = others.filter((id) => tx.folders.label(id) !== undefined);
  const taken = { flags: tx.flags(slot), keywords: tx.keywords(slot), labels };
  if (labels.length < others.length) tx.unplace([slot], folderId);
  else tx.remove([slot]);
  return taken;
}

/**
 * Moves the copy of an email to Drafts, where it stands for a new draft with the recipients of the email. Returns the id of the
 * draft; undefined when the copy was deleted, or the account has as many drafts as it may have.
 */
export function returnToDrafts(tx: MailboxTransaction, row: OutboundRow): string | undefined {
  const { emailId } = row;
  const slot = emailId === null ? -1 : tx.find(emailId);
  if (emailId === null || slot < 0) return undefined;
  // A mail program may have put the copy into Drafts.
  const draftId = tx.outbound.drafts.draftOf(emailId) ?? newDraftOf(tx, { ...row, emailId });
  if (draftId === undefined) return undefined;
  const [draftsId, sentId] = [tx.folders.rowOf('drafts').id, tx.folders.rowOf('sent').id];
  put(tx, slot, draftsId);
  if (tx.folders.uid(sentId, slot) !== 0) tx.unplace([slot], sentId);
  tx.setFlags([slot], tx.flags(slot) | DRAFT);
  return draftId;
}

/** Its bodies are in its message. */
function newDraftOf(tx: MailboxTransaction, row: OutboundRow): string | undefined {
  if (tx.outbound.drafts.size >= MOST_DRAFTS) return undefined;
  const { emailId, blob, sender, subject, inReplyTo, references, size } = row;
  const state = { status: 'Pending', deliveredAt: null, lastError: null, statusCode: null } as const;
  const recipients = row.recipients.map((recipient) => ({ ...recipient, ...state, id: tx.otherId() }));
  const id = tx.otherId();
  const draft = { ...newDraft(id, tx.now), emailId, blob, sender, subject, inReplyTo, references, size, recipients };
  // The draft names its email before the email is placed (draft-rows.ts).
  tx.outbound.put(draft, undefined, { recipients: 'all' });
  return id;
}
