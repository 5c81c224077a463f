// Events, context and effects of the machine of an outbound email. Times are in ms since the epoch; the caller passes times and random
// numbers.

import type { DsnKind, OutboundStatus, OutcomeKind } from '../../mail-format/outbound-status.js';
import type { Notify } from '../../mail-format/reports/dsn-request.js';
import type { Onward, RecipientMachine, RecipientResult } from '../outbound-recipient/machine.js';
import type { RetryPolicy } from './retry.js';

export interface OutboundEmailContext {
  /** The numbers of Pending and Failed recipients; the others are Delivered. */
  readonly pending: number;
  readonly failed: number;
  /** The time at which the email first became due; for a failed email that is tried again, the start of the new attempts. */
  readonly queuedAt: number | null;
  /** The time until which the email is held; null when it is not held. */
  readonly heldUntil: number | null;
  /** The retry count of the recipient that was tried most often. */
  readonly retryCount: number;
  readonly lastError: string | null;
  readonly sentAt: number | null;
  /** True when DSNs of a delay were given or are due. */
  readonly delayReported: boolean;
}

export interface MachineContext extends OutboundEmailContext {
  /** Keyed by recipient id. The machine's actions replace entries, so each step has its own map. */
  readonly recipients: Map<string, RecipientMachine>;
}

interface Planned {
  readonly now: number;
  /** Uniform in [0, 1), for the jitter. */
  readonly random: number;
  readonly policy: RetryPolicy;
}

export type OutboundEmailEvent =
  | {
      readonly type: 'enqueue';
      readonly now: number;
      /** `notify`: the DSNs that the sender requests for the recipient; none for the null sender (RFC 5321 §4.5.5). */
      readonly recipients: readonly { readonly id: string; readonly notify: Notify }[];
      /** No recipient is due before `retry`, which is expected at this time. */
      readonly heldUntil?: number | undefined;
      /** Attempts begin at once for all recipients. */
      readonly begins?: boolean;
    }
  /** Attempts begin for the recipients that are due. In Sending: for further recipients, or in place of an interrupted delivery. */
  | { readonly type: 'start'; readonly now: number }
  /** The attempt for a recipient has ended. */
  | ({
      readonly type: 'answer';
      readonly recipientId: string;
      readonly kind: OutcomeKind;
      readonly text: string;
      readonly statusCode: string;
      readonly doubtfulHost?: string;
      readonly onward?: Onward | undefined;
    } & Planned)
  /** These recipients were not tried because no connection was free. */
  | ({ readonly type: 'postpone'; readonly recipientIds: readonly string[] } & Planned)
  | ({
      readonly type: 'end';
      /** True when this node stopped before it made the current attempts. */
      readonly isInterrupted: boolean;
    } & Planned)
  /** Recipients that wait or have failed are due now. A held email is released. */
  | { readonly type: 'retry'; readonly now: number }
  /** A sender who cancels gets no DSN about it; a held email becomes a draft again. */
  | { readonly type: 'cancel'; readonly by: 'operator' | 'sender'; readonly now: number }
  /** Hosts of delivered recipients report that they could not deliver. */
  | {
      readonly type: 'bounce';
      readonly recipients: readonly { readonly id: string; readonly text: string; readonly statusCode: string }[];
    }
  /** A due DSN has been given for these recipients. */
  | { readonly type: 'reported'; readonly kind: DsnKind; readonly recipientIds: readonly string[] };

export type MachineEvent = OutboundEmailEvent | RecipientResult;

/** Effects run after the transition is committed. */
export type Effect =
  | { readonly type: 'announce'; readonly status: OutboundStatus }
  /** A delivery is due now. */
  | { readonly type: 'due' }
  /** A DSN to the sender may be due now. */
  | { readonly type: 'report' };
