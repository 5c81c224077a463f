// What gateways hold of an actor: ask it, and follow its events. Where the actor lives is the runtime's business.
import type { Observable } from 'rxjs';
import type { EventOf, Name, Outcome, Payload, Protocol } from './protocol.js';

export interface AskOptions {
  /** How long to wait for the outcome, in ms; 10,000 when absent. Without an owner it is 6,000 at most. */
  readonly deadlineMs?: number;
}

/** A position in an account's event log. */
export interface LogPosition {
  readonly seq: number;
  /** ms since the epoch; nothing after the position is older. */
  readonly at: number;
}

export interface ResumePoint {
  /** What comes after it is what `events$(position.seq)` gives. */
  readonly position: LogPosition;
  /** False when events after `from` may be gone from the log, or it is no position of this log: then `position` is now. */
  readonly complete: boolean;
}

export interface Ref<P extends Protocol> {
  /** @throws ActorFault when the actor cannot be reached or fails; expected outcomes are values. */
  ask<N extends Name<P>>(name: N, payload: Payload<P, N>, options?: AskOptions): Promise<Outcome<P, N>>;
  /**
   * The account's events in order and without gaps, one array a commit or a page of the log: from after seq `after` when
   * given (read from the log), else from now. The first array may be empty and says that the stream stands: nothing that
   * happens from then on is missed. Later ones are never empty. The bus subscription is shared by all on this node.
   */
  events$(after?: number): Observable<readonly EventOf<P>[]>;
  /** Where to follow the events from, for one who had them until `from`, or wants them from now on (null). */
  resume(from: LogPosition | null): Promise<ResumePoint>;
}

export interface Refs<P extends Protocol> {
  of(accountId: string): Ref<P>;
}
