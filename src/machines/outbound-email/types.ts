// What goes into and comes out of the machine of an outbound email. Times are ms since the epoch; the clock and the dice are
// the caller's.
import type { RecipientNews } from '../outbound-recipient/machine.js';
import type { RetryPolicy } from './retry.js';

export type OutboundEmailStatus = 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
/** What the sender is told in an email of its own (RFC 3464). */
type Report = 'failed' | 'delayed';

export interface OutboundEmailContext {
  /** How many recipients are Pending and how many Failed; the rest are Delivered. */
  readonly pending: number;
  readonly failed: number;
  /** Somebody can be told: false for the null sender (RFC 5321 §4.5.5). */
  readonly hasSender: boolean;
  readonly queuedAt: number | null;
  /** While Queued: when it is due. */
  readonly nextRetryAt: number | null;
  readonly retryCount: number;
  readonly lastError: string | null;
  readonly sentAt: number | null;
  /** What the sender is still to be told. */
  readonly reportDue: Report | null;
  /** The sender has been told of the delay, or is about to be. */
  readonly delayReported: boolean;
}

export type OutboundEmailEvent =
  | {
      readonly type: 'enqueue';
      readonly now: number;
      readonly recipientIds: readonly string[];
      readonly hasSender: boolean;
    }
  /** A delivery begins; while Sending it takes the place of one that nobody makes any more. */
  | { readonly type: 'start' }
  | {
      readonly type: 'answer';
      readonly now: number;
      readonly recipientId: string;
      readonly kind: 'delivered' | 'temporary' | 'permanent';
      readonly text: string;
      readonly statusCode: string;
    }
  | {
      readonly type: 'end';
      readonly now: number;
      /** Evenly from [0, 1): the jitter. */
      readonly random: number;
      readonly policy: RetryPolicy;
      /** By us, before the recipients that are Pending were tried. */
      readonly isInterrupted: boolean;
    }
  /** Of operators. */
  | { readonly type: 'retry'; readonly now: number }
  | { readonly type: 'cancel' }
  /** The report that was due has been given, or is not to be. */
  | { readonly type: 'reported' };

export type MachineEvent = OutboundEmailEvent | RecipientNews;

/** What is to be done once the transition is committed. */
export type Effect =
  | { readonly type: 'announce'; readonly status: Exclude<OutboundEmailStatus, 'Draft'> }
  /** Something is due now: whoever delivers may begin. */
  | { readonly type: 'wake' }
  | { readonly type: 'report'; readonly kind: Report };
