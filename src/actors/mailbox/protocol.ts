// The mailbox actor's protocol: what may be asked of one account's mail and what it publishes.
import {
  array,
  boolean,
  type Infer,
  integer,
  nullable,
  number,
  object,
  optional,
  record,
  type Struct,
  string,
  unknown,
} from 'superstruct';
import { messageSummary } from '../../mail/summary.js';
import type { LoggedChange } from '../../store/changes.js';
import { command, type EventOf, protocol, query, type Reply } from '../runtime/protocol.js';
import type { Refs } from '../runtime/ref.js';
import { emailDetail, emailPage, listing } from './email-view.js';
import { folderContentOperations } from './folder-content-operations.js';
import { deleted, folderOperations } from './folder-operations.js';
import { listOperations, period } from './list-operations.js';
import { maildropOperations } from './maildrop-operations.js';
import { metadataOperations } from './metadata-operations.js';
import { outboundOperations } from './outbound/protocol.js';
import { placementOperations } from './placement-operations.js';

const label = object({
  id: string(),
  name: string(),
  color: string(),
  sortOrder: integer(),
  emailCount: integer(),
  /** ms since the epoch. */
  createdAt: number(),
});
export type Label = Infer<typeof label>;

const labelShape = { name: string(), color: string(), sortOrder: integer() };

/** What the user sets of a filter. Conditions that are null are not set; names and words are of a valid form and length. */
const rule = {
  name: string(),
  isEnabled: boolean(),
  priority: integer(),
  fromAddressContains: nullable(string()),
  subjectContains: nullable(string()),
  bodyContains: nullable(string()),
  hasAttachments: nullable(boolean()),
  markAsRead: nullable(boolean()),
  assignLabelId: nullable(string()),
  delete: nullable(boolean()),
};

const filter = object({
  ...rule,
  id: string(),
  // ms since the epoch.
  createdAt: number(),
  updatedAt: number(),
  lastAppliedAt: nullable(number()),
  timesApplied: integer(),
});
export type Filter = Infer<typeof filter>;

const deferred = object({
  emailId: string(),
  blob: string(),
  filters: array(object({ id: string(), bodyContains: string() })),
});

const done = object({});
const exported = object({
  id: string(),
  blob: string(),
  fromAddress: string(),
  receivedAt: number(),
  size: integer(),
});
export type ExportedEmail = Infer<typeof exported>;

/** Where an export goes on: after an email, among those that were there when it began. */
const exportPosition = object({
  receivedAt: number(),
  id: string(),
  /** Newest email of the mailbox when the export began. */
  newestId: string(),
});
export type ExportPosition = Infer<typeof exportPosition>;

