// What goes into and comes out of the machine of an outbound email. Times are ms since the epoch; the clock and the dice are
// the caller's.
import type { OutboundStatus, OutcomeKind, ReportKind } from '../../mail/outbound-status.js';
import type { RecipientNews } from '../outbound-recipient/machine.js';
import type { RetryPolicy } from './retry.js';

export interface OutboundEmailContext {
  /** How many recipients are Pending and how many Failed; the rest are Delivered. */
  readonly pending: number;
  readonly failed: number;
  /** Somebody can be told: false for the null sender (RFC 5321 §4.5.5). */
  readonly hasSender: boolean;
  readonly queuedAt: number | null;
  /** Of the recipient that was tried most often. */
  readonly retryCount: number;
  readonly lastError: string | null;
  readonly sentAt: number | null;
  /** What the sender is still to be told. */
  readonly reportDue: ReportKind | null;
  /** The sender has been told of the delay, or is about to be. */
  readonly delayReported: boolean;
}

interface Planned {
  readonly now: number;
  /** Evenly from [0, 1): the jitter. */
  readonly random: number;
  readonly policy: RetryPolicy;
}

export type OutboundEmailEvent =
  | {
      readonly type: 'enqueue';
      readonly now: number;
      readonly recipientIds: readonly string[];
      readonly hasSender: boolean;
    }
  /** Attempts begin for the recipients that are due; while Sending for further ones, or in place of a delivery that is no more. */
  | { readonly type: 'start'; readonly now: number }
  /** The attempt for a recipient is over. */
  | ({
      readonly type: 'answer';
      readonly recipientId: string;
      readonly kind: OutcomeKind;
      readonly text: string;
      readonly statusCode: string;
    } & Planned)
  /** There was no attempt for them: no connection was free. */
  | ({ readonly type: 'postpone'; readonly recipientIds: readonly string[] } & Planned)
  | ({
      readonly type: 'end';
      /** By us, before the recipients whose attempts are under way were tried. */
      readonly isInterrupted: boolean;
    } & Planned)
  /** Of operators. */
  | { readonly type: 'retry'; readonly now: number }
  | { readonly type: 'cancel' }
  /** The report that was due has been given, or is not to be. */
  | { readonly type: 'reported' };

export type MachineEvent = OutboundEmailEvent | RecipientNews;

/** What is to be done once the transition is committed. */
export type Effect =
  | { readonly type: 'announce'; readonly status: Exclude<OutboundStatus, 'Draft'> }
  /** Something is due now: whoever delivers may begin. */
  | { readonly type: 'wake' }
  | { readonly type: 'report'; readonly kind: ReportKind };
