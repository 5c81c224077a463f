// RENAME of the inbox (RFC 9051 §6.3.6): the inbox stays, and its emails move to a new label.
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { arrivalOf, arrive } from './arriving.js';
import { addFolder, LABEL_COLOR } from './folders.js';
import { ALL_UIDS } from './placing.js';
import { MOST_EMAILS } from './selection.js';

export function renameInbox(
  tx: MailboxTransaction,
  { name, folderId }: Payload<MailboxProtocol, 'renameInbox'>,
): Outcome<MailboxProtocol, 'renameInbox'> {
  const inbox = tx.folders.rowOf('inbox');
  const slots = tx.folders.slotsOfUids(inbox.id, ALL_UIDS);
  const target =
    folderId === undefined
      ? addFolder(tx, { role: 'label', name, color: LABEL_COLOR, sortOrder: 0 })
      : tx.folders.label(folderId);
  if (target === undefined) return { refusal: 'noSuchFolder' };
  if ('refusal' in target) return target;
  const arrival = arrivalOf(tx, slots.slice(0, MOST_EMAILS), target.id, 'duplicated', inbox.id);
  const { slots: moving } = arrival;
  if (folderId !== undefined && moving.length > 0) tx.begin();
  const isMarked = moving.map((slot) => tx.isDeleted(slot, inbox.id));
  const arrived = arrive(tx, arrival);
  tx.setDeleted(
    arrived.filter((_, i) => isMarked[i]),
    target.id,
    true,
  );
  tx.unplace(moving, inbox.id);
  tx.announceUnread();
  return { reply: { folderId: target.id, isComplete: moving.length === slots.length } };
}
