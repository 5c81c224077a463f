// Transitions of a machine that XState defines: a state and an event to the next state; what the machine emits is handed out.
// XState's own interpreter is made for nested states and actors, and made a fifth of all objects that an outbound email costs.
// Run here is what the machines use: states side by side, guards, entry and exit, plain actions, `assign`, `emit`, and
// `enqueueActions` with `assign`, `emit` and `raise`. A definition with anything else is refused when the program starts.
import type { AnyEventObject, AnyStateMachine, ContextFrom, EmittedFrom, SnapshotFrom } from 'xstate';

type EventOf<M> = M extends { transition(snapshot: never, event: infer E, scope: never): unknown } ? E : never;

export interface StateOf<M extends AnyStateMachine> {
  readonly value: SnapshotFrom<M>['value'];
  readonly context: ContextFrom<M>;
}

/** `emitted`: gets what the machine emits. */
export type Transition<M extends AnyStateMachine> = (
  state: StateOf<M>,
  event: EventOf<M>,
  emitted: EmittedFrom<M>[],
) => StateOf<M>;

interface Args {
  readonly context: object;
  readonly event: AnyEventObject;
}

interface Run {
  context: object;
  readonly raised: AnyEventObject[];
  readonly emitted: unknown[];
}

type Action = (run: Run, event: AnyEventObject) => void;

interface Rule {
  readonly holds: (args: Args) => boolean;
  readonly target: string | undefined;
  readonly actions: readonly Action[];
}

interface State {
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  readonly entry: readonly Action[];
  readonly exit: readonly Action[];
  readonly isFinal: boolean;
}

type Node = AnyStateMachine['root'];
type Named = string | { readonly type: string; readonly params?: unknown };
type Params = (args: Args) => unknown;

/** An action as XState's functions make them; a plain one has no type. */
interface Implementation {
  (args: unknown, params: unknown): unknown;
  readonly type?: string;
  readonly assignment?: unknown;
  readonly event?: unknown;
  readonly collect?: (args: object, params: unknown) => void;
}

/** @throws Error when the machine has what cannot be run */
export function transitionsOf<M extends AnyStateMachine>(machine: M): Transition<M> {
  const root = stateOf(machine, machine.root);
  const states = new Map(
    Object.entries(machine.states).map(([name, node]) => [name, stateOf(machine, node as Node)] as const),
  );
  const named = (name: string): State => {
    const state = states.get(name);
    if (state === undefined) throw new Error(`the machine ${machine.id} has no state ${name}`);
    return state;
  };

  /** Returns the name of the next state. */
  function take(run: Run, name: string, event: AnyEventObject): string {
    const state = named(name);
    const args = { context: run.context, event };
    const holds = (rule: Rule) => rule.holds(args);
    const rule = state.rules.get(event.type)?.find(holds) ?? root.rules.get(event.type)?.find(holds);
    if (rule === undefined) return name;
    const { actions, target } = rule;
    if (target === undefined) {
      for (const act of actions) act(run, event);
      return name;
    }
    for (const act of state.exit) act(run, event);
    for (const act of actions) act(run, event);
    for (const act of named(target).entry) act(run, event);
    return target;
  }

  return (state, event, emitted) => {
    const run: Run = { context: state.context as object, raised: [], emitted };
    let name = take(run, state.value as string, event as AnyEventObject);
    for (const raised of run.raised) {
      if (named(name).isFinal) break;
      name = take(run, name, raised);
    }
    return { value: name, context: run.context } as StateOf<M>;
  };
}

