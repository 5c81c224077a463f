// The machine of an outbound email against a plain model, with random histories; the snapshot goes through JSON at every
// step, as it does in the store.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { type RetryPolicy, retryDelay } from '../../src/machines/outbound-email/retry.js';
import { type Step, step } from '../../src/machines/outbound-email/step.js';
import type { Effect, OutboundEmailEvent } from '../../src/machines/outbound-email/types.js';
import { runs } from '../support/amounts.js';

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
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reported' as const) }) },
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

interface ModelRecipient {
  status: 'Pending' | 'Delivered' | 'Failed';
  deliveredAt: number | null;
  lastError: string | null;
  statusCode: string | null;
  retryCount: number;
  /** null while it is tried or held, and when it is Pending no more. */
  nextTryAt: number | null;
  doubtfulHost: string | null;
}

/** The rules in one place, without states that hand anything to each other. */
class Model {
  status = 'Queued' as 'Queued' | 'Sending' | 'Sent' | 'Failed';
  recipients: ModelRecipient[];
  queuedAt: number;
  heldUntil: number | null;
  retryCount = 0;
  lastError: string | null = null;
  sentAt: number | null = null;
  reportDue: 'failed' | 'delayed' | null = null;
  delayReported = false;
  effects: Effect[] = [{ type: 'announce', status: 'Queued' }];
  readonly #hasSender: boolean;

  /** `begins`: not of a held one. */
  constructor(count: number, hasSender: boolean, now: number, heldUntil: number | undefined, begins: boolean) {
    this.#hasSender = hasSender;
    this.queuedAt = heldUntil ?? now;
    this.heldUntil = heldUntil ?? null;
    if (heldUntil === undefined && !begins) this.effects.push({ type: 'due' });
    this.recipients = Array.from({ length: count }, () => ({
      status: 'Pending',
      deliveredAt: null,
      lastError: null,
      statusCode: null,
      retryCount: 0,
      nextTryAt: heldUntil === undefined ? now : null,
      doubtfulHost: null,
    }));
    if (begins) this.#start(now);
  }

  get nextRetryAt(): number | null {
    const times = this.pending.flatMap(({ nextTryAt }) => nextTryAt ?? []);
    return times.length === 0 ? null : Math.min(...times);
  }

  get pending(): ModelRecipient[] {
    return this.recipients.filter(({ status }) => status === 'Pending');
  }

  apply(event: OutboundEmailEvent, who: number): void {
    this.effects = [];
    if (event.type === 'reported') this.reportDue = null;
    const mayStart = (this.status === 'Queued' && this.heldUntil === null) || this.status === 'Sending';
    if (event.type === 'start' && mayStart) this.#start(event.now);
    if (event.type === 'postpone' && this.status === 'Sending') this.#wait(event, this.recipients[who]);
    if (event.type === 'answer' && this.status === 'Sending') this.#answer(event, this.recipients[who]);
    if (event.type === 'end' && this.status === 'Sending') this.#end(event);
    if (event.type === 'cancel' && this.status === 'Queued') this.#cancel(event.by);
    if (event.type === 'retry' && (this.status === 'Queued' || this.status === 'Failed')) this.#retry(event.now);
  }

