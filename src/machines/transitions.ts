// Transitions of a machine without an actor of its own: a step begins with a stored snapshot and ends with the next one, and an
// actor would cost more than the transitions. What a machine emits is handed out. Snapshots of one state differ in their context
// alone, so each state is resolved once.
import { type AnyActorScope, type AnyStateMachine, createActor, type EmittedFrom, type SnapshotFrom } from 'xstate';

type EventOf<M> = M extends { transition(snapshot: never, event: infer E, scope: never): unknown } ? E : never;

/** `emitted`: gets what the machine emits. */
export type Transition<M extends AnyStateMachine> = (
  snapshot: SnapshotFrom<M>,
  event: EventOf<M>,
  emitted: EmittedFrom<M>[],
) => SnapshotFrom<M>;

export function transitionsOf<M extends AnyStateMachine>(machine: M): Transition<M> {
  // Never started: a transition refers to an actor, and asks nothing of it.
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

/** Snapshots of the machine in a state, with a context. For machines whose states have no states within and no children. */
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
