// The protocol of the mailbox actor: the operations on one account's mail, and the events that it publishes.
import {
  array,
  boolean,
  enums,
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
import type { LoggedChange } from '../../store/changes/changes.js';
import { type AnyStruct, command, type EventOf, protocol, query } from '../runtime/protocol.js';
import type { Refs } from '../runtime/ref.js';
import { automaticOperations } from './automatic-operations.js';
import { filterRunOperations } from './filters/filter-run-operations.js';
import { folderContentOperations } from './folder-content-operations.js';
import { deleted, folderOperations } from './folder-operations.js';
import { listOperations, period } from './list-operations.js';
import { maildropOperations } from './maildrop-operations.js';
import { withHandle } from './message-handles.js';
import { metadataOperations } from './metadata-operations.js';
import { outboundOperations } from './outbound/protocol.js';
import { placementOperations } from './placement-operations.js';
import { sieveOperations } from './sieve/sieve-operations.js';
import { emailDetail, emailPage, listing } from './view-shapes.js';

/** The members of filters that version 0.2.0 does not know, as they are where they are not set. */
export { FURTHER_ACTIONS, FURTHER_CONDITIONS } from '../../store/mailbox-rows.js';

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

/** Null means that a condition is not set; words have a valid form and length. */
const conditionsOf020 = {
  fromAddressContains: nullable(string()),
  subjectContains: nullable(string()),
  bodyContains: nullable(string()),
  hasAttachments: nullable(boolean()),
};

const furtherConditions = {
  toContains: nullable(string()),
  ccContains: nullable(string()),
  headerName: nullable(string()),
  headerContains: nullable(string()),
  listId: nullable(string()),
  minSizeBytes: nullable(integer()),
  maxSizeBytes: nullable(integer()),
  /** A regular expression that can be compiled. */
  matches: nullable(string()),
};

const furtherActions = {
  /** A folder by id or role. */
  moveToFolderId: nullable(string()),
  /** `\\Flagged` or a keyword. */
  flag: nullable(string()),
  /** A verified address, in canonical form. */
  forwardTo: nullable(string()),
  stop: nullable(boolean()),
};

/** The fields of a filter that the user sets; the name has a valid form and length. */
const ruleOf020 = {
  name: string(),
  isEnabled: boolean(),
  priority: integer(),
  ...conditionsOf020,
  markAsRead: nullable(boolean()),
  assignLabelId: nullable(string()),
  delete: nullable(boolean()),
};

const RULE_REFUSALS = ['noSuchFilter', 'noSuchLabel', 'noSuchFolder', 'tooManyExpressions'] as const;

/** The owner or the asker may be a node of 0.2.0. */
const maybe = <F extends Record<string, AnyStruct>>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, struct]) => [name, optional(struct)])) as {
    [N in keyof F]: Struct<Infer<F[N]> | undefined, F[N]['schema']>;
  };

const conditions = object({ ...conditionsOf020, ...maybe(furtherConditions) });

const filter = object({
  ...ruleOf020,
  ...maybe(furtherConditions),
  ...maybe(furtherActions),
  disabledReason: optional(nullable(enums(['folderDeleted']))),
  id: string(),
  // ms since the epoch.
  createdAt: number(),
  updatedAt: number(),
  lastAppliedAt: nullable(number()),
  timesApplied: integer(),
});
export type Filter = Infer<typeof filter>;

const awaitingBody = object({
  emailId: string(),
  blob: string(),
  /** Filters with no other condition than on the body. */
  filters: array(object({ id: string(), bodyContains: string() })),
  /** All waiting filters, and what is known of the email; a node of 0.2.0 leaves them out. */
  conditions: optional(array(object({ id: string(), ...conditionsOf020, ...furtherConditions }))),
  facts: optional(object({ fromAddress: string(), subject: string(), hasAttachments: boolean(), size: integer() })),
});

