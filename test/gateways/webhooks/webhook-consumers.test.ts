// Tests webhooks as durable consumers, with receivers that accept, refuse, stall and break: what each answer means, and where
// the webhook continues.
import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import type { DeliveryOutcome, LogChange } from '../../../src/actors/consumers/protocol.js';
import { cursorOf } from '../../../src/gateways/events/cursor.js';
import { eventIdOf } from '../../../src/gateways/events/event-id.js';
import { WebhookConsumers } from '../../../src/gateways/webhooks/webhook-consumers.js';
import type { HttpClientLimits } from '../../../src/net/http-client/limits.js';
import type { ConsumerPosition } from '../../../src/store/consumers.js';
import type { EventPlace, RecordedDelivery, WebhookTarget } from '../../../src/store/webhooks.js';
import { clientOf } from '../../net/http-client/peers.js';
import type { Answer } from '../../support/peers/http-receiver.js';
import { startWebhookReceiver } from '../../support/peers/webhook-receiver.js';
import test from '../../support/test.js';

const ACCOUNT = '018f0000-0000-7000-8000-00000000000a';
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const DAY_MS = 86_400_000;
const POSITION: ConsumerPosition = {
  ...{ accountId: ACCOUNT, id: '018f0000-0000-7000-8000-0000000000e1', seq: 6 },
  ...{ retryAt: null, failures: 0, failingSince: null },
};

/** A change in which these emails were deleted, with another event that clients do not get. */
function deletion(emailIds: readonly string[], seq = 7): LogChange {
  const [emailId = '', ...others] = emailIds;
  const rest = others.map((id) => ({ emailId: id, uids: [1] }));
  const placements = [{ folderId: 'f', uid: 1 }];
  const events = [
    { type: 'AnnotationsChanged', seq, n: 0, at: 5, payload: { folderId: null, entries: [] } },
    { type: 'EmailRemoved', seq, n: 1, at: 5, payload: { emailId, placements, others: rest } },
    { type: 'UnreadCountChanged', seq, n: 2, at: 5, payload: { unread: 3 } },
  ];
  return { seq, at: 5, events: events as unknown as LogChange['events'] };
}

async function world(t: ExecutionContext, limits: Partial<HttpClientLimits> = {}) {
  const { receiver, ...hook } = await startWebhookReceiver(t);
  const url = hook.url();
  let target: WebhookTarget | undefined = { url, eventTypes: [], secrets: [SECRET], within: null };
  const stored: EventPlace[] = [];
  const disabled: string[] = [];
  const notices: (readonly string[])[] = [];
  const records: RecordedDelivery[] = [];
  const stop = new AbortController();
  let isCurrent = true;
  const consumers = new WebhookConsumers({
    client: clientOf(t, { limits }),
    store: {
      target: async () => target,
      doneWithin: async (_account, _id, _before, place) => {
        stored.push(place);
        target = { ...target!, within: place };
      },
      disable: async (_account, _id, reason) => {
        target = undefined;
        return disabled.push(reason) === 1;
      },
    },
    deliveries: { record: async (made) => void records.push(...made) },
    disabled: async (...what) => {
      notices.push(what);
      throw new Error('no notice today');
    },
    log: pino({ level: 'silent' }),
  });
  const run = { signal: stop.signal, isCurrent: () => isCurrent };
  return {
    receiver,
    consumers,
    stored,
    disabled,
    notices,
    url,
    records,
    stop,
    taken: () => hook.accepted(url, SECRET).map(({ data }) => data as unknown),
    set: (changed: Partial<WebhookTarget>) => {
      target = { ...target!, ...changed };
    },
    lose: () => {
      isCurrent = false;
    },
    gone: () => {
      target = undefined;
    },
    deliver: (change: LogChange, position: Partial<ConsumerPosition> = {}): Promise<DeliveryOutcome> =>
      consumers.deliver({ ...POSITION, ...position }, change, run),
    interrupted: () => consumers.interrupted(POSITION, run),
    deliveries: () => hook.deliveries(url, SECRET),
  };
}

