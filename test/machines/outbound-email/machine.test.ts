// Tests the machine of an outbound email against a plain model, under random histories; the snapshot passes through JSON at every
// step, as it does in the store.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { type RetryPolicy, retryDelay } from '../../../src/machines/outbound-email/retry.js';
import { type Step, step } from '../../../src/machines/outbound-email/step.js';
import { sentSnapshot } from '../../../src/machines/outbound-email/stored-snapshot.js';
import type { Effect, OutboundEmailEvent } from '../../../src/machines/outbound-email/types.js';
import { DSN_KINDS } from '../../../src/mail-format/outbound-status.js';
import { NEVER, NOTIFY_CONDITIONS, type Notify } from '../../../src/mail-format/reports/dsn-request.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { Model } from './machine-model.js';

const HOUR = 3_600_000;
const POLICY: RetryPolicy = { maxRetries: 3, baseMs: 60_000, capMs: 4 * HOUR };

const kind = fc.constantFrom('delivered' as const, 'temporary' as const, 'permanent' as const);
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('start' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('answer' as const),
      who: fc.nat(4),
      kind,
      isDoubtful: fc.boolean(),
      onward: fc.constantFrom('passed' as const, 'relayed' as const, undefined),
      random: fc.double({ min: 0, max: 0.999, noNaN: true }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('postpone' as const),
      who: fc.nat(4),
      random: fc.double({ min: 0, max: 0.999, noNaN: true }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('end' as const),
      random: fc.double({ min: 0, max: 0.999, noNaN: true }),
      isInterrupted: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('retry' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('cancel' as const),
      by: fc.constantFrom('operator' as const, 'sender' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('reported' as const),
      kind: fc.constantFrom(...DSN_KINDS),
      who: fc.nat(4),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('bounce' as const), who: fc.nat(4) }) },
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

/** Recipients without a NOTIFY parameter. */
const asked = (...ids: string[]) => ids.map((id) => ({ id, notify: null }));

const byType = (effects: readonly Effect[]) => effects.map((effect) => JSON.stringify(effect)).sort();

function agree(t: ExecutionContext, { recipients, snapshot: _, effects, ...rest }: Step, model: Model): void {
  const { status, queuedAt, heldUntil, nextRetryAt, retryCount, lastError, sentAt, delayReported } = model;
  t.deepEqual(rest, {
    status,
    queuedAt,
    heldUntil,
    nextRetryAt,
    retryCount,
    lastError,
    sentAt,
    dsnDue: model.owed?.kind ?? null,
    dsnAt: model.owed?.at ?? null,
    delayReported,
  });
  t.deepEqual(
    model.recipients.map((_, i) => recipients.get(`r${i}`)),
    model.recipients,
  );
  t.is(recipients.size, model.recipients.length);
  t.deepEqual(byType(effects), byType(model.effects));
}

function eventOf(next: Move, now: number): OutboundEmailEvent {
  switch (next.type) {
    case 'answer':
      return {
        type: 'answer',
        now,
        recipientId: `r${next.who}`,
        kind: next.kind,
        text: `${next.kind} at ${now}`,
        statusCode: '4.0.0',
        ...(next.onward !== undefined && { onward: next.onward }),
        ...(next.isDoubtful && { doubtfulHost: `mx${next.who}.test` }),
        random: next.random,
        policy: POLICY,
      };
    case 'postpone':
      return { type: 'postpone', now, recipientIds: [`r${next.who}`], random: next.random, policy: POLICY };
    case 'end':
      return { type: 'end', now, random: next.random, policy: POLICY, isInterrupted: next.isInterrupted };
    case 'cancel':
      return { ...next, now };
    case 'reported':
      return { type: 'reported', kind: next.kind, recipientIds: [`r${next.who}`] };
    case 'bounce':
      return { type: 'bounce', recipients: [{ id: `r${next.who}`, text: `bounced at ${now}`, statusCode: '5.1.1' }] };
    case 'retry':
    case 'start':
      return { type: next.type, now };
  }
}

/** Common histories, which random ones rarely contain. */
const COMMON: [Notify[], number | undefined, boolean, [Move, number][]][] = (
  ['delivered', 'permanent', 'temporary'] as const
).flatMap((kind) => {
  const answer: Move = { type: 'answer', who: 0, kind, random: 0.5, isDoubtful: false, onward: undefined };
  const end: Move = { type: 'end', random: 0.5, isInterrupted: false };
  const moves: [Move, number][] = [
    [{ type: 'start' }, 0],
    [answer, 5 * HOUR],
    [end, 0],
  ];
  return [
    [[null], undefined, false, moves],
    [[[]], undefined, false, moves],
    [[null], undefined, true, moves.slice(1)],
    [[['SUCCESS']], undefined, true, moves.slice(1)],
    [[null, null], undefined, false, moves.map(([next]): [Move, number] => [next, 0])],
    [[['SUCCESS']], undefined, true, [[{ ...answer, onward: 'relayed' }, 0], ...moves.slice(2)]],
  ];
});

test('random histories end as the model says, the snapshot stored and read back at every step', (t) => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.subarray([...NOTIFY_CONDITIONS])), { minLength: 1, maxLength: 4 }),
      fc.option(fc.integer({ min: 1, max: 8 * HOUR }), { nil: undefined }),
      fc.boolean(),
      fc.array(fc.tuple(move, fc.integer({ min: 0, max: 2 * HOUR })), { maxLength: 40 }),
      (notify, hold, beginsAtOnce, moves) => {
        let now = 1_700_000_000_000;
        const heldUntil = hold && now + hold;
        const begins = beginsAtOnce && heldUntil === undefined;
        const model = new Model(notify, now, heldUntil, begins);
        const recipients = notify.map((each, i) => ({ id: `r${i}`, notify: each }));
        let at = step(null, { type: 'enqueue', now, recipients, heldUntil, begins });
        agree(t, at, model);
        for (const [next, pause] of moves) {
          now += pause;
          const event = eventOf(next, now);
          at = step(JSON.parse(JSON.stringify(at.snapshot)), event);
          model.apply(event, 'who' in next ? next.who : 0);
          agree(t, at, model);
          reached.add(`${at.status} ${at.dsnDue}`);
        }
      },
    ),
    { numRuns: runs(600), examples: COMMON },
  );
  for (const place of [
    'Queued null',
    'Queued delayed',
    'Sending null',
    'Sent null',
    'Failed failed',
    'Failed null',
    'Sent delivered',
    'Sent relayed',
    'Queued failed',
    'Draft null',
  ])
    t.true(reached.has(place), `${place} was reached`);
});