  #start(now: number): void {
    for (const recipient of this.pending) if ((recipient.nextTryAt ?? now) <= now) recipient.nextTryAt = null;
    if (this.status === 'Queued') this.#become('Sending');
  }

  #become(status: Model['status']): void {
    this.status = status;
    this.effects.push({ type: 'announce', status });
  }

  #answer(event: Extract<OutboundEmailEvent, { type: 'answer' }>, recipient: ModelRecipient | undefined): void {
    if (recipient?.status !== 'Pending') return;
    const { now, policy, random } = event;
    if (event.kind === 'delivered') {
      Object.assign(recipient, { status: 'Delivered', deliveredAt: now, nextTryAt: null });
      return;
    }
    Object.assign(recipient, { lastError: event.text, statusCode: event.statusCode });
    this.lastError = event.text;
    if (event.kind === 'permanent' || recipient.retryCount >= policy.maxRetries) {
      Object.assign(recipient, { status: 'Failed', nextTryAt: null });
      return;
    }
    recipient.doubtfulHost = event.doubtfulHost ?? recipient.doubtfulHost;
    recipient.nextTryAt = now + delay(policy, recipient.retryCount, random);
    recipient.retryCount++;
    this.retryCount = Math.max(this.retryCount, recipient.retryCount);
    this.#delayed(now);
  }

  #wait(event: Extract<OutboundEmailEvent, { type: 'postpone' }>, recipient: ModelRecipient | undefined): void {
    if (recipient?.status !== 'Pending' || recipient.nextTryAt !== null) return;
    recipient.nextTryAt = event.now + delay(event.policy, 0, event.random);
  }

  #end({ now, random, policy, isInterrupted }: Extract<OutboundEmailEvent, { type: 'end' }>): void {
    if (this.pending.length === 0) {
      if (this.recipients.some(({ status }) => status === 'Failed')) this.#fail(true);
      else {
        this.sentAt = now;
        this.reportDue = null;
        this.#become('Sent');
      }
      return;
    }
    for (const recipient of this.pending) recipient.nextTryAt ??= now + (isInterrupted ? 0 : delay(policy, 0, random));
    this.#become('Queued');
    if (isInterrupted) this.effects.push({ type: 'due' });
    this.#delayed(now);
  }

  #delayed(now: number): void {
    if (!this.#hasSender || this.delayReported || now - this.queuedAt < 4 * HOUR) return;
    this.delayReported = true;
    this.reportDue = 'delayed';
    this.effects.push({ type: 'report', kind: 'delayed' });
  }

  #fail(isReported: boolean): void {
    this.reportDue = this.#hasSender && isReported ? 'failed' : null;
    if (this.reportDue !== null) this.effects.push({ type: 'report', kind: 'failed' });
    this.#become('Failed');
  }

  #cancel(by: 'operator' | 'sender'): void {
    const text = `Cancelled by the ${by}.`;
    for (const recipient of this.pending) {
      Object.assign(recipient, { status: 'Failed', nextTryAt: null });
      if (recipient.lastError === null) Object.assign(recipient, { lastError: text, statusCode: '5.0.0' });
    }
    this.lastError = text;
    this.heldUntil = null;
    this.#fail(by === 'operator');
  }

  #retry(now: number): void {
    if (this.heldUntil !== null) Object.assign(this, { heldUntil: null, queuedAt: now });
    if (this.status === 'Failed') {
      for (const recipient of this.recipients) {
        if (recipient.status === 'Failed') Object.assign(recipient, { status: 'Pending', retryCount: 0 });
      }
      this.retryCount = 0;
      this.queuedAt = now;
      this.reportDue = null;
      this.#become('Queued');
    }
    for (const recipient of this.pending) recipient.nextTryAt = now;
    this.effects.push({ type: 'due' });
  }
}

function delay({ baseMs, capMs }: RetryPolicy, retryCount: number, random: number): number {
  return Math.round(Math.min(capMs, baseMs * 2 ** retryCount) * (0.9 + 0.2 * random));
}

const byType = (effects: readonly Effect[]) => effects.map((effect) => JSON.stringify(effect)).sort();

function agree(t: ExecutionContext, { recipients, snapshot: _, effects, ...rest }: Step, model: Model): void {
  const { status, queuedAt, heldUntil, nextRetryAt, retryCount, lastError, sentAt, reportDue, delayReported } = model;
  t.deepEqual(rest, {
    status,
    queuedAt,
    heldUntil,
    nextRetryAt,
    retryCount,
    lastError,
    sentAt,
    reportDue,
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
        ...(next.isDoubtful && { doubtfulHost: `mx${next.who}.test` }),
        random: next.random,
        policy: POLICY,
      };
    case 'postpone':
      return { type: 'postpone', now, recipientIds: [`r${next.who}`], random: next.random, policy: POLICY };
    case 'end':
      return { type: 'end', now, random: next.random, policy: POLICY, isInterrupted: next.isInterrupted };
    case 'retry':
    case 'start':
      return { type: next.type, now };
    default:
      return next;
  }
}