test('each event of a change is a message, one at a time and in order', async (t) => {
  const { deliver, deliveries, receiver, records } = await world(t);
  t.deepEqual(await deliver(deletion(['a', 'Zoë 💌', 'c'])), { kind: 'delivered' });
  const taken = deliveries();
  t.deepEqual(
    taken.map(({ type, data }) => [type, data as unknown]),
    [...['a', 'Zoë 💌', 'c'].map((id) => ['EmailDeleted', id]), ['UnreadCountChanged', 3]],
  );
  t.is(receiver.mostAtOnce, 1);
  t.deepEqual(
    taken.map(({ id }) => id),
    [0, 1, 2]
      .map((k) => eventIdOf({ seq: 7, at: 5, within: { n: 1, k } }, ACCOUNT))
      .concat(eventIdOf({ seq: 7, at: 5, within: { n: 2, k: 0 } }, ACCOUNT)),
  );
  t.is(taken[0]!.timestamp, '1970-01-01T00:00:00.005Z');
  t.is(records.length, 4);
  t.like(records[1], { isDelivered: true, responseStatus: 200, attempt: 1, error: null, eventType: 'EmailDeleted' });
  t.is(records[1]!.eventId, taken[1]!.id);
});

test('a webhook gets the types that it asked for; a change without them is passed', async (t) => {
  const { deliver, taken, set } = await world(t);
  set({ eventTypes: ['UnreadCountChanged'] });
  t.deepEqual(await deliver(deletion(['a'])), { kind: 'delivered' });
  t.deepEqual(taken(), [3]);
  set({ eventTypes: ['NewEmail'] });
  t.deepEqual(await deliver(deletion(['b'])), { kind: 'passed' });
  t.deepEqual(taken(), [3]);
});

test('after a failure within a change the webhook goes on with the event that failed', async (t) => {
  const { deliver, taken, stored, receiver, records } = await world(t);
  receiver.answerNext({ status: 200 }, { status: 204 }, { status: 500, body: 'not now' });
  t.deepEqual(await deliver(deletion(['a', 'b', 'c'])), { kind: 'failed', recovered: true });
  t.deepEqual(stored, [{ seq: 7, n: 1, k: 1 }]);
  t.deepEqual(await deliver(deletion(['a', 'b', 'c']), { failures: 1, failingSince: 1 }), { kind: 'delivered' });
  t.deepEqual(taken(), ['a', 'b', 'c', 3]);
  t.like(records[2], { isDelivered: false, responseStatus: 500, error: 'The receiver answered 500: not now' });
  t.is(records[3]!.eventId, records[2]!.eventId);
  t.is(records[3]!.attempt, 2);
  // A position within an earlier change does not apply to a later one.
  t.deepEqual(await deliver(deletion(['d'], 8)), { kind: 'delivered' });
  t.deepEqual(taken().slice(4), ['d', 3]);
});

test('the position within a long change is stored now and then', async (t) => {
  const { deliver, stored, taken } = await world(t);
  const ids = Array.from({ length: 120 }, (_, i) => `${i}`);
  t.deepEqual(await deliver(deletion(ids)), { kind: 'delivered' });
  t.deepEqual(
    stored.map(({ k }) => k),
    [49, 99],
  );
  t.deepEqual(taken(), [...ids, 3]);
});

const REFUSALS: readonly (readonly [name: string, answer: Answer, status: number | null])[] = [
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 307],
  ['401', { status: 401 }, 401],
  ['503', { status: 503 }, 503],
  ['a closed connection', 'close', null],
  ['no answer', 'hang', null],
  ['a header without an end', 'headers', null],
];

const isAnswered = (answer: Answer): boolean => answer !== 'hang' && answer !== 'headers';

