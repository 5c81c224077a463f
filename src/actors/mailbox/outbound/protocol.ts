// What users ask of the outbound mail of their mailbox: drafts, sending, and what became of it. What the delivery queue asks is
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
import { DSN_RETURNS, NOTIFY_CONDITIONS } from '../../../mail/dsn-request.js';
import { OUTBOUND_STATUSES, OUTCOMES, RECIPIENT_STATUSES, RECIPIENT_TYPES } from '../../../mail/outbound-status.js';
import { messageSummary } from '../../../mail/summary.js';
import { command, query } from '../../runtime/protocol.js';

export const outboundStatus = enums(OUTBOUND_STATUSES);
const recipientType = enums(RECIPIENT_TYPES);

/** What a sender asks to be told of a message, and of a recipient (RFC 3461). */
const ofMessage = { ret: nullable(enums(DSN_RETURNS)), envid: nullable(string()) };
export const dsnOfMessage = object(ofMessage);
export const recipientDsn = object({ notify: nullable(array(enums(NOTIFY_CONDITIONS))), orcpt: nullable(string()) });
/** `recipients`: by id. */
export const dsnRequest = object({ ...ofMessage, recipients: record(string(), recipientDsn) });

/** Addresses are valid, and `domain` is lower case with A-labels; what is not is refused before it gets here. */
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
  /** '' when it names none. */
  sender: string(),
  subject: string(),
  /** null: read the bodies from the message. */
  content: nullable(content),
  recipients: array(addressee),
  /** The draft composed, its blob stored. */
  message: object({ blob: string(), size: integer(), summary: messageSummary }),
});

/** Values of `updatedAt`, one of which the draft must have; whatever it has when absent. */
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
  /** While it is held: until when. */
  heldUntil: nullable(number()),
  lastError: nullable(string()),
  recipients: array(outboundRecipient),
  /** The copy in Sent, while there is one. */
  sentEmailId: optional(string()),
});
export type OutboundEmail = Infer<typeof outboundEmail>;

/** One host that was tried, for recipients of one domain. */
export const deliveryAttempt = open({
  id: string(),
  at: number(),
  durationMs: number(),
  domain: string(),
  host: nullable(string()),
  remoteAddress: nullable(string()),
  tls: nullable(string()),
  reply: string(),
  recipients: array(open({ id: string(), outcome: enums(OUTCOMES), statusCode: nullable(string()) })),
});

/** What is queued beside the message. */
const outgoing = {
  draft: nullable(object({ id: string(), updatedAt: number() })),
  sender: string(),
  /** What is shown as its bodies; null when they are to be read from the blob. */
  content: nullable(content),
  recipients: array(addressee),
  dsn: optional(dsnOfMessage),
  /** It came over SMTP: the copy that the client itself puts into Sent takes the place of the one that is made here. */
  isSubmission: optional(boolean()),
  /** The email that it replies to or forwards, which gets the flag. */
  original: optional(object({ emailId: string(), flag: enums(['\\Answered', '$Forwarded']) })),
};

/** A stored message to be queued. */
const queued = { ...outgoing, blob: string(), summary: messageSummary };

const enqueued = {
  reply: object({ id: string(), createdAt: number(), sentEmailId: string() }),
  /** `draftChanged`: read it again. */
  refusals: ['noSuchOutbound', 'draftChanged'],
  onRepeat: 'remembered',
} as const;

export const outboundOperations = {
  createDraft: command({
    payload: object({ draft }),
    reply: object({ id: string() }),
    refusals: ['tooMany'],
    onRepeat: 'remembered',
  }),
  /** Replaces all that it has. */
  updateDraft: command({
    payload: object({ outboundId: string(), draft, ifMatch }),
    reply: object({ updatedAt: number() }),
    refusals: ['noSuchOutbound', 'draftChanged'],
    onRepeat: 'remembered',
  }),
  deleteDraft: command({
    payload: object({ outboundId: string(), ifMatch }),
    reply: object({}),
    refusals: ['noSuchOutbound', 'draftChanged'],
    onRepeat: 'remembered',
  }),
  /**
   * Queues a message whose blob is stored and puts its copy into Sent. Of a draft it makes an email of the same id, unless
   * it has changed since: `updatedAt` is of the draft that the message was made of.
   */
  enqueue: command({ payload: object(queued), ...enqueued }),
  /** As `enqueue`, of an inline message, which is not stored yet: see `deliverInline`. */
  enqueueInline: command({
    payload: object({ inlineId: string(), ...outgoing }),
    reply: object({ isAccepted: boolean() }),
    refusals: enqueued.refusals,
    onRepeat: 'harmless',
  }),
  /** As `enqueue`, and nobody gets the message before `heldUntil`. */
  holdOutbound: command({ payload: object({ ...queued, heldUntil: number() }), ...enqueued }),
  /**
   * Fails a queued email, for its sender: recipients who have not got it will not get it. One that is held is a draft again, and
   * `draftId` its id.
   */
  cancelOutbound: command({
    payload: object({ outboundId: string() }),
    /** Not cancelled: a delivery is under way, or it is over; `status` says which. */
    reply: object({ cancelled: boolean(), status: outboundStatus, draftId: nullable(string()) }),
    refusals: ['noSuchOutbound'],
    onRepeat: 'remembered',
  }),
  /**
   * Makes an email due now: a failed one anew, a held one before its time. `message`: what a held one is sent as, dated now, in
   * place of the message that is dated when it was to be sent.
   */
  retryOutbound: command({
    payload: object({
      outboundId: string(),
      message: optional(object({ heldUntil: number(), blob: string(), summary: messageSummary })),
    }),
    /** Not retried: Sent, a draft, or a delivery is under way. */
    reply: object({ retried: boolean(), status: outboundStatus }),
    refusals: ['noSuchOutbound'],
    onRepeat: 'remembered',
  }),
  /**
   * Removes an email that is sent or failed, with its content, attempts, and a report that its sender is owed; its copy in Sent stays.
   * `changedBefore` (ms since the epoch): only what has not changed since and owes no report.
   */
  removeOutbound: command({
    payload: object({ outboundId: string(), changedBefore: optional(number()) }),
    reply: object({ isRemoved: boolean() }),
    refusals: ['noSuchOutbound', 'outboundUnderWay'],
    onRepeat: 'remembered',
  }),
  outbound: query({
    payload: object({ outboundId: string() }),
    reply: object({
      email: outboundEmail,
      /** null: read the bodies from the blob. */
      content: nullable(content),
    }),
    refusals: ['noSuchOutbound'],
  }),
  /** Newest first. */
  outboundPage: query({
    payload: object({ statuses: array(outboundStatus), page: integer(), pageSize: integer() }),
    reply: object({ items: array(outboundEmail), totalCount: integer() }),
  }),
  /** Emails that wait for the node that delivers, the first ten at most. */
  queuePositions: query({
    payload: object({}),
    reply: object({
      /** `ahead`: how many are before the email. `domain`: which it waits for, when its delivery has begun. */
      positions: array(object({ outboundId: string(), ahead: integer(), domain: nullable(string()) })),
      /** ms until positions are expected to change; null while nothing is queued. */
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
