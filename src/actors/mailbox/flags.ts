// Marking emails read and unread.
import { SEEN } from '../../mail/flags.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxTransaction } from './transaction.js';

export function setRead(
  draft: MailboxTransaction,
  { emailIds, isRead }: Payload<MailboxProtocol, 'setRead'>,
): Outcome<MailboxProtocol, 'setRead'> {
  const { missing, slots } = found(draft, emailIds);
  const changing = slots.filter((slot) => (draft.flags(slot) & SEEN) !== (isRead ? SEEN : 0));
  if (changing.length === 0) return { reply: { changed: 0, missing } };
  draft.begin();
  for (const slot of changing) {
    draft.setFlags(slot, isRead ? draft.flags(slot) | SEEN : draft.flags(slot) & ~SEEN);
    draft.emit('EmailReadChanged', { emailId: draft.state.emails.id(slot), isRead });
  }
  draft.emit('UnreadCountChanged', { unread: draft.folders.rowOf('inbox').unread });
  return { reply: { changed: changing.length, missing } };
}

/** Slots of the ids that are there, each once, and the ids that are not. */
export function found(draft: MailboxTransaction, emailIds: readonly string[]): { missing: string[]; slots: number[] } {
  const missing: string[] = [];
  const slots = new Set<number>();
  for (const id of emailIds) {
    const slot = draft.find(id);
    if (slot < 0) missing.push(id);
    else slots.add(slot);
  }
  return { missing, slots: [...slots] };
}