/** Histories that random ones rarely are. */
const COMMON: [number, boolean, number | undefined, boolean, [Move, number][]][] = (
  ['delivered', 'permanent', 'temporary'] as const
).flatMap((kind) => {
  const answer: Move = { type: 'answer', who: 0, kind, random: 0.5, isDoubtful: false };
  const end: Move = { type: 'end', random: 0.5, isInterrupted: false };
  const moves: [Move, number][] = [
    [{ type: 'start' }, 0],
    [answer, 5 * HOUR],
    [end, 0],
  ];
  return [
    [1, true, undefined, false, moves],
    [1, false, undefined, false, moves],
    [1, true, undefined, true, moves.slice(1)],
  ];
});

test('random histories end as the model says, the snapshot stored and read back at every step', (t) => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.option(fc.integer({ min: 1, max: 8 * HOUR }), { nil: undefined }),
      fc.boolean(),
      fc.array(fc.tuple(move, fc.integer({ min: 0, max: 2 * HOUR })), { maxLength: 40 }),
      (count, hasSender, hold, beginsAtOnce, moves) => {
        let now = 1_700_000_000_000;
        const heldUntil = hold && now + hold;
        const begins = beginsAtOnce && heldUntil === undefined;
        const model = new Model(count, hasSender, now, heldUntil, begins);
        const recipientIds = model.recipients.map((_, i) => `r${i}`);
        let at = step(null, { type: 'enqueue', now, recipientIds, hasSender, heldUntil, begins });
        agree(t, at, model);
        for (const [next, pause] of moves) {
          now += pause;
          const event = eventOf(next, now);
          at = step(JSON.parse(JSON.stringify(at.snapshot)), event);
          model.apply(event, 'who' in next ? next.who : 0);
          agree(t, at, model);
          reached.add(`${at.status} ${at.reportDue}`);
        }
      },
    ),
    { numRuns: runs(600), examples: COMMON },
  );
  for (const place of ['Queued null', 'Queued delayed', 'Sending null', 'Sent null', 'Failed failed', 'Failed null'])
    t.true(reached.has(place), `${place} was reached`);
});

