// Transitions of a machine without its own actor: a step begins with a stored snapshot and ends with the next one, and an actor would cost
// more than the transitions. Emitted events are returned to the caller. Snapshots of one state only differ in their context, so each state
// is resolved once.
import { type AnyActorScope, type AnyStateMachine, createActor, type EmittedFrom, type SnapshotFrom } from 'xstate';

type EventOf<M> = M extends { transition(snapshot: never, event: infer E, scope: never): unknown } ? E : never;

/** `emitted`: receives what the machine emits. */
export type Transition<M extends AnyStateMachine> = (
  snapshot: SnapshotFrom<M>,
  event: EventOf<M>,
  emitted: EmittedFrom<M>[],
) => SnapshotFrom<M>;

export function transitionsOf<M extends AnyStateMachine>(machine: M): Transition<M> {
  // The actor is never started: a transition refers to one but does not use it.
  const self = createActor(machine as AnyStateMachine);
  const { id, sessionId, system } = self;
  const scope: AnyActorScope = {
    self,
    id,
    sessionId,
    system,
    logger() {},
    defer: (then) => then(),
    emit() {},
    stopChild() {},
    actionExecutor: ({ exec, info, params }) => exec?.(info, params),
  };
  return (snapshot, event, emitted) => {
    scope.emit = (each) => void emitted.push(each as EmittedFrom<M>);
    return machine.transition(snapshot, event, scope) as SnapshotFrom<M>;
  };
}

/** Returns a function that makes snapshots of a state with a context. Only for machines without nested states and children. */
export function statesOf<M extends AnyStateMachine>(
  machine: M,
): (value: SnapshotFrom<M>['value'], context: SnapshotFrom<M>['context']) => SnapshotFrom<M> {
  const resolved = new Map<unknown, object>();
  return (value, context) => {
    const state = resolved.get(value) ?? (machine.resolveState({ value, context }) as object);
    resolved.set(value, state);
    return { ...state, context } as SnapshotFrom<M>;
  };
}
