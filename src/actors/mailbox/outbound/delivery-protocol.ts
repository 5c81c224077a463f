// What the delivery queue asks of a mailbox: to begin a delivery, to take its results, to place a delivery status notification
// in the inbox, and what operators ask. It has refs of its own onto the mailbox actor, so that gateways cannot ask any of this.
import { array, boolean, enums, integer, nullable, number, object, type as open, optional, string } from 'superstruct';
import { OUTCOMES, REPORT_KINDS } from '../../../mail/outbound-status.js';
import { messageSummary } from '../../../mail/summary.js';
import { command, protocol, query } from '../../runtime/protocol.js';
import type { Ref } from '../../runtime/ref.js';
import { deliveryAttempt, dsnOfMessage, dsnRequest, outboundEmail, outboundStatus, recipientDsn } from './protocol.js';

const reportKind = enums(REPORT_KINDS);

const answer = {
  recipientId: string(),
  text: string(),
  statusCode: string(),
  host: nullable(string()),
};

/**
 * Recipients whose attempts are under way, where some of them begin; and in how many ms the first of those that wait is due,
 * null when none waits.
 */
const underWay = {
  recipients: array(
    object({
      id: string(),
      address: string(),
      domain: string(),
      /** The host that may have taken the message in an earlier attempt. */
      doubtfulHost: optional(string()),
      dsn: optional(recipientDsn),
    }),
  ),
  retryInMs: nullable(number()),
};

export const deliveryProtocol = protocol('mailbox', {
  operations: {
    /**
     * Begins a delivery: Queued becomes Sending. `supersedes`: the interrupted delivery that was under way; null when there was
     * none.
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
      /** `notDue`: another node delivers it, or it is no longer due. */
      refusals: ['noSuchOutbound', 'notDue'],
      onRepeat: 'remembered',
    }),
    /**
     * Outcomes of recipients in a delivery. With `isOver` the delivery ends: the email is Sent, Failed, or Queued again. Until
     * then the delivery also makes the attempts that become due, each with `begins`.
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
            doubtfulHost: optional(string()),
            onward: optional(enums(['passed', 'relayed'])),
          }),
        ),
        attempts: array(deliveryAttempt),
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
        status: outboundStatus,
        /** Inbound rows of the mail that was delivered to mailboxes of this store: they may be asked to place it now. */
        localDeliveries: array(object({ accountId: string(), inboundId: string() })),
        /** When the first recipient that waits is due; null when none waits. */
        nextRetryAt: nullable(number()),
        reportDue: nullable(reportKind),
        ...underWay,
      }),
      /** `notUnderWay`: another delivery has taken its place. */
      refusals: ['noSuchOutbound', 'notUnderWay'],
      onRepeat: 'remembered',
    }),
    /** Places a notification in the inbox. `recipientIds`: whom it is of; each is named by one of its kind. */
    giveReport: command({
      payload: object({
        outboundId: string(),
        kind: reportKind,
        recipientIds: array(string()),
        report: object({ blob: string(), summary: messageSummary }),
      }),
      /** `isMoreDue`: another notification is due. */
      reply: object({ emailId: string(), isMoreDue: boolean() }),
      /** `notDue`: another one names a recipient of it, or the recipient is tried again. */
      refusals: ['noSuchOutbound', 'notDue'],
      onRepeat: 'remembered',
    }),
    /**
     * An operator's: `retry` makes it due now, failed recipients of a Failed email included, and releases a held email; `cancel` fails whoever is Pending.
     */
    manageOutbound: command({
      payload: object({ outboundId: string(), action: enums(['retry', 'cancel']) }),
      reply: object({ status: outboundStatus }),
      /** `notPossible`: Sent, a draft, Failed already, or a delivery is under way. */
      refusals: ['noSuchOutbound', 'notPossible'],
      onRepeat: 'remembered',
    }),
    /** Makes a held email due. `heldUntil`: as the row has it, so that a later hold of the email is not ended. */
    releaseOutbound: command({
      payload: object({ outboundId: string(), heldUntil: number() }),
      reply: object({ status: outboundStatus }),
      /** `released`: before, or cancelled. */
      refusals: ['noSuchOutbound', 'released'],
      onRepeat: 'remembered',
    }),
    /** All that a notification is composed of. */
    reportMaterial: query({
      payload: object({ outboundId: string() }),
      reply: object({
        /** null: none is due now. */
        kind: nullable(reportKind),
        recipientIds: array(string()),
        email: outboundEmail,
        /** What its sender asked for. */
        dsn: nullable(dsnRequest),
        attempts: array(deliveryAttempt),
      }),
      refusals: ['noSuchOutbound'],
    }),
  },
  events: {},
});

export type DeliveryProtocol = typeof deliveryProtocol;
/** Mailboxes as the delivery queue sees them. Their events are for others. */
export interface DeliveryMailboxes {
  of(accountId: string): Pick<Ref<DeliveryProtocol>, 'ask'>;
}