test('several events in one step are as if each had a step of its own', (t) => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 12 }), (moves) => {
      const events = moves.map((next, i) => eventOf(next, i * HOUR));
      const begin = step(null, { type: 'enqueue', now: 0, recipientIds: ['r0', 'r1'], hasSender: true });
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

test('an email whose delivery begins at once is stored as one that is queued and begun: nodes of all versions work on it', (t) => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(move, { maxLength: 12 }), (hasSender, moves) => {
      const events = moves.map((next, i) => eventOf(next, i * HOUR));
      const enqueue = { type: 'enqueue', now: 0, recipientIds: ['r0', 'r1'], hasSender } as const;
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

test('a null sender is told nothing, however late and whatever fails', (t) => {
  let at = step(null, { type: 'enqueue', now: 0, recipientIds: ['a', 'b'], hasSender: false });
  const planned = { random: 0, policy: POLICY };
  for (let now = 5 * HOUR; at.status !== 'Failed'; now += 5 * HOUR) {
    const answer = { type: 'answer', kind: 'temporary', text: 'later', statusCode: '4.0.0', now, ...planned } as const;
    at = step(
      at.snapshot,
      { type: 'start', now },
      { ...answer, recipientId: 'a' },
      { ...answer, recipientId: 'b' },
      { type: 'end', now, isInterrupted: false, ...planned },
    );
    t.is(at.reportDue, null);
    t.false(at.effects.some(({ type }) => type === 'report'));
  }
  t.is(at.retryCount, POLICY.maxRetries);
});

test('each recipient has its own retries, while another one is still tried', (t) => {
  const planned = { random: 0.5, policy: POLICY };
  const later = {
    type: 'answer',
    recipientId: 'quick',
    kind: 'temporary',
    text: 'later',
    statusCode: '4.0.0',
  } as const;
  let at = step(
    null,
    { type: 'enqueue', now: 0, recipientIds: ['quick', 'slow'], hasSender: true },
    { type: 'start', now: 0 },
    { ...later, now: 1_000, ...planned },
  );
  t.like(at, { status: 'Sending', retryCount: 1, nextRetryAt: 61_000 });
  at = step(at.snapshot, { type: 'start', now: 60_999 });
  t.is(at.recipients.get('quick')?.nextTryAt, 61_000, 'not before it is due');
  at = step(at.snapshot, { type: 'start', now: 61_000 }, { ...later, now: 62_000, ...planned });
  t.like(at, { status: 'Sending', retryCount: 2, nextRetryAt: 182_000 });
  const delivered = { ...later, kind: 'delivered', now: 190_000, ...planned } as const;
  at = step(at.snapshot, { type: 'start', now: 182_000 }, delivered, { ...delivered, recipientId: 'slow' });
  at = step(at.snapshot, { type: 'end', now: 190_000, isInterrupted: false, ...planned });
  t.like(at, { status: 'Sent', retryCount: 2, nextRetryAt: null });
});

test('a recipient whose retries run out fails, and the others go on', (t) => {
  const planned = { now: 0, random: 0.5, policy: { ...POLICY, maxRetries: 0 } };
  const later = { type: 'answer', recipientId: 'a', kind: 'temporary', text: 'later', statusCode: '4.0.0' } as const;
  let at = step(
    null,
    { type: 'enqueue', now: 0, recipientIds: ['a', 'b'], hasSender: true },
    { type: 'start', now: 0 },
    { ...later, ...planned },
    { type: 'postpone', recipientIds: ['b'], ...planned },
    { type: 'end', isInterrupted: false, ...planned },
  );
  t.like(at, { status: 'Queued', retryCount: 0, nextRetryAt: 60_000 });
  t.deepEqual([at.recipients.get('a')?.status, at.recipients.get('b')?.status], ['Failed', 'Pending']);
  at = step(at.snapshot, { type: 'start', now: 60_000 }, { ...later, ...planned, recipientId: 'b', kind: 'delivered' });
  t.is(step(at.snapshot, { type: 'end', isInterrupted: false, ...planned }).status, 'Failed');
});

/** What the version before wrote: one number of retries and one time for all recipients, or what it left of them. */
function older(snapshot: unknown, retryCount: number, nextRetryAt: number | null, keeps: boolean): unknown {
  const stored = JSON.parse(JSON.stringify(snapshot));
  Object.assign(stored.context, { retryCount, nextRetryAt });
  for (const { snapshot: recipient } of Object.values<{ snapshot: { context: Record<string, unknown> } }>(
    stored.children,
  )) {
    if (keeps) continue;
    delete recipient.context['retryCount'];
    delete recipient.context['nextTryAt'];
  }
  return stored;
}

test('what a node of the version before has stored goes on as it stands there', (t) => {
  const planned = { now: 500, random: 0.5, policy: POLICY };
  const begun = step(null, { type: 'enqueue', now: 0, recipientIds: ['a', 'b'], hasSender: true });
  const tried = step(begun.snapshot, { type: 'start', now: 0 });
  const answer = { type: 'answer', recipientId: 'a', kind: 'temporary', text: 'x', statusCode: '4.0.0' } as const;
  for (const keeps of [false, true]) {
    const waits = { ...(older(tried.snapshot, 2, 7_000, keeps) as object), value: 'Queued' };
    t.like(step(waits), { status: 'Queued', retryCount: 2, nextRetryAt: 7_000 });
    const again = step(waits, { type: 'start', now: 7_000 }, { ...answer, ...planned, now: 8_000 });
    t.like(again, { status: 'Sending', retryCount: 3, nextRetryAt: 8_000 + 240_000 });
    const sending = step(older(tried.snapshot, 2, null, keeps), { ...answer, ...planned });
    t.is(sending.recipients.get('b')?.nextTryAt, null);
    t.is(sending.recipients.get('a')?.status, 'Pending');
  }
});

test('what a later version has stored in the snapshot stays there', (t) => {
  const begun = step(null, { type: 'enqueue', now: 0, recipientIds: ['a'], hasSender: true });
  const stored = JSON.parse(JSON.stringify(begun.snapshot));
  stored.context.later = { kept: 1 };
  stored.children.a.snapshot.context.later = 2;
  const { snapshot } = step(stored, { type: 'start', now: 0 });
  const { context, children } = JSON.parse(JSON.stringify(snapshot));
  t.deepEqual(context.later, { kept: 1 });
  t.is(children.a.snapshot.context.later, 2);
  t.false('recipients' in context);
});
