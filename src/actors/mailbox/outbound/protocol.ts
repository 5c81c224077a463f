// The operations of users on the outbound mail of their mailbox: drafts, sending, and the results. The operations of the delivery queue are
// in delivery-protocol.ts, which gateways cannot see.
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
  record,
  string,
} from 'superstruct';
import {
  OUTBOUND_STATUSES,
  OUTCOMES,
  RECIPIENT_STATUSES,
  RECIPIENT_TYPES,
} from '../../../mail-format/outbound-status.js';
import { DSN_RETURNS, NOTIFY_CONDITIONS } from '../../../mail-format/reports/dsn-request.js';
import { messageSummary } from '../../../mail-format/summary.js';
import { command, query } from '../../runtime/protocol.js';
import { onRepeatOf, stored, withHandle } from '../message-handles.js';

export const outboundStatus = enums(OUTBOUND_STATUSES);
const recipientType = enums(RECIPIENT_TYPES);

/** DSN parameters of a message and of a recipient (RFC 3461). */
const ofMessage = { ret: nullable(enums(DSN_RETURNS)), envid: nullable(string()) };
export const dsnOfMessage = object(ofMessage);
export const recipientDsn = object({ notify: nullable(array(enums(NOTIFY_CONDITIONS))), orcpt: nullable(string()) });
/** `recipients`: keyed by recipient id. */
export const dsnRequest = object({ ...ofMessage, recipients: record(string(), recipientDsn) });

/** Addresses are valid, and `domain` is lower case with A-labels; callers refuse others before they send this command. */
const addressee = object({
  address: string(),
  displayName: nullable(string()),
  type: recipientType,
  domain: string(),
  dsn: optional(recipientDsn),
});
export type Addressee = Infer<typeof addressee>;

const content = object({ textBody: nullable(string()), htmlBody: nullable(string()) });

const draft = object({
  /** '' when the draft names no sender. */
  sender: string(),
  subject: string(),
  /** null: the bodies are read from the message. */
  content: nullable(content),
  recipients: array(addressee),
  /** The composed draft; its blob is already stored. */
  message: object({ blob: string(), size: integer(), summary: messageSummary }),
});

/** The draft must have one of these values of `updatedAt`; absent: any value. */
const ifMatch = optional(array(number()));

const outboundRecipient = object({
  id: string(),
  address: string(),
  displayName: nullable(string()),
  type: recipientType,
  status: enums(RECIPIENT_STATUSES),
  /** ms since the epoch. */
  deliveredAt: nullable(number()),
  lastError: nullable(string()),
  statusCode: nullable(string()),
});

/** Times are ms since the epoch. */
export const outboundEmail = object({
  id: string(),
  status: outboundStatus,
  blob: string(),
  sender: string(),
  subject: string(),
  messageId: nullable(string()),
  inReplyTo: nullable(string()),
  references: array(string()),
  size: integer(),
  createdAt: number(),
  updatedAt: number(),
  sentAt: nullable(number()),
  retryCount: integer(),
  nextRetryAt: nullable(number()),
  /** The time until which the email is held; null when it is not held. */
  heldUntil: nullable(number()),
  lastError: nullable(string()),
  recipients: array(outboundRecipient),
  /** The copy in Sent, while it exists. */
  sentEmailId: optional(string()),
});
export type OutboundEmail = Infer<typeof outboundEmail>;

/** An attempt at one host, for recipients of one domain. */
export const deliveryAttempt = open({
  id: string(),
  at: number(),
  durationMs: number(),
  node: optional(string()),
  domain: string(),
  host: nullable(string()),
  remoteAddress: nullable(string()),
  tls: nullable(string()),
  reply: string(),
  recipients: array(open({ id: string(), outcome: enums(OUTCOMES), statusCode: nullable(string()) })),
});

/** The fields of a queued email apart from the message. */
const outgoing = {
  draft: nullable(object({ id: string(), updatedAt: number() })),
  sender: string(),
  /** The bodies that users are shown; null: they are read from the blob. */
  content: nullable(content),
  recipients: array(addressee),
  dsn: optional(dsnOfMessage),
  /** The message was submitted over SMTP: the copy that the client puts into Sent replaces the one that is made here. */
  isSubmission: optional(boolean()),
  /** The server has written the message for the account: it has no copy in Sent. */
  isAutomatic: optional(boolean()),
  /** The email that this one replies to or forwards; it gets the flag. */
  original: optional(object({ emailId: string(), flag: enums(['\\Answered', '$Forwarded']) })),
};

/**
 * `sendingSuspended`: the account must not send now. `overLimit`: a limit of recipients is reached; `overMessageLimit`: the message alone
 * exceeds one.
 */
export const SENDING_REFUSALS = ['sendingSuspended', 'overLimit', 'overMessageLimit'] as const;

const enqueued = object({ id: string(), createdAt: number(), sentEmailId: string() });

