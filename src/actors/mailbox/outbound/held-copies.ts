// The copies of mail that was forwarded without one (docs/decisions/0097): the row of the due message holds the copy until the outbound
// email is final. It is placed where the filters have put the mail, when that fails.
import type { CopyPlacing, DueMail } from '../../../store/mailbox-rows.js';
import { keptFlags } from '../commands/flags.js';
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
export function placeCopy(tx: MailboxTransaction, { copy, blob, receivedAt, placing }: DueMail): void {
  if (copy === null) return;
  const { bits: flags, keywords } = keptFlags(tx, new Set(placing?.flags));
  const email = newEmail(copy, { id: tx.newId(), blob, receivedAt, flags, keywords });
  const { folderIds, isNew } = foldersOf(tx, placing);
  tx.add(email, folderIds, { isNew });
  tx.announceUnread();
}

/** Folders and labels may have been deleted since. */
function foldersOf(tx: MailboxTransaction, placing: CopyPlacing | undefined) {
  const existing = (ids: readonly string[] = []) => ids.filter((id) => tx.folders.row(id) !== undefined);
  const chosen = existing(placing?.folderIds);
  const folders = chosen.length > 0 ? chosen : [tx.folders.rowOf('inbox').id];
  const isNew = !folders.every((id) => ['trash', 'junk'].includes(tx.folders.row(id)!.role));
  return { folderIds: [...new Set([...folders, ...existing(placing?.labelIds)])], isNew };
}
