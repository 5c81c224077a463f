// Events, context and effects of the machine of an outbound email. Times are ms since the epoch; clock and random numbers come
// from the caller.
import type { Notify } from '../../mail/dsn-request.js';
import type { OutboundStatus, OutcomeKind, ReportKind } from '../../mail/outbound-status.js';
import type { Onward, RecipientMachine, RecipientResult } from '../outbound-recipient/machine.js';
import type { RetryPolicy } from './retry.js';

export interface OutboundEmailContext {
  /** How many recipients are Pending and how many Failed; the rest are Delivered. */
  readonly pending: number;
  readonly failed: number;
  /** When it became due first; of a failed one that is tried anew, when that began. */
  readonly queuedAt: number | null;
  /** While it is held: until when. */
  readonly heldUntil: number | null;
  /** Of the recipient that was tried most often. */
  readonly retryCount: number;
  readonly lastError: string | null;
  readonly sentAt: number | null;
  /** Notifications of a delay were given, or are due. */
  readonly delayReported: boolean;
}

export interface MachineContext extends OutboundEmailContext {
  /** By id. The actions of the machine replace entries: each step has a map of its own. */
  readonly recipients: Map<string, RecipientMachine>;
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
      /** `notify`: what the sender wants to be told of the recipient; never anything for the null sender (RFC 5321 §4.5.5). */
      readonly recipients: readonly { readonly id: string; readonly notify: Notify }[];
      /** No recipient is due before `retry`, which is expected at this time. */
      readonly heldUntil?: number | undefined;
      /** Attempts begin at once for all recipients. */
      readonly begins?: boolean;
    }
  /** Attempts begin for the recipients that are due; while Sending for further ones, or in place of an interrupted delivery. */
  | { readonly type: 'start'; readonly now: number }
  /** The attempt for a recipient is over. */
  | ({
      readonly type: 'answer';
      readonly recipientId: string;
      readonly kind: OutcomeKind;
      readonly text: string;
      readonly statusCode: string;
      readonly doubtfulHost?: string;
      readonly onward?: Onward | undefined;
    } & Planned)
  /** There was no attempt for them: no connection was free. */
  | ({ readonly type: 'postpone'; readonly recipientIds: readonly string[] } & Planned)
  | ({
      readonly type: 'end';
      /** This node stopped before the attempts under way were made. */
      readonly isInterrupted: boolean;
    } & Planned)
  /** Who waits or has failed is due now. A held email is released. */
  | { readonly type: 'retry'; readonly now: number }
  /** Senders who cancel get no notification of it; while the email is held it is a draft again. */
  | { readonly type: 'cancel'; readonly by: 'operator' | 'sender'; readonly now: number }
  /** Delivered recipients whose hosts report that they could not deliver. */
  | {
      readonly type: 'bounce';
      readonly recipients: readonly { readonly id: string; readonly text: string; readonly statusCode: string }[];
    }
  /** A notification that was due has been given for these recipients. */
  | { readonly type: 'reported'; readonly kind: ReportKind; readonly recipientIds: readonly string[] };

export type MachineEvent = OutboundEmailEvent | RecipientResult;

/** To be carried out once the transition is committed. */
export type Effect =
  | { readonly type: 'announce'; readonly status: OutboundStatus }
  /** A delivery is due now. */
  | { readonly type: 'due' }
  /** A notification of the sender may be due now. */
  | { readonly type: 'report' };
