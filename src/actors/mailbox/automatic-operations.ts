// The operations of a mailbox on mail that the server sends because mail arrived (docs/decisions/0097).
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
  string,
  unknown,
} from 'superstruct';
import { messageSummary } from '../../mail-format/summary.js';
import { AUTOMATIC_KINDS } from '../../store/mailbox-rows.js';
import { command, query } from '../runtime/protocol.js';

/** See `DueMail` in src/store/mailbox-rows.ts. */
const dueMail = object({
  id: string(),
  kind: enums(AUTOMATIC_KINDS),
  blob: string(),
  receivedAt: number(),
  sender: string(),
  recipient: nullable(string()),
  targets: array(string()),
  copy: nullable(messageSummary),
  isChecked: boolean(),
  isQueued: boolean(),
  further: optional(record(string(), unknown())),
});

/** The message that the server has written; its blob is stored. */
const outgoing = object({
  blob: string(),
  summary: messageSummary,
  /** The envelope sender; '' is the null sender. */
  sender: string(),
  recipients: array(object({ address: string(), domain: string() })),
  /** The address that a DSN of this message goes to, in place of the account; null: nobody gets one. */
  reportTo: nullable(string()),
  /** The message goes to some of the targets only: the account gets the copy that it has not kept. */
  isPartial: optional(boolean()),
});
export type AutomaticOutgoing = Infer<typeof outgoing>;

export const automaticOperations = {
  /**
   * Ends a due message: queues the message that the server has written, or nothing (`outgoing` null). It does nothing when another call
   * has ended it.
   */
  sendAutomaticMail: command({
    /** `arrived`: the summary of the arrived message, of which the account has no email, and gets one when nothing is queued. */
    payload: object({ dueId: string(), outgoing: nullable(outgoing), arrived: optional(messageSummary) }),
    /**
     * `outboundId`: null when nothing is queued. `over`: the account has forwarded to too many recipients in this time. `isWaiting`: the
     * message is due on, until fewer recipients than `limit` have been sent to.
     */
    reply: object({
      outboundId: nullable(string()),
      over: optional(enums(['hour', 'day'])),
      limit: optional(integer()),
      isWaiting: optional(boolean()),
    }),
    onRepeat: 'harmless',
  }),
  /** Messages that are due and not queued yet, at most 100, in the order in which their mail arrived. */
  dueAutomaticMail: query({
    payload: object({}),
    reply: object({ due: array(dueMail) }),
  }),
};