export const mailboxProtocol = protocol('mailbox', {
  operations: {
    /** Places accepted mail in the inbox. Repeating it with the same `inboundId` places nothing again. */
    deliver: command({
      payload: object({
        inboundId: string(),
        blob: string(),
        receivedAt: number(),
        summary: messageSummary,
        /** Suspect mail goes to Junk, tells of nothing unread and passes no filter. */
        isJunk: optional(boolean()),
        /** The mail reports that a message was not delivered: the emails that it names by Message-ID are looked for. */
        bounce: optional(
          object({
            messageId: string(),
            recipients: array(object({ addresses: array(string()), statusCode: string(), text: string() })),
            source: object({ remoteAddress: string(), domains: array(string()) }),
          }),
        ),
      }),
      /** null when the delivery had already been made. */
      reply: object({ emailId: nullable(string()) }),
      /** `attemptUnderWay`: the bounce of an email that is being delivered, which is placed after that from its inbound row. */
      refusals: ['attemptUnderWay'],
      onRepeat: 'harmless',
    }),
    /**
     * As `deliver`, of an inline message, which is not stored yet. An owner on another node does not
     * find the inline message, which says what has become of the message.
     */
    deliverInline: command({
      payload: object({ inlineId: string() }),
      reply: object({ isAccepted: boolean() }),
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
    /**
     * Tells of an email that is in the mailbox as if it had just been delivered, filters included. One that deletes ends the placements
     * that were made with the email; `isKept` is false when no other shows it.
     */
    announce: command({
      payload: object({ emailId: string() }),
      reply: object({ isKept: boolean() }),
      refusals: ['noSuchEmail'],
      onRepeat: 'remembered',
    }),
    /** Filters that waited for the body of an email: those of `filterIds` match it, and no other does. */
    applyDeferred: command({
      payload: object({ emailId: string(), filterIds: array(string()) }),
      reply: object({ applied: integer() }),
      onRepeat: 'harmless',
    }),
    ...placementOperations,
    ...folderOperations,
    ...folderContentOperations,
    ...metadataOperations,
    ...maildropOperations,
    createLabel: command({
      payload: object(labelShape),
      reply: label,
      refusals: ['nameTaken', 'nameTooLong', 'tooMany'],
      onRepeat: 'remembered',
    }),
    updateLabel: command({
      payload: object({ labelId: string(), ...labelShape }),
      reply: done,
      refusals: ['noSuchLabel', 'nameTaken', 'nameTooLong'],
      onRepeat: 'remembered',
    }),
    /** Emails that had no other place are in Archive afterwards; filters no longer assign it. */
    deleteLabel: command({
      payload: object({ labelId: string() }),
      reply: deleted,
      refusals: ['noSuchLabel'],
      onRepeat: 'remembered',
    }),
    /** Nothing happens when the email has the label already. */
    assignLabel: command({
      payload: object({ emailId: string(), labelId: string() }),
      reply: done,
      refusals: ['noSuchEmail', 'noSuchLabel'],
      onRepeat: 'remembered',
    }),
    /** Nothing happens when the email does not have the label; one that had no other place goes to Archive. */
    unassignLabel: command({
      payload: object({ emailId: string(), labelId: string() }),
      reply: done,
      refusals: ['noSuchEmail', 'noSuchLabel'],
      onRepeat: 'remembered',
    }),
    createFilter: command({
      payload: object({ rule: object(rule) }),
      reply: filter,
      refusals: ['noSuchLabel', 'tooMany'],
      onRepeat: 'remembered',
    }),
    updateFilter: command({
      payload: object({ filterId: string(), rule: object(rule) }),
      reply: done,
      refusals: ['noSuchFilter', 'noSuchLabel'],
      onRepeat: 'remembered',
    }),
    deleteFilter: command({
      payload: object({ filterId: string() }),
      reply: done,
      refusals: ['noSuchFilter'],
      onRepeat: 'remembered',
    }),
    /** Values in place of the defaults, by name. The mailbox keeps them and does not know what they mean. */
    choosePreferences: command({
      payload: object({ chosen: record(string(), unknown()) }),
      reply: done,
      onRepeat: 'remembered',
    }),
    /** By sortOrder, then name. */
    labels: query({ payload: object({}), reply: object({ labels: array(label) }) }),
    labelEmails: query({
      payload: object({ labelId: string(), ...listing }),
      reply: emailPage,
      refusals: ['noSuchLabel'],
    }),
    /** In the order of evaluation. */
    filters: query({ payload: object({}), reply: object({ filters: array(filter) }) }),
    /** Emails whose filters wait for their body, at most 100, and what these filters look for in it. */
    deferredFilters: query({
      payload: object({}),
      reply: object({ emails: array(deferred) }),
    }),
    /**
     * Which of the newest `limit` emails of the inbox the filter matches, newest first; nothing is done to them.
     * `untestedCount`: those whose body could not be read in time.
     */
    testFilter: query({
      payload: object({ filterId: string(), limit: integer() }),
      reply: object({
        matchCount: integer(),
        matchedEmailIds: array(string()),
        untestedCount: integer(),
      }),
      refusals: ['noSuchFilter'],
    }),
    /** The newest 500 emails of the thread, or a page that begins with the oldest; oldest first. */
    thread: query({
      payload: object({ threadId: string(), page: optional(integer()), pageSize: optional(integer()) }),
      /** `total`: emails of the whole thread. */
      reply: object({ emails: array(emailDetail), total: integer() }),
      refusals: ['noSuchThread'],
    }),
    ...listOperations,
    /** How many emails of a period an export holds, of a folder (id or role) or of all but what is only in trash or junk. */
    exportCount: query({
      payload: object({ ...period, folder: optional(string()) }),
      reply: object({ count: integer() }),
      refusals: ['noSuchFolder'],
    }),
    /** The emails of an export, oldest first, page by page: the next begins at `place`, null after the last. */
    exportPage: query({
      payload: object({ ...period, folder: optional(string()), place: nullable(exportPosition), limit: integer() }),
      reply: object({ emails: array(exported), place: nullable(exportPosition) }),
    }),
    detail: query({ payload: object({ emailId: string() }), reply: emailDetail, refusals: ['noSuchEmail'] }),
    unreadCount: query({ payload: object({}), reply: object({ unread: integer() }) }),
    /** Distinct senders of what the account sent. */
    sentAddresses: query({ payload: object({}), reply: object({ addresses: array(string()) }) }),
    /** Whether one more message may be delivered: held mailboxes are bounded. */
    acceptance: query({ payload: object({}), reply: object({ held: boolean(), total: integer() }) }),
    ...outboundOperations,
  },
  // Types alone: the records are made by the transaction.
  events: {} as { readonly [T in LoggedChange['type']]: Struct<Extract<LoggedChange, { type: T }>['payload'], null> },
});

/** What `deliverInline` comes to: as `deliver`. */
export type InlineDelivery = Reply<MailboxProtocol, 'deliver'>;
/** What `appendInline` comes to: as `append`. */
export type InlineAppend = Reply<MailboxProtocol, 'append'>;
/** What `enqueueInline` comes to: as `enqueue`. */
export type InlineEnqueue = Reply<MailboxProtocol, 'enqueue'>;

/** Which emails a record is about. */
export { flaggedIn, placementsIn, removedIn } from '../../store/changes.js';
export {
  type EmailDetail,
  type EmailListItem,
  emailHead,
  emailListItem,
  encodedOnce,
} from './email-view.js';
export type { Folder } from './folder-operations.js';
export type { ListQuery, ListState } from './list-operations.js';

export type MailboxProtocol = typeof mailboxProtocol;
export type Mailboxes = Refs<MailboxProtocol>;
/** A record of the log, as it is published. */
export type MailboxEvent = EventOf<MailboxProtocol>;
