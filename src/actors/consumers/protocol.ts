// The interface of a kind of durable consumers: which events concern it, and how a change is delivered to a consumer. Gateways implement
// kinds (Web Push, webhooks); the engine that runs them knows no protocol.
import type { ConsumerKind, ConsumerPosition } from '../../store/consumers.js';
import type { MailboxEvent } from '../mailbox/protocol.js';

/** One change of the account's log with all its events, in order. */
export interface LogChange {
  readonly seq: number;
  /** ms since the epoch. */
  readonly at: number;
  readonly events: readonly MailboxEvent[];
}

export type DeliveryOutcome =
  /** The change was delivered: earlier failures no longer count. */
  | { readonly kind: 'delivered' }
  /** There was nothing to deliver. */
  | { readonly kind: 'passed' }
  /** The change is given up; the next change follows. */
  | { readonly kind: 'dropped' }
  /**
   * The same change is delivered again, after the kind's back-off and at least `retryAfterMs`. `recovered`: a part of the change was
   * delivered, so earlier failures no longer count.
   */
  | { readonly kind: 'failed'; readonly retryAfterMs?: number; readonly recovered?: boolean }
  /** Nothing was attempted because something is busy: the same change follows again after `ms`. Does not count as a failure. */
  | { readonly kind: 'deferred'; readonly ms: number }
  /** The consumer was removed or disabled. */
  | { readonly kind: 'gone' };

export interface DeliveryRun {
  /** Aborts when the node cannot wait any longer. */
  readonly signal: AbortSignal;
  /** False when the account has another owner, or the consumer stops: must be checked after each wait, before something is sent. */
  isCurrent(): boolean;
}

export interface DurableConsumers {
  readonly kind: ConsumerKind;
  /** Accounts whose commits have no such event are not looked at until the next slow scan. */
  concerns(event: MailboxEvent): boolean;
  /**
   * Called with one change of a consumer at a time, in log order, only for changes with an event that concerns the kind. A change may be
   * repeated when a node ends before the position is stored. The kind limits its own concurrent requests, also per host. An error that is
   * thrown counts as `failed`.
   */
  deliver(consumer: ConsumerPosition, change: LogChange, run: DeliveryRun): Promise<DeliveryOutcome>;
  /** The pause of a consumer in ms after this many consecutive failures. */
  backoffMs(failures: number): number;
  /** Called when the log has lost changes after the consumer's position: the consumer continues with those that are left. */
  interrupted?(consumer: ConsumerPosition, run: DeliveryRun): Promise<DeliveryOutcome>;
}

export interface ConsumerMeter {
  /** Counts an attempt; changes that do not concern the consumer are not counted. */
  attempted(kind: ConsumerKind, outcome: DeliveryOutcome['kind'], ms: number): void;
}

export const NO_CONSUMER_METER: ConsumerMeter = { attempted: () => {} };
