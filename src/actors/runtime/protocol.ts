// Protocols as values: the commands and queries of an actor, with its replies, refusals and events. The types of callers and handlers
// derive from the value, so they always match.
import type { Infer, Struct } from 'superstruct';

// biome-ignore lint/suspicious/noExplicitAny: a struct's schema parameter is of no interest here
export type AnyStruct = Struct<any, any>;

export interface Operation<
  P extends AnyStruct = AnyStruct,
  R extends AnyStruct = AnyStruct,
  F extends string = string,
  K extends 'command' | 'query' = 'command' | 'query',
> {
  /** Commands change the actor one at a time; queries are answered concurrently. */
  readonly kind: K;
  readonly payload: P;
  readonly reply: R;
  /** Expected outcomes other than a reply; values, not exceptions. */
  readonly refusals: readonly F[];
  /**
   * Only for commands. An ask whose answer was lost is sent again, possibly to the next owner. `harmless`: a repetition has the same effect
   * and reply. `remembered`: the id and the reply are stored with the commit, and a repetition gets that reply. It may depend on the payload.
   */
  onRepeat(payload: unknown): OnRepeat;
}

export type OnRepeat = 'harmless' | 'remembered';

export type Operations = Readonly<Record<string, Operation>>;
export type Events = Readonly<Record<string, AnyStruct>>;

export interface Protocol<O extends Operations = Operations, E extends Events = Events> {
  /** The first token of the actor's subjects, for example `mailbox`. */
  readonly name: string;
  readonly operations: O;
  readonly events: E;
}

export type Name<P extends Protocol> = keyof P['operations'] & string;
export type Payload<P extends Protocol, N extends Name<P>> = Infer<P['operations'][N]['payload']>;
export type Reply<P extends Protocol, N extends Name<P>> = Infer<P['operations'][N]['reply']>;
export type Refusal<P extends Protocol, N extends Name<P>> = P['operations'][N]['refusals'][number];

/** The result of an ask: exactly one of the two fields is present. */
export type Outcome<P extends Protocol, N extends Name<P>> =
  | { readonly reply: Reply<P, N>; readonly refusal?: never }
  | { readonly refusal: Refusal<P, N>; readonly reply?: never };

/** An event of a protocol, discriminated by `type`; `seq` is the change number it belongs to. */
export type EventOf<P extends Protocol> = {
  [K in keyof P['events'] & string]: {
    readonly type: K;
    readonly seq: number;
    readonly n: number;
    /** ms since the epoch. */
    readonly at: number;
    readonly payload: Infer<P['events'][K]>;
  };
}[keyof P['events'] & string];

type Spec<P extends AnyStruct, R extends AnyStruct, F extends string> = {
  payload: P;
  reply: R;
  refusals?: readonly F[];
};

export function command<P extends AnyStruct, R extends AnyStruct, F extends string = never>(
  spec: Spec<P, R, F> & { onRepeat: OnRepeat | ((payload: Infer<P>) => OnRepeat) },
): Operation<P, R, NoInfer<F>, 'command'> {
  const { payload, reply, refusals = [], onRepeat } = spec;
  const ofPayload = typeof onRepeat === 'string' ? () => onRepeat : (onRepeat as (payload: unknown) => OnRepeat);
  return { kind: 'command', payload, reply, refusals, onRepeat: ofPayload };
}

export function query<P extends AnyStruct, R extends AnyStruct, F extends string = never>(
  spec: Spec<P, R, F>,
): Operation<P, R, NoInfer<F>, 'query'> {
  const { payload, reply, refusals = [] } = spec;
  return { kind: 'query', payload, reply, refusals, onRepeat: () => 'harmless' };
}

export function protocol<O extends Operations, E extends Events>(
  name: string,
  parts: { operations: O; events: E },
): Protocol<O, E> {
  // Names come from other nodes: the names of Object's own methods must be unknown operations.
  const operations: O = Object.assign(Object.create(null), parts.operations);
  return { name, operations, events: parts.events };
}