test('several events in one step are as if each had a step of its own', (t) => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 12 }), (moves) => {
      const events = moves.map((next, i) => eventOf(next, i * HOUR));
      const begin = step(null, { type: 'enqueue', now: 0, recipients: asked('r0', 'r1') });
      let one = begin;
      const effects: Effect[] = [];
      for (const event of events) {
        one = step(one.snapshot, event);
        effects.push(...one.effects);
      }
      const all = step(begin.snapshot, ...events);
      t.deepEqual(all, { ...one, effects });
    }),
    { numRuns: runs(200) },
  );
});

test('an email whose delivery begins at once is stored as one that is queued and begun', (t) => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(move, { maxLength: 12 }), (isNever, moves) => {
      const events = moves.map((next, i) => eventOf(next, i * HOUR));
      const enqueue = {
        type: 'enqueue',
        now: 0,
        recipients: asked('r0', 'r1').map((each) => (isNever ? { ...each, notify: NEVER } : each)),
      } as const;
      const { effects, ...once } = step(null, { ...enqueue, begins: true }, ...events);
      const { effects: all, ...twice } = step(null, enqueue, { type: 'start', now: 0 }, ...events);
      t.deepEqual(once, twice);
      t.is(JSON.stringify(once.snapshot), JSON.stringify(twice.snapshot));
      const [due, ...others] = all;
      t.deepEqual(due, { type: 'due' }, 'its delivery has begun: the queue need not know');
      t.deepEqual(effects, others);
    }),
    { numRuns: runs(200) },
  );
});

test('delays grow by two up to the cap, ten per cent around it', (t) => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.double({ min: 0, max: 0.999999, noNaN: true }), (retryCount, random) => {
      const delay = retryDelay(POLICY, retryCount, random);
      const exact = Math.min(POLICY.capMs, POLICY.baseMs * 2 ** retryCount);
      t.true(delay >= Math.floor(exact * 0.9) && delay <= Math.ceil(exact * 1.1), `${retryCount}: ${delay}`);
    }),
  );
  t.is(retryDelay(POLICY, 0, 0.5), 60_000);
  t.is(retryDelay(POLICY, 1, 0.5), 120_000);
  t.is(retryDelay(POLICY, 0, 0), 54_000);
});

test('what a later version has stored in the snapshot stays there', (t) => {
  const begun = step(null, { type: 'enqueue', now: 0, recipients: asked('a') });
  const stored = JSON.parse(JSON.stringify(begun.snapshot));
  stored.context.later = { kept: 1 };
  stored.children.a.snapshot.context.later = 2;
  const { snapshot } = step(stored, { type: 'start', now: 0 });
  const { context, children } = JSON.parse(JSON.stringify(snapshot));
  t.deepEqual(context.later, { kept: 1 });
  t.is(children.a.snapshot.context.later, 2);
  t.false('recipients' in context);
});

test('an email that was sent becomes Failed by a bounce, and no report of it is owed', (t) => {
  const delivered = { id: 'a', deliveredAt: 5, lastError: null, statusCode: null };
  const row = { queuedAt: 1, sentAt: 7, retryCount: 2, lastError: null, delayReported: false };
  const sent = sentSnapshot({ ...row, recipients: [delivered, { ...delivered, id: 'b' }] });
  t.like(step(sent), { status: 'Sent', sentAt: 7, retryCount: 2, dsnDue: null });
  const bounce = { type: 'bounce', recipients: [{ id: 'a', text: 'gone', statusCode: '5.1.1' }] } as const;
  const after = step(sent, bounce);
  t.like(after, { status: 'Failed', sentAt: 7, lastError: 'gone', dsnDue: null });
  t.deepEqual(after.effects, [{ type: 'announce', status: 'Failed' }]);
  t.like(after.recipients.get('a'), { status: 'Failed', lastError: 'gone', statusCode: '5.1.1', deliveredAt: 5 });
  t.is(after.recipients.get('b')!.status, 'Delivered');
});
