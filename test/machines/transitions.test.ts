// The transitions that are run are those of XState: random events to both, and the same states, contexts and emitted events.
// What cannot be run is refused.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import {
  type AnyActorScope,
  type AnyStateMachine,
  assign,
  createActor,
  createMachine,
  log,
  type SnapshotFrom,
  setup,
} from 'xstate';
import { outboundEmail } from '../../src/machines/outbound-email/machine.js';
import { outboundRecipient } from '../../src/machines/outbound-recipient/machine.js';
import { transitionsOf } from '../../src/machines/transitions.js';

const POLICY = { maxRetries: 2, baseMs: 60_000, capMs: 3_600_000 };
const HOUR = 3_600_000;

const planned = {
  now: fc.integer({ min: 0, max: 24 * HOUR }),
  random: fc.double({ min: 0, max: 0.999, noNaN: true }),
  policy: fc.constant(POLICY),
};
const text = fc.constantFrom('one', 'two');
const statusCode = fc.constantFrom('4.0.0', '5.0.0');
const constant = <T extends string>(type: T) => fc.constant(type);

const recipientEvent = fc.oneof(
  fc.record({ type: constant('tried') }),
  fc.record({ type: constant('due'), now: planned.now }),
  fc.record({ type: constant('postponed'), ...planned }),
  fc.record({ type: constant('delivered'), now: planned.now }),
  fc.record({ type: constant('deferred'), text, statusCode, ...planned }),
  fc.record({ type: constant('refused'), text, statusCode }),
  fc.record({ type: constant('abandoned'), text, statusCode }),
  fc.record({ type: constant('revived'), now: planned.now }),
);

const ids = ['a', 'b', 'c'];
const emailEvent = fc.oneof(
  fc.record({
    type: constant('enqueue'),
    now: planned.now,
    recipientIds: fc.subarray(ids, { minLength: 1 }),
    hasSender: fc.boolean(),
    heldUntil: fc.option(planned.now, { nil: undefined }),
  }),
  { weight: 3, arbitrary: fc.record({ type: constant('start'), now: planned.now }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: constant('answer'),
      recipientId: fc.constantFrom(...ids),
      kind: fc.constantFrom('delivered', 'temporary', 'permanent'),
      text,
      statusCode,
      ...planned,
    }),
  },
  fc.record({ type: constant('postpone'), recipientIds: fc.subarray(ids), ...planned }),
  { weight: 3, arbitrary: fc.record({ type: constant('end'), isInterrupted: fc.boolean(), ...planned }) },
  fc.record({ type: constant('retry'), now: planned.now }),
  fc.record({ type: constant('cancel'), by: fc.constantFrom('operator', 'sender') }),
  fc.record({ type: constant('reported') }),
);

/** What XState makes of the events, by its own interpreter. */
function interpreted(machine: AnyStateMachine, value: string, context: object, events: readonly { type: string }[]) {
  const self = createActor(machine);
  const { id, sessionId, system } = self;
  const emitted: unknown[] = [];
  const scope: AnyActorScope = {
    self,
    id,
    sessionId,
    system,
    logger() {},
    defer: (then) => then(),
    emit: (each) => void emitted.push(each),
    stopChild() {},
    actionExecutor: ({ exec, info, params }) => exec?.(info, params),
  };
  let snapshot: SnapshotFrom<AnyStateMachine> = machine.resolveState({ value, context });
  for (const event of events) snapshot = machine.transition(snapshot, event, scope);
  return { value: snapshot.value, context: snapshot.context, emitted };
}

function run(machine: AnyStateMachine, value: string, context: object, events: readonly { type: string }[]) {
  const transition = transitionsOf(machine);
  const emitted: { type: string }[] = [];
  let state = { value, context };
  for (const event of events) state = transition(state, event, emitted) as typeof state;
  return { ...state, emitted };
}

