// An email as the mailbox shows it: in lists and in full (email-views.ts makes the values). REST derives its fields from these structs.
import { array, boolean, enums, type Infer, integer, nullable, number, object, optional, string } from 'superstruct';

/** The fields that lists and details share. */
export const emailHead = {
  id: string(),
  fromAddress: string(),
  /** True when the message names no author: the address is the sender of the envelope. */
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
  /** Every folder that holds the email, including labels. */
  folderIds: array(string()),
  labels: array(object({ id: string(), name: string(), color: string() })),
};

const namedAddress = object({ address: string(), displayName: string() });

export const emailListItem = object({
  ...emailHead,
  previewText: string(),
  hasAttachments: boolean(),
  attachmentCount: integer(),
  /** The outbound email whose copy in Sent this is. */
  outboundId: optional(string()),
  /** The draft that this email is the content of. */
  draftId: optional(string()),
  /** The first mailboxes of the To field; only for emails in Sent or Drafts. */
  to: optional(array(namedAddress)),
  /**
   * The emails of a row of a thread, where they are several: the item shows the newest one, and isRead, isFlagged, hasAttachments, folderIds
   * and labels are those of all.
   */
  thread: optional(
    object({
      /** Senders of its first email and of its newest ones, oldest first. */
      senders: array(namedAddress),
      /** How many emails the row has. */
      count: integer(),
      /** The newest ones and the first one, newest first: at most 20 (queries/thread-items.ts). */
      emails: array(object({ id: string(), isRead: boolean(), isFlagged: boolean(), folderIds: array(string()) })),
    }),
  ),
});
export type EmailListItem = Infer<typeof emailListItem>;

const ENCODED = Symbol('encoded');

/** Marks an item that several replies of this node share; it must not be changed. */
export function shared(item: EmailListItem): EmailListItem {
  // The property is not enumerable: copies and other nodes do not get the encoded form.
  Object.defineProperty(item, ENCODED, { value: { text: undefined } });
  return Object.freeze(item);
}

/** Returns the item as the gateway encodes it; a shared item is encoded once. Only one gateway may call this. */
export function encodedOnce(item: EmailListItem, encode: (item: EmailListItem) => string): string {
  const encoded = (item as { readonly [ENCODED]?: { text: string | undefined } })[ENCODED];
  if (encoded === undefined) return encode(item);
  encoded.text ??= encode(item);
  return encoded.text;
}

export const emailDetail = object({
  ...emailHead,
  /** SHA-256 of the raw message; the gateway reads index and bytes itself. */
  blob: string(),
  inReplyTo: nullable(string()),
  references: array(string()),
  /** True when the message begins with trace fields that our MX wrote. */
  hasAuthenticationResults: optional(boolean()),
  /** The recipients of a sent email whom its message need not name, such as Bcc; absent when there are none. */
  blindRecipients: optional(array(object({ address: string(), displayName: nullable(string()) }))),
});
export type EmailDetail = Infer<typeof emailDetail>;

export const emailPage = object({ items: array(emailListItem), totalCount: integer(), unreadCount: integer() });

/** `date`: oldest first; `-date`: newest first, which is the default. */
const SORTS = ['date', '-date', 'from', '-from', 'subject', '-subject', 'size', '-size'] as const;

/** Selects the emails of a folder that a list shows. */
export const listing = {
  /** 1-based. */
  page: integer(),
  pageSize: integer(),
  isRead: optional(boolean()),
  isFlagged: optional(boolean()),
  sort: optional(enums(SORTS)),
};
