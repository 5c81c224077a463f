// What gateways hold of an actor: ask it, and follow its events. Where the actor lives is the runtime's business.
import type { Observable } from 'rxjs';
import type { EventOf, Name, Outcome, Payload, Protocol } from './protocol.js';

export interface AskOptions {
  /** How long to wait for the outcome, in ms; 10,000 when absent. Without an owner it is 6,000 at most. */
  readonly deadlineMs?: number;
}

export interface Ref<P extends Protocol> {
  /** @throws ActorFault when the actor cannot be reached or fails; expected outcomes are values. */
  ask<N extends Name<P>>(name: N, payload: Payload<P, N>, options?: AskOptions): Promise<Outcome<P, N>>;
  /**
   * The account's events in order and without gaps, one array a commit: from after seq `after` when given (read from the
   * log), else from the moment of subscription. The bus subscription is shared by all subscribers on this node and is
   * in place when `subscribe` returns.
   */
  events$(after?: number): Observable<readonly EventOf<P>[]>;
}

export interface Refs<P extends Protocol> {
  of(accountId: string): Ref<P>;
}
