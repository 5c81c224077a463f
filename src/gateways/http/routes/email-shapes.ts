// What REST shows of emails: the structs, and how the mailbox's replies become them. Strings that a message does not
// have are empty, never null; times are ISO 8601.
import type { Infer } from 'superstruct';
import { optional } from 'superstruct';
import type { EmailListItem, MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Reply } from '../../../actors/runtime/protocol.js';
import { RECIPIENT_TYPES } from '../../../mail/outbound-status.js';
import {
  choice,
  dateParameter,
  flag,
  list,
  pageParameter,
  pageSizeParameter,
  record,
  text,
  timestamp,
  uuid,
  whole,
} from '../fields.js';
import { named } from '../json-schema.js';
import { invalid } from '../problem.js';

/** Of labels. */
export const colorText = () => text({ pattern: '^#[0-9A-Fa-f]{6}$', examples: ['#3b82f6'] });

const labelSummary = named('LabelSummary', record({ id: uuid(), name: text(), color: colorText() }));

const fromIsEnvelopeSender = () =>
  optional(
    flag({
      description: 'Present and true when the message names no author: `fromAddress` is the sender of its envelope',
    }),
  );

const emailItem = named(
  'EmailListItem',
  record({
    id: uuid(),
    fromAddress: text(),
    fromIsEnvelopeSender: fromIsEnvelopeSender(),
    fromDisplayName: text(),
    subject: text(),
    previewText: text({ description: 'The beginning of the text' }),
    receivedAt: timestamp(),
    isRead: flag(),
    hasAttachments: flag(),
    threadId: uuid(),
    labels: list(labelSummary),
    messageId: text(),
    sizeBytes: whole(),
    attachmentCount: whole(),
    outboundId: optional(uuid({ description: 'Of the outbound email that it is the copy in Sent of' })),
  }),
);

export const emailPage = named(
  'EmailPage',
  record({ items: list(emailItem), totalCount: whole(), unreadCount: whole(), page: whole(), pageSize: whole() }),
);

export const attachment = named(
  'Attachment',
  record({
    id: uuid(),
    fileName: text(),
    contentType: text(),
    size: whole(),
    sizeBytes: whole(),
    contentId: optional(text({ description: 'What `cid:` links in the html name it by' })),
  }),
);

export const recipient = named(
  'Recipient',
  record({ id: uuid(), address: text(), displayName: text(), type: choice(...RECIPIENT_TYPES) }),
);

export const emailDetail = named(
  'EmailDetail',
  record({
    id: uuid(),
    fromAddress: text(),
    fromIsEnvelopeSender: fromIsEnvelopeSender(),
    fromDisplayName: text(),
    toAddresses: list(text()),
    ccAddresses: list(text()),
    subject: text(),
    textBody: text({ description: 'Empty when there is none' }),
    htmlBody: text({ description: 'As it was sent: not made safe to show' }),
    receivedAt: timestamp(),
    isRead: flag(),
    threadId: uuid(),
    messageId: text(),
    inReplyTo: text(),
    references: text({ description: 'Message ids, separated by spaces' }),
    attachments: list(attachment),
    labels: list(labelSummary),
    recipients: list(recipient),
    sizeBytes: whole(),
    isPartial: optional(flag({ description: 'Present and true when a limit was hit: the bodies are not whole' })),
  }),
);

/** Query: when an email was received. */
export const period = {
  fromDate: optional(
    dateParameter({ description: 'Received then or later: an ISO 8601 date or date-time, UTC by default' }),
  ),
  toDate: optional(dateParameter({ description: 'Received then or earlier; a date without a time includes that day' })),
};

/** Query: one folder. */
export const folderParameter = optional(
  text({ description: 'Id of a label or folder, or a role: inbox, sent, drafts, archive, trash, junk' }),
);

export function folderOf(folder: string | undefined): { readonly folder?: string } {
  return folder === undefined ? {} : { folder: folder.toLowerCase() };
}

export const noSuchFolder = () => invalid({ folder: ['names no folder of this account'] });

export const paging = { page: pageParameter(), pageSize: pageSizeParameter(20) };

export function pageOf(
  reply: Reply<MailboxProtocol, 'list'>,
  query: { readonly page: number; readonly pageSize: number },
): Infer<typeof emailPage> {
  const { page, pageSize } = query;
  return {
    items: reply.items.map(itemOf),
    totalCount: reply.totalCount,
    unreadCount: reply.unreadCount,
    page,
    pageSize,
  };
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Present where the address is not the author's. */
export const markOf = ({ fromIsEnvelopeSender: mark }: { readonly fromIsEnvelopeSender?: boolean | undefined }) =>
  mark === true ? { fromIsEnvelopeSender: true } : {};

function itemOf(item: EmailListItem): Infer<typeof emailItem> {
  return {
    id: item.id,
    fromAddress: item.fromAddress,
    ...markOf(item),
    fromDisplayName: item.fromDisplayName,
    subject: item.subject,
    previewText: item.previewText,
    receivedAt: isoTime(item.receivedAt),
    isRead: item.isRead,
    hasAttachments: item.hasAttachments,
    threadId: item.threadId,
    labels: item.labels,
    messageId: item.messageId ?? '',
    sizeBytes: item.sizeBytes,
    attachmentCount: item.attachmentCount,
    ...(item.outboundId !== undefined && { outboundId: item.outboundId }),
  };
}