for (const [name, answer, status] of REFUSALS) {
  test(`${name} is a failure, and is recorded`, async (t) => {
    const { deliver, receiver, records, disabled } = await world(t, isAnswered(answer) ? {} : { answerMs: 300 });
    receiver.answer(answer);
    t.deepEqual(await deliver(deletion(['a'])), { kind: 'failed' });
    t.is(records.length, 1);
    t.like(records[0], { isDelivered: false, responseStatus: status });
    t.truthy(records[0]!.error);
    t.deepEqual(disabled, []);
  });
}

for (const answer of ['endless', 'drip'] as const) {
  test(`200 counts, though its body is ${answer}`, async (t) => {
    const { deliver, receiver } = await world(t, { bodyMs: 200 });
    receiver.answerNext(answer);
    t.deepEqual(await deliver(deletion(['a'])), { kind: 'delivered' });
  });
}

test('Retry-After is obeyed up to a day', async (t) => {
  const { deliver, receiver } = await world(t);
  const refused = (after: string): Answer => ({ status: 429, headers: { 'retry-after': after } });
  receiver.answerNext(refused('30'), refused('31536000'), refused('soon'));
  t.deepEqual(await deliver(deletion(['a'])), { kind: 'failed', retryAfterMs: 30_000 });
  t.deepEqual(await deliver(deletion(['a'])), { kind: 'failed', retryAfterMs: DAY_MS });
  t.deepEqual(await deliver(deletion(['a'])), { kind: 'failed' });
});

test('410 disables at once', async (t) => {
  const { deliver, receiver, disabled, notices, url, records } = await world(t);
  receiver.answer({ status: 410 });
  t.deepEqual(await deliver(deletion(['a', 'b'])), { kind: 'gone' });
  t.deepEqual(disabled, ['The receiver asked for no more events (410 Gone).']);
  t.deepEqual(notices, [[ACCOUNT, POSITION.id, url, disabled[0]!]]);
  t.is(records.length, 1);
});

test('five days of failures disable, and an event that was taken is none of them', async (t) => {
  const { deliver, receiver, disabled } = await world(t);
  const failing = { failures: 40, failingSince: Date.now() - 5 * DAY_MS - 1 };
  receiver.answerNext({ status: 200 }, { status: 500 }, { status: 500 }, { status: 502 });
  t.deepEqual(await deliver(deletion(['a', 'b']), failing), { kind: 'failed', recovered: true });
  t.deepEqual(await deliver(deletion(['b']), { failures: 9, failingSince: Date.now() - 4 * DAY_MS }), {
    kind: 'failed',
  });
  t.deepEqual(disabled, []);
  t.deepEqual(await deliver(deletion(['b']), failing), { kind: 'gone' });
  t.deepEqual(disabled, ['No event could be delivered for five days. The last error: The receiver answered 502.']);
});

test('nothing is sent to a webhook that is gone, or of an account with another owner', async (t) => {
  const { deliver, receiver, gone, lose } = await world(t);
  lose();
  t.deepEqual(await deliver(deletion(['a'])), { kind: 'deferred', ms: 0 });
  gone();
  t.deepEqual(await deliver(deletion(['a'])), { kind: 'gone' });
  t.is(receiver.requests.length, 0);
});

test('a request that the end of the node cuts off is no failure of the receiver', async (t) => {
  const { deliver, receiver, stop, records } = await world(t);
  receiver.answer('hang');
  const delivery = deliver(deletion(['a']));
  await receiver.until(() => receiver.requests.length === 1);
  stop.abort();
  t.deepEqual(await delivery, { kind: 'deferred', ms: 0 });
  t.deepEqual(records, []);
});

test('a receiver is told that the log does not reach back', async (t) => {
  const { interrupted, deliveries } = await world(t);
  t.deepEqual(await interrupted(), { kind: 'delivered' });
  const [resync] = deliveries();
  t.like(resync, { type: 'Resync', data: {} });
  t.is(resync!.id, cursorOf({ seq: 6, at: 0 }, ACCOUNT));
});
