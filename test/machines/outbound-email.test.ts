// The machine of an outbound email against a plain model, with random histories; the snapshot goes through JSON at every
// step, as it does in the store.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { type RetryPolicy, retryDelay } from '../../src/machines/outbound-email/retry.js';
import { type Step, step } from '../../src/machines/outbound-email/step.js';
import type { Effect, OutboundEmailEvent } from '../../src/machines/outbound-email/types.js';

const HOUR = 3_600_000;
const POLICY: RetryPolicy = { maxRetries: 3, baseMs: 60_000, capMs: 4 * HOUR };

const kind = fc.constantFrom('delivered' as const, 'temporary' as const, 'permanent' as const);
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('start' as const) }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('answer' as const), who: fc.nat(4), kind }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('end' as const),
      random: fc.double({ min: 0, max: 0.999, noNaN: true }),
      isInterrupted: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('retry' as const, 'cancel' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reported' as const) }) },
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

interface ModelRecipient {
  status: 'Pending' | 'Delivered' | 'Failed';
  deliveredAt: number | null;
  lastError: string | null;
  statusCode: string | null;
}

/** The rules in one place, without states that hand anything to each other. */
class Model {
  status = 'Queued' as 'Queued' | 'Sending' | 'Sent' | 'Failed';
  recipients: ModelRecipient[];
  queuedAt: number;
  nextRetryAt: number | null;
  retryCount = 0;
  lastError: string | null = null;
  sentAt: number | null = null;
  reportDue: 'failed' | 'delayed' | null = null;
  delayReported = false;
  effects: Effect[] = [{ type: 'announce', status: 'Queued' }, { type: 'wake' }];
  readonly #hasSender: boolean;

  constructor(count: number, hasSender: boolean, now: number) {
    this.#hasSender = hasSender;
    this.queuedAt = now;
    this.nextRetryAt = now;
    this.recipients = Array.from({ length: count }, () => ({
      status: 'Pending',
      deliveredAt: null,
      lastError: null,
      statusCode: null,
    }));
  }

  get pending(): ModelRecipient[] {
    return this.recipients.filter(({ status }) => status === 'Pending');
  }

  apply(event: OutboundEmailEvent, who: number): void {
    this.effects = [];
    if (event.type === 'reported') this.reportDue = null;
    if (event.type === 'start' && this.status === 'Queued') this.#become('Sending');
    if (event.type === 'answer' && this.status === 'Sending') this.#answer(event, this.recipients[who]);
    if (event.type === 'end' && this.status === 'Sending') this.#end(event);
    if (event.type === 'cancel' && this.status === 'Queued') this.#fail('Cancelled by the operator.', '5.0.0');
    if (event.type === 'retry' && (this.status === 'Queued' || this.status === 'Failed')) this.#retry(event.now);
  }

  #become(status: Model['status']): void {
    this.status = status;
    if (status !== 'Queued') this.nextRetryAt = null;
    this.effects.push({ type: 'announce', status });
  }

  #answer(event: Extract<OutboundEmailEvent, { type: 'answer' }>, recipient: ModelRecipient | undefined): void {
    if (recipient?.status !== 'Pending') return;
    if (event.kind === 'delivered') Object.assign(recipient, { status: 'Delivered', deliveredAt: event.now });
    else {
      Object.assign(recipient, { lastError: event.text, statusCode: event.statusCode });
      this.lastError = event.text;
      if (event.kind === 'permanent') recipient.status = 'Failed';
    }
  }

  #end({ now, random, policy, isInterrupted }: Extract<OutboundEmailEvent, { type: 'end' }>): void {
    if (this.pending.length === 0) {
      if (this.recipients.some(({ status }) => status === 'Failed')) this.#fail('', '');
      else {
        this.sentAt = now;
        this.reportDue = null;
        this.#become('Sent');
      }
    } else if (!isInterrupted && this.retryCount >= policy.maxRetries) {
      this.#fail('It could not be delivered in time.', '4.4.7');
    } else {
      this.#become('Queued');
      if (isInterrupted) {
        this.nextRetryAt = now;
        this.effects.push({ type: 'wake' });
      } else {
        const exact = Math.min(policy.capMs, policy.baseMs * 2 ** this.retryCount);
        this.nextRetryAt = now + Math.round(exact * (0.9 + 0.2 * random));
        this.retryCount++;
      }
      if (this.#hasSender && !this.delayReported && now - this.queuedAt >= 4 * HOUR) {
        this.delayReported = true;
        this.reportDue = 'delayed';
        this.effects.push({ type: 'report', kind: 'delayed' });
      }
    }
  }

  #fail(text: string, statusCode: string): void {
    for (const recipient of this.pending) {
      recipient.status = 'Failed';
      if (recipient.lastError === null) Object.assign(recipient, { lastError: text, statusCode });
      this.lastError = recipient.lastError;
    }
    this.reportDue = this.#hasSender ? 'failed' : null;
    if (this.#hasSender) this.effects.push({ type: 'report', kind: 'failed' });
    this.#become('Failed');
  }

  #retry(now: number): void {
    if (this.status === 'Failed') {
      for (const recipient of this.recipients) if (recipient.status === 'Failed') recipient.status = 'Pending';
      this.retryCount = 0;
      this.queuedAt = now;
      this.reportDue = null;
      this.#become('Queued');
    }
    this.nextRetryAt = now;
    this.effects.push({ type: 'wake' });
  }
}