/** `untestedCount`: emails whose body could not be read in time. */
const filterTrial = object({
  matchCount: integer(),
  matchedEmailIds: array(string()),
  untestedCount: integer(),
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

/** The position at which an export continues: after an email, among those that existed when it began. */
const exportPosition = object({
  receivedAt: number(),
  id: string(),
  /** The newest email of the mailbox when the export began. */
  newestId: string(),
});
export type ExportPosition = Infer<typeof exportPosition>;

/** See `FailedRecipient` in src/mail-format/reports/bounce.ts. */
const bouncedRecipient = object({
  addresses: array(string()),
  finals: optional(array(string())),
  statusCode: string(),
  text: string(),
});

export const mailboxProtocol = protocol('mailbox', {
  operations: {
    /** Places accepted mail in the inbox. A repetition with the same `inboundId` places nothing again. */
    deliver: command({
      payload: withHandle({
        inboundId: string(),
        receivedAt: number(),
        /** Suspect mail: it goes to Junk, is not announced as unread and passes no filter. */
        isJunk: optional(boolean()),
        /** Only the content makes it suspect: where the account allows its author, it does not go to Junk. */
        isContentJunk: optional(boolean()),
        /** The mail comes from the domain of its author: what the account has taught does not put mail of its contacts into Junk. */
        isAuthorProven: optional(boolean()),
        /** The mail has an inbound row, and may have been placed without it: the delivery is remembered. */
        isTried: optional(boolean()),
        /** The envelope sender, '' for the null sender, and the address that was written to; absent when they are unknown. */
        sender: optional(string()),
        recipient: optional(string()),
        /** Addresses elsewhere that get the mail on behalf of the account; `isPlaced`: the account gets it too. */
        onward: optional(object({ targets: array(string()), isPlaced: boolean() })),
        /** The mail reports a failed delivery: the mailbox looks for the emails with this Message-ID. */
        bounce: optional(
          object({
            messageId: string(),
            recipients: array(bouncedRecipient),
            source: object({ remoteAddress: string(), domains: array(string()) }),
          }),
        ),
      }),
      /** null when the delivery has already happened, when a filter has deleted the mail, or when the mail only goes elsewhere. */
      reply: object({ emailId: nullable(string()) }),
      /**
       * `attemptUnderWay`: the mail is placed later from its inbound row, because the email that it bounces is still being delivered, or
       * because it cannot be read now for the active script. `unstored`: the message is inline, and this mailbox does not accept it: it
       * must be stored first.
       */
      refusals: ['attemptUnderWay', 'unstored'],
      onRepeat: 'harmless',
    }),
    setRead: command({
      payload: object({ emailIds: array(string()), isRead: boolean() }),
      /** `changed`: the number of emails that had the other state; `missing`: ids without an email of this account. */
      reply: object({ changed: integer(), missing: array(string()) }),
      onRepeat: 'remembered',
    }),
    /** Deletes emails that were received before a time, at most 1,000 per call; only for unclaimed mailboxes. */
    expire: command({
      payload: object({ receivedBefore: number() }),
      reply: object({ removed: integer() }),
      onRepeat: 'harmless',
      refusals: ['notUnclaimed'],
    }),
    /**
     * Announces an email of the mailbox as if it had just been delivered, and applies filters. A filter that deletes ends the placements
     * that were created together with the email; `isKept` is false when no other placement shows it.
     */
    announce: command({
      payload: object({ emailId: string() }),
      reply: object({ isKept: boolean() }),
      refusals: ['noSuchEmail'],
      onRepeat: 'remembered',
    }),
    /** Applies the filters that waited for the body of an email: those in `filterIds` match it, the others do not. */
    applyBodyFilters: command({
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
    /** Emails in no other folder go to Archive; filters stop assigning the label. */
    deleteLabel: command({
      payload: object({ labelId: string() }),
      reply: deleted,
      refusals: ['noSuchLabel'],
      onRepeat: 'remembered',
    }),
    /** Does nothing when the email already has the label. */
    assignLabel: command({
      payload: object({ emailId: string(), labelId: string() }),
      reply: done,
      refusals: ['noSuchEmail', 'noSuchLabel'],
      onRepeat: 'remembered',
    }),
    /** Does nothing when the email does not have the label; an email in no other folder goes to Archive. */
    unassignLabel: command({
      payload: object({ emailId: string(), labelId: string() }),
      reply: done,
      refusals: ['noSuchEmail', 'noSuchLabel'],
      onRepeat: 'remembered',
    }),
    /** Puts a label on emails, at most 10,000, or takes it off; emails in no other folder go to Archive. */
    storeLabel: command({
      payload: object({ emailIds: array(string()), labelId: string(), isLabelled: boolean() }),
      /** The number of emails that changed; ids without an email of the account do not count. */
      reply: object({ changed: integer() }),
      refusals: ['noSuchLabel', 'tooManyEmails'],
      onRepeat: 'remembered',
    }),
    /** Creates a filter, or replaces the rule of one. */
    putFilter: command({
      payload: object({
        filterId: optional(string()),
        rule: object({ ...ruleOf020, ...furtherConditions, ...furtherActions }),
      }),
      reply: filter,
      refusals: ['tooMany', ...RULE_REFUSALS],
      onRepeat: 'remembered',
    }),
    /** What gateways of 0.2.0 ask in place of `putFilter`. */
    createFilter: command({
      payload: object({ rule: object(ruleOf020) }),
      reply: filter,
      refusals: ['tooMany', ...RULE_REFUSALS],
      onRepeat: 'remembered',
    }),
    updateFilter: command({
      payload: object({ filterId: string(), rule: object(ruleOf020) }),
      reply: done,
      refusals: RULE_REFUSALS,
      onRepeat: 'remembered',
    }),
    deleteFilter: command({
      payload: object({ filterId: string() }),
      reply: done,
      refusals: ['noSuchFilter'],
      onRepeat: 'remembered',
    }),
    ...filterRunOperations,
    ...sieveOperations,
    ...automaticOperations,
    /** Replaces the values of these preferences, by name. The mailbox stores them without knowing their meaning. */
    choosePreferences: command({
      payload: object({ chosen: record(string(), unknown()) }),
      reply: done,
      onRepeat: 'remembered',
    }),
    /** Sorted by sortOrder, then by name. */
    labels: query({ payload: object({}), reply: object({ labels: array(label) }) }),
    labelEmails: query({
      payload: object({ labelId: string(), ...listing }),
      reply: emailPage,
      refusals: ['noSuchLabel'],
    }),
    /** Sorted by the order of evaluation. */
    filters: query({ payload: object({}), reply: object({ filters: array(filter) }) }),
    /** Emails whose filters wait for a part of the message, at most 100, and what these filters look for. */
    filtersAwaitingBody: query({
      payload: object({}),
      reply: object({ emails: array(awaitingBody) }),
    }),
    /** Tests which of the newest `limit` emails of the inbox the filter matches, newest first; it changes nothing. */
    testFilter: query({
      payload: object({ filterId: string(), limit: integer() }),
      reply: filterTrial,
      refusals: ['noSuchFilter'],
    }),
    /** The same for conditions that no filter has yet. */
    testConditions: query({
      payload: object({ conditions, limit: integer() }),
      reply: filterTrial,
    }),
    /** The newest 500 emails of the thread, or a page counted from the oldest; sorted oldest first. */
    thread: query({
      payload: object({ threadId: string(), page: optional(integer()), pageSize: optional(integer()) }),
      /** `total`: the number of emails in the whole thread. */
      reply: object({ emails: array(emailDetail), total: integer() }),
      refusals: ['noSuchThread'],
    }),
    ...listOperations,
    /**
     * Counts the emails of a period for an export, in a folder (id or role), or in all folders except emails that are only in Trash or
     * Junk.
     */
    exportCount: query({
      payload: object({ ...period, folder: optional(string()) }),
      reply: object({ count: integer() }),
      refusals: ['noSuchFolder'],
    }),
    /** The emails of an export, oldest first, page by page: the next page begins at `place`, null after the last page. */
    exportPage: query({
      payload: object({ ...period, folder: optional(string()), place: nullable(exportPosition), limit: integer() }),
      reply: object({ emails: array(exported), place: nullable(exportPosition) }),
    }),
    detail: query({ payload: object({ emailId: string() }), reply: emailDetail, refusals: ['noSuchEmail'] }),
    unreadCount: query({ payload: object({}), reply: object({ unread: integer() }) }),
    /** The distinct senders of the account's sent mail. */
    sentAddresses: query({ payload: object({}), reply: object({ addresses: array(string()) }) }),
    /** People to whom the account has written, best first: those whom the text names, by the beginnings of words. */
    contacts: query({
      payload: object({ text: string(), limit: integer() }),
      reply: object({ contacts: array(object({ address: string(), displayName: string() })) }),
    }),
    /** The size of the mailbox, with which gateways decide whether it takes another message: unclaimed mailboxes are bounded. */
    acceptance: query({ payload: object({}), reply: object({ isUnclaimed: boolean(), total: integer() }) }),
    ...outboundOperations,
  },
  // Only types: the transaction makes the records.
  events: {} as { readonly [T in LoggedChange['type']]: Struct<Extract<LoggedChange, { type: T }>['payload'], null> },
});

/** Replies hold columns of numbers as text; these functions decode them. */
export {
  DELETED_BIT,
  unpackFlags,
  unpackIds,
  unpackModseqs,
  unpackSizes,
  unpackUids,
} from '../../mail-format/packed-columns.js';
/** The emails of a record. */
export { flaggedIn, placementsIn, removedIn } from '../../store/changes/changes.js';
export type { Folder } from './folder-operations.js';
export type { ListQuery, ListState } from './list-operations.js';
export {
  type EmailDetail,
  type EmailListItem,
  emailHead,
  emailListItem,
  encodedOnce,
} from './view-shapes.js';

export type MailboxProtocol = typeof mailboxProtocol;
export type Mailboxes = Refs<MailboxProtocol>;
/** A published record of the log. */
export type MailboxEvent = EventOf<MailboxProtocol>;
