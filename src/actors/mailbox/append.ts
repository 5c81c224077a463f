// Append: a message that a client brings becomes an email in a folder of its choice. No filter looks at it. A mail program
// that has sent a message puts a copy into Sent itself; there the copy that the server has placed is the reply
// (docs/interface/planned.md, "IMAP and POP3").
import { isUuid } from '../../mail/ids.js';
import type { FolderRow } from '../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import { flagsNamed } from './flags.js';
import type { MailboxProtocol } from './protocol.js';
import { folderNamed } from './selection.js';
import type { MailboxTransaction } from './transaction.js';

const DAY_MS = 86_400_000;

export function append(
  tx: MailboxTransaction,
  { folderId, blob, summary, receivedAt, flags: names }: Payload<MailboxProtocol, 'append'>,
): Outcome<MailboxProtocol, 'append'> {
  const folder = folderNamed(tx, folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  const named = flagsNamed(tx, names, true);
  if ('refusal' in named) return named;
  const { uidValidity } = folder;
  const copy = folder.role === 'sent' ? copyIn(tx, folder, summary.messageId) : undefined;
  if (copy !== undefined) {
    tx.begin();
    tx.discard(blob);
    return { reply: { emailId: tx.id(copy), uid: tx.folders.uid(folder.id, copy), uidValidity } };
  }
  tx.begin();
  const id = tx.newId();
  const { bits: flags, keywords, isDeleted } = named;
  const email = { ...summary, id, blob, threadId: id, receivedAt, flags, keywords };
  const [placement] = tx.add(email, [folder.id], { isNew: folder.role === 'inbox' });
  if (isDeleted) tx.setDeleted(tx.find(id), folder.id, true);
  tx.announceUnread();
  return { reply: { emailId: id, uid: placement!.uid, uidValidity } };
}

/** The newest email of the Message-Id that is in the folder and was received within a day. */
function copyIn(tx: MailboxTransaction, folder: FolderRow, messageId: string | null): number | undefined {
  if (messageId === null) return undefined;
  const { copies } = tx.prefetched;
  const stored = copies.get(messageId);
  if (stored === undefined) throw tx.prefetched.fault ?? new Error(`copies of ${messageId} were not read`);
  for (const id of [...tx.addedWith(messageId), ...stored]) {
    const slot = isUuid(id) ? tx.find(id) : -1;
    if (slot < 0 || tx.folders.uid(folder.id, slot) === 0) continue;
    if (tx.receivedAt(slot) > tx.now - DAY_MS) return slot;
  }
  return undefined;
}