export const outboundOperations = {
  createDraft: command({
    payload: object({ draft }),
    reply: object({ id: string() }),
    refusals: ['tooMany', 'overQuota'],
    onRepeat: 'remembered',
  }),
  /** Replaces all fields of the draft. */
  updateDraft: command({
    payload: object({ outboundId: string(), draft, ifMatch }),
    reply: object({ updatedAt: number() }),
    refusals: ['noSuchOutbound', 'draftChanged', 'overQuota'],
    onRepeat: 'remembered',
  }),
  deleteDraft: command({
    payload: object({ outboundId: string(), ifMatch }),
    reply: object({}),
    refusals: ['noSuchOutbound', 'draftChanged'],
    onRepeat: 'remembered',
  }),
  /**
   * Queues a message and puts its copy into Sent. With `draft`, the draft becomes the queued email and keeps its id, unless it has
   * changed: `updatedAt` is that of the draft from which the message was made.
   */
  enqueue: command({
    payload: withHandle(outgoing),
    reply: enqueued,
    /** `draftChanged`: the caller must read the draft again. `unstored`: see `deliver`. */
    refusals: ['noSuchOutbound', 'draftChanged', 'overQuota', 'unstored', ...SENDING_REFUSALS],
    onRepeat: onRepeatOf,
  }),
  /** Like `enqueue`, but for a stored message, which nobody gets before `heldUntil`. */
  holdOutbound: command({
    payload: object({ ...stored, ...outgoing, heldUntil: number() }),
    reply: enqueued,
    refusals: ['noSuchOutbound', 'draftChanged', 'overQuota', ...SENDING_REFUSALS],
    onRepeat: 'remembered',
  }),
  /**
   * Fails a queued email at the request of its sender: recipients that have not got it will not get it. A held email becomes a draft again,
   * with the id `draftId`.
   */
  cancelOutbound: command({
    payload: object({ outboundId: string() }),
    /** When it is not cancelled, `status` tells why: a delivery is under way, or the email is Sent or Failed. */
    reply: object({ cancelled: boolean(), status: outboundStatus, draftId: nullable(string()) }),
    refusals: ['noSuchOutbound'],
    onRepeat: 'remembered',
  }),
  /**
   * Makes an email due now: a failed one again, a held one before its time. `message`: replaces the message of a held email, whose date is
   * the time for which it was planned, by one that is dated now.
   */
  retryOutbound: command({
    payload: object({
      outboundId: string(),
      message: optional(object({ heldUntil: number(), blob: string(), summary: messageSummary })),
    }),
    /** Not retried: the email is Sent or a draft, or a delivery is under way. */
    reply: object({ retried: boolean(), status: outboundStatus }),
    refusals: ['noSuchOutbound', 'sendingSuspended'],
    onRepeat: 'remembered',
  }),
  /**
   * Removes an email that is Sent or Failed, with its content, attempts and any due DSN; its copy in Sent stays. `changedBefore` (ms since
   * the epoch): only removes an email that has not changed since and has no due DSN.
   */
  removeOutbound: command({
    payload: object({ outboundId: string(), changedBefore: optional(number()) }),
    reply: object({ isRemoved: boolean() }),
    refusals: ['noSuchOutbound', 'outboundUnderWay'],
    onRepeat: 'remembered',
  }),
  /** The addresses to which nothing is sent, oldest first. */
  suppressions: query({
    payload: object({}),
    reply: object({
      suppressions: array(object({ address: string(), reason: string(), since: number(), until: number() })),
    }),
  }),
  removeSuppression: command({
    payload: object({ address: string() }),
    reply: object({}),
    refusals: ['noSuchSuppression'],
    onRepeat: 'harmless',
  }),
  outbound: query({
    payload: object({ outboundId: string() }),
    reply: object({
      email: outboundEmail,
      /** null: the bodies are read from the blob. */
      content: nullable(content),
    }),
    refusals: ['noSuchOutbound'],
  }),
  /** Newest first. */
  outboundPage: query({
    payload: object({ statuses: array(outboundStatus), page: integer(), pageSize: integer() }),
    reply: object({ items: array(outboundEmail), totalCount: integer() }),
  }),
  /** Emails that wait for the node that delivers; at most the first ten. */
  queuePositions: query({
    payload: object({}),
    reply: object({
      /** `ahead`: the number of emails before this one. `domain`: the domain that it waits for, if its delivery has begun. */
      positions: array(object({ outboundId: string(), ahead: integer(), domain: nullable(string()) })),
      /** The time in ms until positions are expected to change; null while nothing is queued. */
      againInMs: nullable(number()),
    }),
  }),
  /** Oldest first. */
  outboundTimeline: query({
    payload: object({ outboundId: string() }),
    reply: object({ attempts: array(deliveryAttempt) }),
    refusals: ['noSuchOutbound'],
  }),
};
