// Deletes emails for good, by id or, in unclaimed mailboxes, by age.
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { folderNamed, found } from './selection.js';

const MAX_EXPIRED = 1_000;

export function remove(
  tx: MailboxTransaction,
  { emailIds, inFolders }: Payload<MailboxProtocol, 'remove'>,
): Outcome<MailboxProtocol, 'remove'> {
  const { missing, slots: all } = found(tx, emailIds);
  const holders = inFolders?.flatMap((name) => folderNamed(tx, name)?.id ?? []);
  const slots =
    holders === undefined ? all : all.filter((slot) => holders.some((id) => tx.folders.uid(id, slot) !== 0));
  removeSlots(tx, slots);
  return { reply: { removed: slots.length, missing } };
}

export function expire(
  tx: MailboxTransaction,
  { receivedBefore }: Payload<MailboxProtocol, 'expire'>,
): Outcome<MailboxProtocol, 'expire'> {
  if (!tx.state.isUnclaimed) return { refusal: 'notUnclaimed' };
  const { state } = tx;
  const old = [state.folderOf('inbox'), state.folderOf('junk')].flatMap((folder) =>
    folder.before(receivedBefore, MAX_EXPIRED),
  );
  const slots = [...new Set(old)].slice(0, MAX_EXPIRED);
  const present = slots.filter((slot) => tx.find(tx.state.emails.id(slot)) >= 0);
  removeSlots(tx, present);
  return { reply: { removed: present.length } };
}

function removeSlots(tx: MailboxTransaction, slots: readonly number[]): void {
  if (slots.length === 0) return;
  tx.begin();
  tx.remove(slots);
  tx.announceUnread({ always: true });
}
