// A reference to an actor on any node: gateways ask the actor and follow its events.
import type { Observable } from 'rxjs';
import type { EventOf, Name, Outcome, Payload, Protocol } from './protocol.js';

export interface AskOptions {
  /** How long to wait for the outcome, in ms; 10,000 by default, and at most 6,000 while there is no owner. */
  readonly deadlineMs?: number;
  /** UUID; two asks with the same id are the same command, and the second one gets the reply of the first. Default: a new one. */
  readonly id?: string;
  /**
   * What travels with the command besides its payload. The behavior of the actor understands it, and has it until the command is answered.
   * The command is remembered, because its caller may ask again without it.
   */
  readonly carried?: unknown;
}

/** A position in an account's event log. */
export interface LogPosition {
  readonly seq: number;
  /** In ms since the epoch; nothing after the position is older. */
  readonly at: number;
}

/** A position as a client names it; if `at` is absent, it is looked up in the log. */
export type ResumeFrom = Pick<LogPosition, 'seq'> & { readonly at?: number | undefined };

export interface ResumePoint {
  /** `events$(position.seq)` gives the events after it. */
  readonly position: LogPosition;
  /**
   * False when the log may have lost events after `from`, or when `from` is no position of this log: then `position` is the current one.
   */
  readonly complete: boolean;
}

export interface Ref<P extends Protocol> {
  /**
   * The number of the account's newest change, when this node owns the actor and has it in memory: no reply has a later one. Otherwise
   * undefined.
   */
  readonly position: number | undefined;
  /** @throws ActorFault when the actor cannot be reached or fails; expected outcomes are values. */
  ask<N extends Name<P>>(name: N, payload: Payload<P, N>, options?: AskOptions): Promise<Outcome<P, N>>;
  /**
   * The account's events in order, each once and without gaps; an array holds the events of a commit or of a page of the log. The stream
   * begins after seq `after`, or now if it is absent. The first array may be empty: then the stream is ready and misses no later event.
   * Other arrays are not empty. All subscribers of a node share one bus subscription and the reads of the log. Unsubscribing ends all work
   * for the subscriber. Nothing is buffered: a subscriber that falls behind unsubscribes and starts again from its position.
   */
  events$(after?: number): Observable<readonly EventOf<P>[]>;
  /** Returns the position from which to follow events: after `from` if the log still has those events, otherwise (and for null) now. */
  resume(from: ResumeFrom | null): Promise<ResumePoint>;
}

export interface Refs<P extends Protocol> {
  of(accountId: string): Ref<P>;
}
