// A reference to an actor, wherever it is: gateways ask the actor, and follow its events.
import type { Observable } from 'rxjs';
import type { EventOf, Name, Outcome, Payload, Protocol } from './protocol.js';

export interface AskOptions {
  /** How long to wait for the outcome, in ms; 10,000 when absent, and 6,000 at most while there is no owner. */
  readonly deadlineMs?: number;
}

/** A position in an account's event log. */
export interface LogPosition {
  readonly seq: number;
  /** ms since the epoch; nothing after the position is older. */
  readonly at: number;
}

/** A position as a client names it: `at` is looked up in the log when it is absent. */
export type ResumeFrom = Pick<LogPosition, 'seq'> & { readonly at?: number | undefined };

export interface ResumePoint {
  /** `events$(position.seq)` gives the events after it. */
  readonly position: LogPosition;
  /** False when events after `from` may be gone from the log, or `from` is no position of this log: then `position` is now. */
  readonly complete: boolean;
}

export interface Ref<P extends Protocol> {
  /**
   * Number of the account's newest change, when this node owns the actor and has it in memory: no reply to a command or a query has a
   * later one. Undefined elsewhere.
   */
  readonly position: number | undefined;
  /** @throws ActorFault when the actor cannot be reached or fails; expected outcomes are values. */
  ask<N extends Name<P>>(name: N, payload: Payload<P, N>, options?: AskOptions): Promise<Outcome<P, N>>;
  /**
   * The account's events in order, each once and without gaps; an array holds the events of a commit or of a page of the log.
   * The stream begins after seq `after` when that is given, else now. The first array may be empty: with it the stream is
   * ready, and no later event is missed. The other arrays are not empty. All subscribers of a node share one bus
   * subscription and the reads of the log. To unsubscribe ends what the subscriber has caused; nothing is buffered, so a
   * subscriber that falls behind unsubscribes and begins anew from its position.
   */
  events$(after?: number): Observable<readonly EventOf<P>[]>;
  /** Where to follow the events from: after `from` when the log still has these events, else (and for null) from now. */
  resume(from: ResumeFrom | null): Promise<ResumePoint>;
}

export interface Refs<P extends Protocol> {
  of(accountId: string): Ref<P>;
}