/** Random events, after histories that lead to every state. */
function same(
  t: ExecutionContext,
  machine: AnyStateMachine,
  { value, context, event }: { value: string; context: () => object; event: fc.Arbitrary<{ type: string }> },
  histories: readonly (readonly { type: string }[])[],
): void {
  const ends = histories.map((events) => run(machine, value, context(), events).value);
  t.deepEqual(new Set(ends), new Set(Object.keys(machine.states)));
  fc.assert(
    fc.property(fc.constantFrom(...histories), fc.array(event, { maxLength: 20 }), (history, more) => {
      const events = [...history, ...more];
      t.deepEqual(run(machine, value, context(), events), interpreted(machine, value, context(), events));
    }),
    { numRuns: 500 },
  );
}

test('a recipient goes where XState has it go', (t) => {
  const context = outboundRecipient.config.context as object;
  const delivered = { type: 'delivered', now: 1 };
  const refused = { type: 'refused', text: 'one', statusCode: '5.0.0' };
  const start = { value: 'Pending', context: () => context, event: recipientEvent };
  same(t, outboundRecipient, start, [[], [delivered], [refused]]);
});

test('an email goes where XState has it go', (t) => {
  const context = outboundEmail.config.context as object;
  const plan = { now: 1, random: 0, policy: POLICY };
  const queued = { type: 'enqueue', now: 1, recipientIds: ['a', 'b'], hasSender: true };
  const answer = { type: 'answer', kind: 'delivered', text: 'one', statusCode: '2.0.0', ...plan };
  const answers = [
    { ...answer, recipientId: 'a' },
    { ...answer, recipientId: 'b' },
  ];
  const end = { type: 'end', isInterrupted: false, ...plan };
  const sending = [queued, { type: 'start', now: 1 }];
  const cancelled = [queued, { type: 'cancel', by: 'operator' }];
  const start = {
    value: 'Draft',
    context: () => ({ ...context, recipients: new Map() }),
    event: emailEvent,
  };
  same(t, outboundEmail, start, [[], [queued], sending, [...sending, ...answers, end], cancelled]);
});

test('a stored state that the machine does not have is a fault', (t) => {
  const transition = transitionsOf(outboundRecipient as AnyStateMachine);
  t.throws(() => transition({ value: 'Lost', context: {} }, { type: 'tried' }, []), { message: /no state Lost/ });
});

test('a machine that does more than is run is refused', (t) => {
  const states = { On: {}, Off: {} };
  const own = setup({ actions: { log: log('on'), count: assign({ count: 1 }) } });
  const machines: Record<string, AnyStateMachine> = {
    'has states': createMachine({ initial: 'On', states: { On: { initial: 'Deep', states: { Deep: {} } } } }),
    'without an event': createMachine({ initial: 'On', states: { On: { always: 'Off' }, Off: {} } }),
    'xstate.after': createMachine({ initial: 'On', states: { On: { after: { 10: 'Off' } }, Off: {} } }),
    'transitions for \\*': createMachine({ initial: 'On', states: { On: { on: { '*': 'Off' } }, Off: {} } }),
    'leads elsewhere': createMachine({ initial: 'On', states, on: { toggle: '.Off' } }),
    'action missing is no function': createMachine({ initial: 'On', states: { On: { entry: 'missing' } } }),
    'guard missing is no function': createMachine({
      initial: 'On',
      states: { On: { on: { toggle: { guard: 'missing', target: 'Off' } } }, Off: {} },
    }),
    'is xstate.log': own.createMachine({ initial: 'On', states: { On: { on: { toggle: { actions: 'log' } } } } }),
    'has actions when it begins': own.createMachine({ initial: 'On', entry: 'count', states }),
    'final state Off': own.createMachine({ initial: 'On', states: { On: {}, Off: { type: 'final', exit: 'count' } } }),
  };
  for (const [reason, machine] of Object.entries(machines)) {
    t.throws(() => transitionsOf(machine), { message: new RegExp(`cannot be run: .*${reason}`) }, reason);
  }
});