function stateOf(machine: AnyStateMachine, node: Node): State {
  const isRoot = node === machine.root;
  const { type, always = [], invoke, entry, exit } = node;
  const isFinal = type === 'final';
  refuse(machine, type !== 'atomic' && !isFinal && !isRoot, `the state ${node.key} has states`);
  refuse(machine, always.length + invoke.length > 0, `the state ${node.key} does something without an event`);
  refuse(machine, isRoot && entry.length + exit.length > 0, 'it has actions when it begins or ends');
  refuse(machine, isFinal && exit.length > 0, `the final state ${node.key} has actions when it ends`);
  const rules = new Map<string, Rule[]>();
  for (const [event, transitions] of node.transitions) {
    refuse(machine, /[*]|^xstate\./.test(event), `it has transitions for ${event}`);
    const those = transitions.map(({ guard, target = [], actions }): Rule => {
      const isElsewhere = target.length > 1 || target.some((to) => isRoot || to === node || to.parent !== machine.root);
      refuse(machine, isElsewhere, `a transition of ${node.key} for ${event} leads elsewhere than to another state`);
      return {
        holds: guardOf(machine, guard as Named | undefined),
        target: target[0]?.key,
        actions: actions.map((action) => actionOf(machine, action as Named)),
      };
    });
    rules.set(event, those);
  }
  const actionsOf = (actions: readonly unknown[]) => actions.map((action) => actionOf(machine, action as Named));
  return { rules, entry: actionsOf(entry), exit: actionsOf(exit), isFinal };
}

function guardOf(machine: AnyStateMachine, guard: Named | undefined): Rule['holds'] {
  if (guard === undefined) return () => true;
  const { name, params } = referred(machine, guard);
  const check = machine.implementations.guards[name] as unknown as
    | ((args: Args, params: unknown) => boolean)
    | undefined;
  if (typeof check !== 'function' || 'check' in check) throw refusal(machine, `the guard ${name} is no function`);
  return (args) => check(args, params(args));
}

function actionOf(machine: AnyStateMachine, action: Named): Action {
  const { name, params } = referred(machine, action);
  const made = machine.implementations.actions[name] as unknown as Implementation | undefined;
  if (typeof made !== 'function') throw refusal(machine, `the action ${name} is no function`);
  switch (made.type) {
    case undefined:
      return ({ context }, event) => {
        const args = { context, event };
        made(args, params(args));
      };
    case 'xstate.assign':
      return (run, event) => {
        const args = { context: run.context, event };
        assigned(run, computed(made.assignment, args, params(args)) as object);
      };
    case 'xstate.emit':
      return ({ context, emitted }, event) => {
        const args = { context, event };
        emitted.push(computed(made.event, args, params(args)));
      };
    case 'xstate.enqueueActions':
      return (run, event) => {
        const args = { context: run.context, event };
        const queued: (() => void)[] = [];
        const enqueue = {
          assign: (change: object) => queued.push(() => assigned(run, change)),
          emit: (emitted: unknown) => queued.push(() => run.emitted.push(emitted)),
          raise: (raised: AnyEventObject) => queued.push(() => run.raised.push(raised)),
        };
        made.collect!({ ...args, enqueue }, params(args));
        for (const act of queued) act();
      };
    default:
      throw refusal(machine, `the action ${name} is ${made.type}`);
  }
}

const NO_PARAMS: Params = () => undefined;

function referred(machine: AnyStateMachine, named: Named): { readonly name: string; readonly params: Params } {
  if (typeof named === 'string') return { name: named, params: NO_PARAMS };
  refuse(machine, typeof named !== 'object', 'a guard or an action has no name');
  const { type, params } = named;
  return { name: type, params: typeof params === 'function' ? (params as Params) : () => params };
}

function computed(value: unknown, args: Args, params: unknown): unknown {
  return typeof value === 'function' ? value(args, params) : value;
}

function assigned(run: Run, change: object): void {
  run.context = { ...run.context, ...change };
}

function refuse(machine: AnyStateMachine, isRefused: boolean, reason: string): void {
  if (isRefused) throw refusal(machine, reason);
}

function refusal({ id }: AnyStateMachine, reason: string): Error {
  return new Error(`the machine ${id} cannot be run: ${reason}`);
}
