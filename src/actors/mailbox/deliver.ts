// Delivery: accepted mail becomes an email in the inbox.
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { MailboxDraft } from './draft.js';
import type { MailboxProtocol } from './protocol.js';

export function deliver(
  draft: MailboxDraft,
  { inboundId, blob, receivedAt, summary }: Payload<MailboxProtocol, 'deliver'>,
): Outcome<MailboxProtocol, 'deliver'> {
  if (draft.isConsumed(inboundId)) return { reply: { emailId: null } };
  const inbox = draft.state.folderOf('inbox');
  const id = draft.newId();
  draft.begin();
  draft.consume(inboundId);
  // A thread is named after its first email.
  draft.add({ ...summary, id, blob, threadId: id, receivedAt, flags: 0, keywords: [] }, inbox);
  draft.emit('EmailDelivered', {
    emailId: id,
    fromAddress: summary.fromAddress,
    fromDisplayName: summary.fromName,
    subject: summary.subject,
    receivedAt,
    hasAttachments: summary.hasAttachments,
    isRead: false,
  });
  draft.emit('UnreadCountChanged', { unread: draft.unread(inbox) });
  return { reply: { emailId: id } };
}
