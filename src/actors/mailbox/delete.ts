// Deleting emails for good, by id or, in held mailboxes, by age.
import type { Outcome, Payload } from '../runtime/protocol.js';
import { found } from './flags.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxTransaction } from './transaction.js';

const MAX_EXPIRED = 1_000;

export function remove(
  draft: MailboxTransaction,
  { emailIds }: Payload<MailboxProtocol, 'remove'>,
): Outcome<MailboxProtocol, 'remove'> {
  const { missing, slots } = found(draft, emailIds);
  removeSlots(draft, slots);
  return { reply: { removed: slots.length, missing } };
}

export function expire(
  draft: MailboxTransaction,
  { receivedBefore }: Payload<MailboxProtocol, 'expire'>,
): Outcome<MailboxProtocol, 'expire'> {
  if (!draft.state.held) return { refusal: 'notHeld' };
  const { state } = draft;
  const old = [state.folderOf('inbox'), state.folderOf('junk')].flatMap((folder) =>
    folder.before(receivedBefore, MAX_EXPIRED),
  );
  const slots = [...new Set(old)].slice(0, MAX_EXPIRED);
  const present = slots.filter((slot) => draft.find(draft.state.emails.id(slot)) >= 0);
  removeSlots(draft, present);
  return { reply: { removed: present.length } };
}

function removeSlots(draft: MailboxTransaction, slots: readonly number[]): void {
  if (slots.length === 0) return;
  draft.begin();
  for (const slot of slots) draft.remove(slot);
  draft.emit('UnreadCountChanged', { unread: draft.folders.rowOf('inbox').unread });
}
