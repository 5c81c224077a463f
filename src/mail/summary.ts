// Stand-in until the merge: the mail engineer's file of this path wins.
import type { MessageIndex, MessageSummary } from './message-index.js';

export function summarize(index: MessageIndex): MessageSummary {
  const from = index.envelope.from[0];
  return {
    messageId: index.envelope.messageId,
    inReplyTo: index.envelope.inReplyTo,
    references: index.envelope.references,
    fromAddress: from?.address ?? '',
    fromName: from?.name ?? '',
    subject: index.envelope.subject,
    preview: index.preview,
    size: index.size,
    hasAttachments: index.attachments.length > 0,
    attachmentCount: index.attachments.length,
  };
}
