// The copies of mail that was forwarded without one (docs/decisions/0097): the row of the due message holds the copy until the outbound
// email is final. It is placed in the inbox when that fails.
import type { DueMail } from '../../../store/mailbox-rows.js';
import { newEmail } from '../commands/new-email.js';
import type { MailboxTransaction } from '../state/transaction.js';

/** The row has the id of the outbound email. */
export function endHeldCopy(tx: MailboxTransaction, id: string, status: 'Sent' | 'Failed'): void {
  const due = tx.dueMail.get(id);
  if (due?.isQueued !== true) return;
  tx.dueMail.end(due);
  if (status === 'Failed') placeCopy(tx, due);
}

/** Does nothing when the account has a copy already. */
export function placeCopy(tx: MailboxTransaction, { copy, blob, receivedAt }: DueMail): void {
  if (copy === null) return;
  const email = newEmail(copy, { id: tx.newId(), blob, receivedAt, flags: 0, keywords: [] });
  tx.add(email, [tx.folders.rowOf('inbox').id], { isNew: true });
  tx.announceUnread();
}
