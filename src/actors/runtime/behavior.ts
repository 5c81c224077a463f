// The definition of an actor, independent of the runtime: load, plan each command on a transaction, commit the transaction, evolve the
// state. Planning and evolving are synchronous; they only change the transaction and the state that they own.

import type { Name, Operation, Outcome, Payload, Protocol } from './protocol.js';
import type { EventPacket } from './transport/packet.js';

type NamesOf<P extends Protocol, K extends Operation['kind']> = {
  [N in Name<P>]: P['operations'][N]['kind'] extends K ? N : never;
}[Name<P>];

/** The external inputs of a plan, which has no clock and no random source of its own. */
export interface PlanContext {
  /** ms since the epoch. */
  readonly now: number;
  readonly epoch: number;
  random(octets: number): Uint8Array;
}

type Plan<T, A, O> = (transaction: T, payload: A) => O;

/** A handler that plans with more than the state: `reads` declares what must be read before; undefined when the state is enough. */
interface ReadingHandler<T, A, O, S, D> {
  reads(payload: A, state: S): D | undefined;
  readonly plan: Plan<T, A, O>;
}

/** `D`: what the commands declare to read. */
export type CommandHandlers<P extends Protocol, T, S = unknown, D = never> = {
  readonly [N in NamesOf<P, 'command'>]:
    | Plan<T, Payload<P, N>, Outcome<P, N>>
    | ReadingHandler<T, Payload<P, N>, Outcome<P, N>, S, D>;
};

/** The reads of one command. The payload is the key under which its plan finds what was read for it alone. */
export interface DeclaredReads<D> {
  readonly payload: unknown;
  readonly reads: D;
}

export type QueryHandlers<P extends Protocol, S> = {
  readonly [N in NamesOf<P, 'query'>]: (state: S, payload: Payload<P, N>) => Promise<Outcome<P, N>>;
};

export type Committed<R = undefined> =
  | { readonly kind: 'committed'; readonly events: Omit<EventPacket, 'v' | 'accountId'> }
  | { readonly kind: 'unchanged' }
  /** Another owner has committed: this state is outdated. */
  | { readonly kind: 'fenced' }
  /** The commit found out something that changes the plan: plan the same commands again, with `prefetched` if it is present. */
  | { readonly kind: 'again'; readonly prefetched?: R };

export type Loaded<S> =
  | { readonly kind: 'loaded'; readonly state: S }
  | { readonly kind: 'noSuchAccount' }
  /** A later epoch has the account. */
  | { readonly kind: 'fenced' };

/** The reply of a command that must not run twice, with the id of its ask. */
export interface Remembered {
  readonly id: string;
  readonly reply: unknown;
}

/** `R`: the result of `prepare`. `D`: see `CommandHandlers`. */
export interface Behavior<P extends Protocol, S, T, R = undefined, D = never> {
  readonly protocol: P;
  /** Claims the account for the epoch and loads it. */
  load(accountId: string, epoch: number): Promise<Loaded<S>>;
  /**
   * Reads what commands of a group declare; not called when none declares anything. Undefined when there is nothing to read, no promise when
   * nothing has to be waited for. If this fails, the commands are planned without it, so `commands` must work without it.
   */
  prepare?(state: S, declared: readonly DeclaredReads<D>[]): R | Promise<R> | undefined;
  /**
   * Takes what a command carries besides its payload, before the command is planned. The returned function is called when the command is
   * answered. Undefined when the behavior does not understand it: the command is not carried out. Must not throw.
   */
  receive?(carried: unknown): (() => void) | undefined;
  /** Awaited before a group of commands is taken from the queue, so that commands that arrive meanwhile join the group. */
  beforePlan?(): Promise<void>;
  /** Estimates how much a command changes, 1 for most; the payload has a valid form. */
  weigh?(payload: unknown): number;
  begin(state: S, context: PlanContext, prefetched?: R): T;
  /** Releases what `prepare` has reserved, when the commands are committed or have failed. Must not throw. */
  release?(prefetched: R): void;
  /** A handler that refuses must leave the transaction unchanged. */
  readonly commands: CommandHandlers<P, T, S, D>;
  readonly queries: QueryHandlers<P, S>;
  /** Commits the transaction and the remembered replies, then evolves the state; returns the events to publish. */
  commit(state: S, transaction: T, remembered: readonly Remembered[]): Promise<Committed<R>>;
  /** Returns the reply that was recently committed under this id. */
  recall(state: S, id: string): Remembered | undefined;
  /** The change number of this state, in the numbering of the events' seqs. */
  position(state: S): number;
  /** Approximate memory of the state, in octets. */
  octets(state: S): number;
  /** True when the state has so much unused memory that it should be loaded again. */
  needsCompaction(state: S): boolean;
}
