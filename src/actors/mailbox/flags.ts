// Marking emails read and unread.
import { SEEN } from '../../mail/flags.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxTransaction } from './transaction.js';

export function setRead(
  tx: MailboxTransaction,
  { emailIds, isRead }: Payload<MailboxProtocol, 'setRead'>,
): Outcome<MailboxProtocol, 'setRead'> {
  const { missing, slots } = found(tx, emailIds);
  const changing = slots.filter((slot) => (tx.flags(slot) & SEEN) !== (isRead ? SEEN : 0));
  if (changing.length === 0) return { reply: { changed: 0, missing } };
  tx.begin();
  for (const slot of changing) tx.setFlags(slot, isRead ? tx.flags(slot) | SEEN : tx.flags(slot) & ~SEEN);
  tx.announceUnread({ always: true });
  return { reply: { changed: changing.length, missing } };
}

/** Slots of the ids that are there, each once, and the ids that are not. */
export function found(tx: MailboxTransaction, emailIds: readonly string[]): { missing: string[]; slots: number[] } {
  const missing: string[] = [];
  const slots = new Set<number>();
  for (const id of emailIds) {
    const slot = tx.find(id);
    if (slot < 0) missing.push(id);
    else slots.add(slot);
  }
  return { missing, slots: [...slots] };
}
