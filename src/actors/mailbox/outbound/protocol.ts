// The part of the mailbox's protocol that is about mail that leaves: drafts, the queue, deliveries and their reports.
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
import { command, query } from '../../runtime/protocol.js';
import { messageSummary } from '../message-summary.js';

const status = enums(['Draft', 'Queued', 'Sending', 'Sent', 'Failed']);
const recipientType = enums(['To', 'Cc', 'Bcc']);
const reportKind = enums(['failed', 'delayed']);

/** Addresses are valid, and `domain` is lower case with A-labels; what is not is refused before it gets here. */
const addressee = object({
  address: string(),
  displayName: nullable(string()),
  type: recipientType,
  domain: string(),
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
  /** The draft composed, its blob stored; older nodes leave it out. */
  message: optional(object({ blob: string(), size: integer() })),
});

const outboundRecipient = object({
  id: string(),
  address: string(),
  displayName: nullable(string()),
  type: recipientType,
  status: enums(['Pending', 'Delivered', 'Failed']),
  /** ms since the epoch. */
  deliveredAt: nullable(number()),
  lastError: nullable(string()),
  statusCode: nullable(string()),
});

/** Times are ms since the epoch. */
const outboundEmail = object({
  id: string(),
  status,
  /** null for drafts that were never composed. */
  blob: nullable(string()),
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
  lastError: nullable(string()),
  recipients: array(outboundRecipient),
  /** The copy in Sent, while there is one; older nodes leave it out. */
  sentEmailId: optional(string()),
});
export type OutboundEmail = Infer<typeof outboundEmail>;

const answer = {
  recipientId: string(),
  text: string(),
  statusCode: string(),
  host: nullable(string()),
};

const attempt = open({
  id: string(),
  at: number(),
  durationMs: number(),
  domain: string(),
  host: nullable(string()),
  remoteAddress: nullable(string()),
  tls: nullable(string()),
  reply: string(),
  recipients: array(
    open({ id: string(), outcome: enums(['delivered', 'temporary', 'permanent']), statusCode: nullable(string()) }),
  ),
});

/**
 * Recipients whose attempts are under way, where some of them begin; and in how many ms the first of those that wait is due,
 * null when none waits.
 */
const underWay = {
  recipients: array(object({ id: string(), address: string(), domain: string() })),
  retryInMs: nullable(number()),
};

export const outboundOperations = {
  createDraft: command({
    payload: object({ draft }),
    reply: object({ id: string() }),
    refusals: ['tooMany'],
    onRepeat: 'remembered',
  }),
  /** Replaces all that it has. */
  updateDraft: command({
    payload: object({ outboundId: string(), draft }),
    reply: object({}),
    refusals: ['noSuchOutbound'],
    onRepeat: 'remembered',
  }),
  deleteDraft: command({
    payload: object({ outboundId: string() }),
    reply: object({}),
    refusals: ['noSuchOutbound'],
    onRepeat: 'remembered',
  }),
  /**
   * Queues a message whose blob is stored and puts its copy into Sent. Of a draft it makes an email of the same id, unless
   * it has changed since: `updatedAt` is of the draft that the message was made of.
   */
  enqueue: command({
    payload: object({
      draft: nullable(object({ id: string(), updatedAt: number() })),
      sender: string(),
      blob: string(),
      summary: messageSummary,
      /** What is shown as its bodies; null when they are to be read from the blob. */
      content: nullable(content),
      recipients: array(addressee),
    }),
    reply: object({ id: string(), createdAt: number(), sentEmailId: string() }),
    /** `draftChanged`: read it again. */
    refusals: ['noSuchOutbound', 'draftChanged'],
    onRepeat: 'remembered',
  }),
  /**
   * Begins a delivery: Queued becomes Sending. `supersedes`: the delivery that was under way and that nobody makes any more;
   * null when there was none.
   */
  startDelivery: command({
    payload: object({
      outboundId: string(),
      attempt: object({ id: string(), by: string() }),
      supersedes: nullable(string()),
    }),
    reply: object({
      blob: string(),
      size: integer(),
      sender: string(),
      messageId: nullable(string()),
      createdAt: number(),
      retryCount: integer(),
      ...underWay,
    }),
    /** `notDue`: somebody else delivers it, or it has waited enough already. */
    refusals: ['noSuchOutbound', 'notDue'],
    onRepeat: 'remembered',
  }),
  /**
   * What became of recipients in a delivery. With `isOver` it ends: the email is Sent, Failed, or Queued again. Until then a
   * delivery makes the further attempts that become due too, each with `begins`.
   */
  reportDelivery: command({
    payload: object({
      outboundId: string(),
      attemptId: string(),
      outcomes: array(
        open({
          ...answer,
          kind: enums(['delivered', 'temporary', 'permanent']),
          handedTo: optional(string()),
        }),
      ),
      attempts: array(attempt),
      isOver: boolean(),
      /**
       * With `isOver`: it ended because the node stops. The email is due again at once, and the attempt does not count.
       */
      isInterrupted: boolean(),
      /** Ids of recipients for which there was no attempt, because no connection was free: they wait, and it does not count. */
      postponed: optional(array(string())),
      /** Attempts that are due begin with this report, in the same delivery. */
      begins: optional(boolean()),
    }),
    reply: object({
      status,
      /** Inbound rows of the mail that was handed to mailboxes of this store: they may be asked to deliver it now. */
      handedOver: array(object({ accountId: string(), inboundId: string() })),
      /** When the first recipient that waits is due; null when none waits. */
      nextRetryAt: nullable(number()),
      reportDue: nullable(reportKind),
      ...underWay,
    }),
    /** `notUnderWay`: another delivery has taken its place. */
    refusals: ['noSuchOutbound', 'notUnderWay'],
    onRepeat: 'remembered',
  }),
  /** Puts a report that is due into the inbox; null: there is nothing to put there after all. */
  giveReport: command({
    payload: object({
      outboundId: string(),
      kind: reportKind,
      report: nullable(object({ blob: string(), summary: messageSummary })),
    }),
    reply: object({ emailId: nullable(string()) }),
    refusals: ['noSuchOutbound', 'notDue'],
    onRepeat: 'remembered',
  }),
  /**
   * An operator's: `retry` makes it due now, failed recipients of a Failed email included; `cancel` fails whoever is Pending.
   */
  manageOutbound: command({
    payload: object({ outboundId: string(), action: enums(['retry', 'cancel']) }),
    reply: object({ status }),
    /** `notPossible`: Sent, a draft, Failed already, or a delivery is under way. */
    refusals: ['noSuchOutbound', 'notPossible'],
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
    payload: object({ statuses: array(status), page: integer(), pageSize: integer() }),
    reply: object({ items: array(outboundEmail), totalCount: integer() }),
  }),
  /** Oldest first. */
  outboundTimeline: query({
    payload: object({ outboundId: string() }),
    reply: object({ attempts: array(attempt) }),
    refusals: ['noSuchOutbound'],
  }),
  /** All that a report is made of. */
  reportMaterial: query({
    payload: object({ outboundId: string() }),
    reply: object({ kind: nullable(reportKind), email: outboundEmail, attempts: array(attempt) }),
    refusals: ['noSuchOutbound'],
  }),
};