const byType = (effects: readonly Effect[]) => effects.map((effect) => JSON.stringify(effect)).sort();

function agree(t: ExecutionContext, { recipients, snapshot: _, effects, ...rest }: Step, model: Model): void {
  const { status, queuedAt, nextRetryAt, retryCount, lastError, sentAt, reportDue, delayReported } = model;
  t.deepEqual(rest, { status, queuedAt, nextRetryAt, retryCount, lastError, sentAt, reportDue, delayReported });
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
      };
    case 'end':
      return { type: 'end', now, random: next.random, policy: POLICY, isInterrupted: next.isInterrupted };
    case 'retry':
      return { type: 'retry', now };
    default:
      return { type: next.type };
  }
}

// Histories that random ones reach seldom, each of one recipient.
const attempt = (kind: 'delivered' | 'temporary' | 'permanent', pause = 0): [Move, number][] => [
  [{ type: 'start' }, pause],
  [{ type: 'answer', who: 0, kind }, 0],
  [{ type: 'end', random: 0, isInterrupted: false }, 0],
];
const delivered = attempt('delivered');
const refused = attempt('permanent');
const abandoned = attempt('permanent');
const late = [...attempt('temporary'), ...attempt('temporary', 5 * HOUR)];

test('random histories end as the model says, the snapshot stored and read back at every step', (t) => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.array(fc.tuple(move, fc.integer({ min: 0, max: 2 * HOUR })), { maxLength: 40 }),
      (count, hasSender, moves) => {
        let now = 1_700_000_000_000;
        const model = new Model(count, hasSender, now);
        const recipientIds = model.recipients.map((_, i) => `r${i}`);
        let at = step(null, { type: 'enqueue', now, recipientIds, hasSender });
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
    { numRuns: 400, examples: [delivered, refused, abandoned, late].map((moves) => [1, moves !== abandoned, moves]) },
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
    { numRuns: 200 },
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
  const end = { type: 'end', random: 0, policy: POLICY, isInterrupted: false } as const;
  for (let now = 5 * HOUR; at.status !== 'Failed'; now += 5 * HOUR) {
    at = step(at.snapshot, { type: 'start' }, { ...end, now });
    t.is(at.reportDue, null);
    t.false(at.effects.some(({ type }) => type === 'report'));
  }
  t.is(at.retryCount, POLICY.maxRetries);
});
