// What lists show of a message, taken from its index.
import type { MessageIndex, MessageSummary } from './message-index.js';

export function summarize(index: MessageIndex): MessageSummary {
  const { envelope } = index;
  const from = envelope.from.find((mailbox) => mailbox.address !== '') ?? envelope.sender[0] ?? envelope.from[0];
  return {
    messageId: envelope.messageId,
    inReplyTo: envelope.inReplyTo,
    references: envelope.references,
    fromAddress: from?.address ?? '',
    fromName: from?.name ?? '',
    subject: envelope.subject,
    preview: index.preview,
    size: index.size,
    hasAttachments: index.attachments.length > 0,
    attachmentCount: index.attachments.length,
  };
}
