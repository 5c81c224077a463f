// The operations that the delivery queue needs of a mailbox: to begin a delivery, to report its results, to place a DSN in the inbox, and
// the requests of operators. It has its own refs to the mailbox actor, so that gateways cannot call these.
import {
  array,
  boolean,
  enums,
  integer,
  nullable,
  number,
  object,
  type as open,
  optional,
  record,
  string,
} from 'superstruct';
import { DSN_KINDS, OUTCOMES } from '../../../mail-format/outbound-status.js';
import { messageSummary } from '../../../mail-format/summary.js';
import { command, protocol, query } from '../../runtime/protocol.js';
import type { Ref } from '../../runtime/ref.js';
import { deliveryAttempt, dsnOfMessage, dsnRequest, outboundEmail, outboundStatus, recipientDsn } from './protocol.js';

const onward = object({ targets: array(string()), isPlaced: boolean() });

const dsnKind = enums(DSN_KINDS);

const answer = {
  recipientId: string(),
  text: string(),
  statusCode: string(),
  host: nullable(string()),
};

/**
 * The recipients whose attempts are under way, when some of them begin; and the time in ms until the first waiting recipient is due, null
 * when none waits.
 */
const underWay = {
  recipients: array(
    object({
      id: string(),
      address: string(),
      domain: string(),
      /** The host that may have accepted the message in an earlier attempt. */
      doubtfulHost: optional(string()),
      dsn: optional(recipientDsn),
    }),
  ),
  retryInMs: nullable(number()),
};

export const deliveryProtocol = protocol('mailbox', {
  operations: {
    /**
     * Begins a delivery: Queued becomes Sending. `supersedes`: the interrupted delivery that this one replaces; null when there is none.
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
        dsn: nullable(dsnOfMessage),
        ...underWay,
      }),
      /** `notDue`: another node delivers the email, or it is no longer due. */
      refusals: ['noSuchOutbound', 'notDue'],
      onRepeat: 'remembered',
    }),
    /**
     * Reports the outcomes of recipients in a delivery. With `isOver` the delivery ends: the email is Sent, Failed, or Queued again. Before
     * that, the delivery also makes the attempts that become due; they begin with `begins`.
     */
    reportDelivery: command({
      payload: object({
        outboundId: string(),
        attemptId: string(),
        outcomes: array(
          open({
            ...answer,
            kind: enums(OUTCOMES),
            localAccountId: optional(string()),
            /** The further accounts that get the message, by an alias. */
            otherLocalAccountIds: optional(array(string())),
            /** What the message is for some of these accounts (src/mail-format/sent-onward.ts). */
            localOnward: optional(record(string(), onward)),
            doubtfulHost: optional(string()),
            onward: optional(enums(['passed', 'relayed'])),
          }),
        ),
        attempts: array(deliveryAttempt),
        isOver: boolean(),
        /**
         * Only with `isOver`: the delivery ended because the node stops. The email is due again at once, and the attempt does not count.
         */
        isInterrupted: boolean(),
        /** Ids of recipients that were not tried because no connection was free: they wait, and the attempt does not count. */
        postponed: optional(array(string())),
        /** Attempts that are due begin with this report, in the same delivery. */
        begins: optional(boolean()),
      }),
      reply: object({
        status: outboundStatus,
        /** Inbound rows of the mail that was delivered to mailboxes of this store, which may be asked to place it now. */
        localDeliveries: array(object({ accountId: string(), inboundId: string() })),
        /** The time at which the first waiting recipient is due; null when none waits. */
        nextRetryAt: nullable(number()),
        dsnDue: nullable(dsnKind),
        ...underWay,
      }),
      /** `notUnderWay`: another delivery has replaced it. */
      refusals: ['noSuchOutbound', 'notUnderWay'],
      onRepeat: 'remembered',
    }),
    /**
     * Places a DSN in the inbox, or sends it to the sender of the mail that the email was sent because of (docs/decisions/0097).
     * `recipientIds`: the recipients it is about; only one DSN of this
     * kind may name a recipient.
     */
    giveDsn: command({
      payload: object({
        outboundId: string(),
        kind: dsnKind,
        recipientIds: array(string()),
        report: object({ blob: string(), summary: messageSummary }),
      }),
      /** `emailId`: of the email in the inbox, or of the outbound email. `isMoreDue`: another DSN is due. */
      reply: object({ emailId: string(), isMoreDue: boolean() }),
      /** `notDue`: another DSN has named one of the recipients, or the recipient is tried again. */
      refusals: ['noSuchOutbound', 'notDue'],
      onRepeat: 'remembered',
    }),
    /**
     * A request of an operator. `retry` makes the email due now, including the failed recipients of a Failed email, and releases a held
     * email; `cancel` fails every Pending recipient; `release` ends the wait of a restored email, which is due when it was due before.
     */
    manageOutbound: command({
      payload: object({ outboundId: string(), action: enums(['retry', 'cancel', 'release']) }),
      reply: object({ status: outboundStatus }),
      /** `notPossible`: the email is Sent, a draft or already Failed, a delivery is under way, or it waits for no release. */
      refusals: ['noSuchOutbound', 'notPossible'],
      onRepeat: 'remembered',
    }),
    /** A request of an operator: the account may send to the address again. Does nothing when the address is not suppressed. */
    liftSuppression: command({
      payload: object({ address: string() }),
      reply: object({}),
      onRepeat: 'harmless',
    }),
    /** Makes a held email due. `heldUntil`: the value in the row, so that a later hold of the email is not ended. */
    releaseOutbound: command({
      payload: object({ outboundId: string(), heldUntil: number() }),
      reply: object({ status: outboundStatus }),
      /** `released`: the email has already been released or cancelled. */
      refusals: ['noSuchOutbound', 'released'],
      onRepeat: 'remembered',
    }),
    /** Returns everything that a DSN is composed from. */
    dsnMaterial: query({
      payload: object({ outboundId: string() }),
      reply: object({
        /** null: no DSN is due now. */
        kind: nullable(dsnKind),
        recipientIds: array(string()),
        email: outboundEmail,
        /** The DSN request of the sender. */
        dsn: nullable(dsnRequest),
        attempts: array(deliveryAttempt),
      }),
      refusals: ['noSuchOutbound'],
    }),
  },
  events: {},
});

export type DeliveryProtocol = typeof deliveryProtocol;
/** Mailboxes as the delivery queue sees them, without their events. */
export interface DeliveryMailboxes {
  of(accountId: string): Pick<Ref<DeliveryProtocol>, 'ask'>;
}
