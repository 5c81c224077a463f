// An email as the mailbox shows it: in lists and in full. REST shows every field of a list item; what both shapes have in
// common stands here once.
import { array, boolean, enums, type Infer, integer, nullable, number, object, optional, string } from 'superstruct';

const head = {
  id: string(),
  fromAddress: string(),
  /** True when the message names no author: the address is the sender of its envelope. */
  fromIsEnvelopeSender: optional(boolean()),
  fromDisplayName: string(),
  subject: string(),
  /** ms since the epoch. */
  receivedAt: number(),
  isRead: boolean(),
  isFlagged: boolean(),
  isAnswered: boolean(),
  threadId: string(),
  messageId: nullable(string()),
  sizeBytes: integer(),
  /** Of every folder that holds it, labels included. */
  folderIds: array(string()),
  labels: array(object({ id: string(), name: string(), color: string() })),
};

const listItem = object({
  ...head,
  previewText: string(),
  hasAttachments: boolean(),
  attachmentCount: integer(),
  /** Of what it is the copy in Sent. */
  outboundId: optional(string()),
});
export type EmailListItem = Infer<typeof listItem>;

export const emailDetail = object({
  ...head,
  /** SHA-256 of the raw message; the gateway reads index and bytes itself. */
  blob: string(),
  inReplyTo: nullable(string()),
  references: array(string()),
});
export type EmailDetail = Infer<typeof emailDetail>;

export type EmailHead = Pick<EmailListItem, keyof typeof head>;

export const emailPage = object({ items: array(listItem), totalCount: integer(), unreadCount: integer() });

/** `date` is the oldest first, `-date` the newest first, which is the default. */
export const SORTS = ['date', '-date', 'from', '-from', 'subject', '-subject', 'size', '-size'] as const;

/** Which emails of a folder a list shows. */
export const listing = {
  /** 1-based. */
  page: integer(),
  pageSize: integer(),
  isRead: optional(boolean()),
  isFlagged: optional(boolean()),
  sort: optional(enums(SORTS)),
};
