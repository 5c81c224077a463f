// A message's summary as it crosses nodes (mail/message-index MessageSummary).
import { array, boolean, integer, nullable, type as open, optional, string } from 'superstruct';

export const messageSummary = open({
  messageId: nullable(string()),
  inReplyTo: nullable(string()),
  references: array(string()),
  fromAddress: string(),
  fromIsEnvelopeSender: optional(boolean()),
  fromName: string(),
  subject: string(),
  preview: string(),
  size: integer(),
  hasAttachments: boolean(),
  attachmentCount: integer(),
});
