// Deletes emails for good: by id, by id out of some folders, or, in unclaimed mailboxes, by age.
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { folderNamed, found } from './selection.js';

const MAX_EXPIRED = 1_000;

export function remove(
  tx: MailboxTransaction,
  { emailIds }: Payload<MailboxProtocol, 'remove'>,
): Outcome<MailboxProtocol, 'remove'> {
  const { missing, slots } = found(tx, emailIds);
  changing(tx, slots, () => tx.remove(slots));
  return { reply: { removed: slots.length, missing } };
}

/** Placements with `\Deleted` wait to be expunged: such a placement in one of the folders is not enough, and one elsewhere keeps nothing. */
export function removeFrom(
  tx: MailboxTransaction,
  { emailIds, inFolders }: Payload<MailboxProtocol, 'removeFrom'>,
): Outcome<MailboxProtocol, 'removeFrom'> {
  const { missing, slots: all } = found(tx, emailIds);
  const named = new Set(inFolders.flatMap((name) => folderNamed(tx, name)?.id ?? []));
  const shownIn = (slot: number) => tx.folders.holding(slot).filter((id) => !tx.folders.isDeleted(id, slot));
  const slots = all.filter((slot) => shownIn(slot).some((id) => named.has(id)));
  const isKept = (slot: number) => shownIn(slot).some((id) => !named.has(id));
  const [kept, removed] = [slots.filter(isKept), slots.filter((slot) => !isKept(slot))];
  const leaving = [...named].map((id) => [id, kept.filter((slot) => tx.folders.uid(id, slot) !== 0)] as const);
  changing(tx, slots, () => {
    for (const [id, left] of leaving) tx.unplace(left, id);
    tx.remove(removed);
  });
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
  changing(tx, present, () => tx.remove(present));
  return { reply: { removed: present.length } };
}

function changing(tx: MailboxTransaction, slots: readonly number[], change: () => void): void {
  if (slots.length === 0) return;
  tx.begin();
  change();
  tx.announceUnread({ always: true });
}
