// The mailbox actor's protocol: what may be asked of one account's mail and what it tells the world.
import {
  array,
  boolean,
  enums,
  type Infer,
  integer,
  nullable,
  number,
  object,
  type as open,
  optional,
  string,
} from 'superstruct';
import { command, type EventOf, protocol, query } from '../runtime/protocol.js';
import type { Refs } from '../runtime/ref.js';

/** mail/message-index MessageSummary, as it crosses nodes. */
const summary = open({
  messageId: nullable(string()),
  inReplyTo: nullable(string()),
  references: array(string()),
  fromAddress: string(),
  fromName: string(),
  subject: string(),
  preview: string(),
  size: integer(),
  hasAttachments: boolean(),
  attachmentCount: integer(),
});

const label = object({ id: string(), name: string(), color: string() });

const listItem = object({
  id: string(),
  fromAddress: string(),
  fromDisplayName: string(),
  subject: string(),
  previewText: string(),
  /** ms since the epoch. */
  receivedAt: number(),
  isRead: boolean(),
  hasAttachments: boolean(),
  attachmentCount: integer(),
  threadId: string(),
  messageId: nullable(string()),
  sizeBytes: integer(),
  labels: array(label),
});
export type EmailListItem = Infer<typeof listItem>;

const detail = object({
  id: string(),
  /** SHA-256 of the raw message; the gateway reads index and bytes itself. */
  blob: string(),
  fromAddress: string(),
  fromDisplayName: string(),
  subject: string(),
  receivedAt: number(),
  isRead: boolean(),
  threadId: string(),
  messageId: nullable(string()),
  inReplyTo: nullable(string()),
  references: array(string()),
  sizeBytes: integer(),
  labels: array(label),
});
export type EmailDetail = Infer<typeof detail>;

/** Times of search and export: ms since the epoch, both ends included. */
const period = { from: optional(number()), to: optional(number()) };

const exported = object({
  id: string(),
  blob: string(),
  fromAddress: string(),
  receivedAt: number(),
  size: integer(),
});
export type ExportedEmail = Infer<typeof exported>;

/** Where an export goes on: after an email, among those that were there when it began. */
const exportPlace = object({
  receivedAt: number(),
  id: string(),
  /** Newest email of the mailbox when the export began. */
  newestId: string(),
});
export type ExportPlace = Infer<typeof exportPlace>;

export const mailboxProtocol = protocol('mailbox', {
  operations: {
    /** Places accepted mail in the inbox. Repeating it with the same `inboundId` places nothing again. */
    deliver: command({
      payload: object({ inboundId: string(), blob: string(), receivedAt: number(), summary }),
      /** null when the delivery had already been made. */
      reply: object({ emailId: nullable(string()) }),
      onRepeat: 'harmless',
    }),
    setRead: command({
      payload: object({ emailIds: array(string()), isRead: boolean() }),
      /** `changed`: had the other state before; `missing`: no email of this account. */
      reply: object({ changed: integer(), missing: array(string()) }),
      onRepeat: 'remembered',
    }),
    /** Deletes for good: every placement and the email. */
    remove: command({
      payload: object({ emailIds: array(string()) }),
      reply: object({ removed: integer(), missing: array(string()) }),
      onRepeat: 'remembered',
    }),
    /** Deletes what was received before a time, at most 1,000 emails a call: held mailboxes only. */
    expire: command({
      payload: object({ receivedBefore: number() }),
      reply: object({ removed: integer() }),
      onRepeat: 'harmless',
      refusals: ['notHeld'],
    }),
    list: query({
      payload: object({
        folder: enums(['inbox', 'sent']),
        /** 1-based. */
        page: integer(),
        pageSize: integer(),
        /** Only emails whose sender address contains this, in any case. */
        fromAddress: optional(string()),
      }),
      reply: object({ items: array(listItem), totalCount: integer(), unreadCount: integer() }),
    }),
    /** Newest first, over everything but what is only in trash or junk; counts are of all that match. */
    search: query({
      payload: object({
        /** mail/search-text SearchTerm; none: any text. */
        terms: array(object({ words: array(string()), prefix: boolean() })),
        ...period,
        hasAttachments: optional(boolean()),
        isRead: optional(boolean()),
        page: integer(),
        pageSize: integer(),
      }),
      reply: object({ items: array(listItem), totalCount: integer(), unreadCount: integer() }),
    }),
    /** How many emails of a period an export holds. */
    exportCount: query({ payload: object(period), reply: object({ count: integer() }) }),
    /** The emails of an export, oldest first, page by page: the next begins at `place`, null after the last. */
    exportPage: query({
      payload: object({ ...period, place: nullable(exportPlace), limit: integer() }),
      reply: object({ emails: array(exported), place: nullable(exportPlace) }),
    }),
    detail: query({ payload: object({ emailId: string() }), reply: detail, refusals: ['noSuchEmail'] }),
    unreadCount: query({ payload: object({}), reply: object({ unread: integer() }) }),
    /** Distinct senders of what the account sent. */
    sentAddresses: query({ payload: object({}), reply: object({ addresses: array(string()) }) }),
    /** Whether one more message may be delivered: held mailboxes are bounded. */
    acceptance: query({ payload: object({}), reply: object({ held: boolean(), total: integer() }) }),
  },
  events: {
    EmailDelivered: open({
      emailId: string(),
      fromAddress: string(),
      fromDisplayName: string(),
      subject: string(),
      /** ms since the epoch. */
      receivedAt: number(),
      hasAttachments: boolean(),
      isRead: boolean(),
    }),
    EmailReadChanged: open({ emailId: string(), isRead: boolean() }),
    EmailRemoved: open({ emailId: string() }),
    /** Unread emails in the inbox after the change. */
    UnreadCountChanged: open({ unread: integer() }),
  },
});

export type MailboxProtocol = typeof mailboxProtocol;
export type Mailboxes = Refs<MailboxProtocol>;
export type MailboxEvent = EventOf<MailboxProtocol>;
