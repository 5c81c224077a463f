// What an actor is, apart from how it is run: load, plan each command on a transaction, commit the transaction, evolve the state.
// Planning and evolving are synchronous and pure but for the transaction and the state they own.
import type { EventPacket } from './packet.js';
import type { Name, Operation, Outcome, Payload, Protocol } from './protocol.js';

type NamesOf<P extends Protocol, K extends Operation['kind']> = {
  [N in Name<P>]: P['operations'][N]['kind'] extends K ? N : never;
}[Name<P>];

/** What planning a batch of commands needs from outside: it has no clock and no dice of its own. */
export interface PlanContext {
  /** ms since the epoch. */
  readonly now: number;
  readonly epoch: number;
  random(octets: number): Uint8Array;
}

export type CommandHandlers<P extends Protocol, T> = {
  readonly [N in NamesOf<P, 'command'>]: (transaction: T, payload: Payload<P, N>) => Outcome<P, N>;
};

export type QueryHandlers<P extends Protocol, S> = {
  readonly [N in NamesOf<P, 'query'>]: (state: S, payload: Payload<P, N>) => Promise<Outcome<P, N>>;
};

export type Committed<R = undefined> =
  | { readonly kind: 'committed'; readonly events: Omit<EventPacket, 'v' | 'accountId'> }
  | { readonly kind: 'unchanged' }
  /** Another owner wrote: this state is out of date. */
  | { readonly kind: 'fenced' }
  /** Something that changes the plan was learnt: plan the same commands again, with `prefetched` when it is there. */
  | { readonly kind: 'again'; readonly prefetched?: R };

export type Loaded<S> =
  | { readonly kind: 'loaded'; readonly state: S }
  | { readonly kind: 'noSuchAccount' }
  /** A later epoch has the account. */
  | { readonly kind: 'fenced' };

/** Reply of a command that must not run twice, under the id of its ask. */
export interface Remembered {
  readonly id: string;
  readonly reply: unknown;
}

/** `R`: what `prepare` reads. */
export interface Behavior<P extends Protocol, S, T, R = undefined> {
  readonly protocol: P;
  /** Claims the account for the epoch and loads it. */
  load(accountId: string, epoch: number): Promise<Loaded<S>>;
  /**
   * Reads what planning these commands needs and the state does not have; undefined when that is nothing. The commands
   * are planned without it when this fails, because they must not wait for what they can do without.
   */
  prepare?(state: S, commands: readonly { readonly name: string; readonly payload: unknown }[]): Promise<R> | undefined;
  /** What to wait for, so that what comes meanwhile is planned with what is there. */
  beforePlan?(): Promise<void>;
  /** About how much a command changes, which is 1 for most; the payload is of a valid form. */
  weigh?(payload: unknown): number;
  begin(state: S, context: PlanContext, prefetched?: R): T;
  /** Releases what `prepare` has reserved, once the commands are committed or have failed. Must not throw. */
  release?(prefetched: R): void;
  /** A handler that refuses must not have touched the transaction. */
  readonly commands: CommandHandlers<P, T>;
  readonly queries: QueryHandlers<P, S>;
  /** Commits the transaction and what is to be remembered, then evolves the state; events are what to publish. */
  commit(state: S, transaction: T, remembered: readonly Remembered[]): Promise<Committed<R>>;
  /** The reply that was committed under this id a short while ago. */
  recall(state: S, id: string): Remembered | undefined;
  /** The account's change number that this state is of: what the seqs of its events count. */
  position(state: S): number;
  /** Rough memory of the state, in octets. */
  octets(state: S): number;
  /** The state carries so much waste that loading it afresh pays. */
  needsCompaction(state: S): boolean;
}
