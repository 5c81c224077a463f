// What a kind of durable consumers is to the engine that runs them: which events concern them, and how a change is delivered to
// one of them. Kinds are gateways (Web Push, webhooks); the engine knows no protocol.
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
  /** Something was delivered: earlier failures no longer count. */
  | { readonly kind: 'delivered' }
  /** There was nothing to deliver. */
  | { readonly kind: 'passed' }
  /** The change is given up, and the next one is next. */
  | { readonly kind: 'dropped' }
  /**
   * The same change is delivered again, after the back-off of the kind and no sooner than `retryAfterMs`. `recovered`: a part of
   * the change was delivered, so earlier failures no longer count.
   */
  | { readonly kind: 'failed'; readonly retryAfterMs?: number; readonly recovered?: boolean }
  /** Nothing was attempted, because something is busy: the same change again after `ms`. Counts as no failure. */
  | { readonly kind: 'deferred'; readonly ms: number }
  /** The consumer was removed or disabled. */
  | { readonly kind: 'gone' };

export interface DeliveryRun {
  /** Aborts when the node cannot wait any longer. */
  readonly signal: AbortSignal;
  /** False once the account has another owner, or the consumer stops: asked after each wait, before something is sent. */
  isCurrent(): boolean;
}

export interface DurableConsumers {
  readonly kind: ConsumerKind;
  /** An account whose commits have no such event is not looked at until the next slow scan. */
  concerns(event: MailboxEvent): boolean;
  /**
   * Called with one change at a time of each consumer, in the order of the log, and for changes with an event that concerns the
   * kind. A change may come again when a node ends before the position is stored. The kind bounds how many requests it makes at
   * a time, also to one host. What is thrown counts as `failed`.
   */
  deliver(consumer: ConsumerPosition, change: LogChange, run: DeliveryRun): Promise<DeliveryOutcome>;
  /** How long the consumer rests after so many failures in a row, in ms. */
  backoffMs(failures: number): number;
  /** The log no longer has all changes after the consumer's position: it goes on with what is left after this. */
  interrupted?(consumer: ConsumerPosition, run: DeliveryRun): Promise<DeliveryOutcome>;
}

export interface ConsumerMeter {
  /** An attempt is over; changes that do not concern the consumer are not counted. */
  attempted(kind: ConsumerKind, outcome: DeliveryOutcome['kind'], ms: number): void;
}

export const NO_CONSUMER_METER: ConsumerMeter = { attempted: () => {} };
