// Tests Web Push as a kind of durable consumer, with a push service that decrypts: what each answer does, and when nothing is sent.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import type { PreferenceValues } from '../../../src/actors/account/protocol.js';
import type { LogChange } from '../../../src/actors/consumers/protocol.js';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import { pushConsumers } from '../../../src/gateways/push/push-consumers.js';
import { vapidKeys } from '../../../src/gateways/push/vapid-keys.js';
import { createResolver } from '../../../src/net/dns/resolver.js';
import { createHttpClient } from '../../../src/net/http-client/http-client.js';
import type { HttpClientLimits } from '../../../src/net/http-client/limits.js';
import type { StoredSubscription } from '../../../src/store/push-subscriptions.js';
import type { Answer } from '../../support/peers/http-receiver.js';
import { startPushService } from '../../support/peers/push-service.js';
import test from '../../support/test.js';

const ACCOUNT = randomUUID();
/** A new key pair. */
const KEYS = await vapidKeys(undefined, { getOrCreate: async (_key, initial) => initial() });
const VAPID = { ...KEYS, subject: 'mailto:postmaster@example.test' };
const DAY_MS = 24 * 3_600_000;

function changeOf(subject: string, at = Date.now()): LogChange {
  const emailId = randomUUID();
  const payload = {
    emailId,
    fromAddress: 'bob@example.test',
    fromDisplayName: 'Bob',
    subject,
    receivedAt: at,
    hasAttachments: false,
    isRead: false,
  };
  const event = { seq: 7, n: 0, at, type: 'EmailAnnounced', payload } as unknown as MailboxEvent;
  return { seq: 7, at, events: [event] };
}

async function setUp(t: ExecutionContext, { allowPrivate = true, limits }: Partial<Options> = {}) {
  const service = await startPushService(t);
  const client = createHttpClient({ dns: createResolver({}), allowPrivate, ...(limits && { limits }) });
  t.teardown(async () => client.close());
  const rows = new Map<string, StoredSubscription>();
  const chosen: { desktopNotifications: boolean } = { desktopNotifications: true };
  const kind = pushConsumers({
    subscriptions: {
      find: async (_accountId, id) => rows.get(id),
      remove: async (_accountId, { id }) => {
        rows.delete(id);
      },
    },
    preferences: { read: async () => ({ ...(chosen as PreferenceValues), updatedAt: new Date() }) },
    client,
    vapid: VAPID,
    publicUrl: undefined,
    log: pino({ level: 'silent' }),
  });
  const subscribe = (endpoint?: string) => {
    const id = randomUUID();
    const subscription = service.subscribe(VAPID.publicKey);
    rows.set(id, { ...subscription, id, ...(endpoint !== undefined && { endpoint }) });
    return id;
  };
  const deliver = (id: string, change = changeOf('hello'), isCurrent = () => true) => {
    const position = { accountId: ACCOUNT, id, seq: 6, retryAt: null, failures: 0, failingSince: null };
    return kind.deliver(position, change, { signal: AbortSignal.timeout(60_000), isCurrent });
  };
  return { service, rows, chosen, subscribe, deliver, kind };
}

interface Options {
  readonly allowPrivate: boolean;
  readonly limits: Partial<HttpClientLimits>;
}

const ANSWERS: readonly (readonly [
  string,
  Answer,
  Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>['deliver']>>,
])[] = [
  ['201', { status: 201 }, { kind: 'delivered' }],
  ['202', { status: 202 }, { kind: 'delivered' }],
  ['400', { status: 400 }, { kind: 'dropped' }],
  ['403', { status: 403 }, { kind: 'dropped' }],
  ['413', { status: 413 }, { kind: 'dropped' }],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, { kind: 'dropped' }],
  ['404', { status: 404 }, { kind: 'gone' }],
  ['410', { status: 410 }, { kind: 'gone' }],
  ['429', { status: 429 }, { kind: 'failed' }],
  ['429 with a time', { status: 429, headers: { 'retry-after': '120' } }, { kind: 'failed', retryAfterMs: 120_000 }],
  [
    'a time of a year',
    { status: 503, headers: { 'retry-after': '31536000' } },
    { kind: 'failed', retryAfterMs: DAY_MS },
  ],
  ['500', { status: 500 }, { kind: 'failed' }],
  ['an endless body', 'endless', { kind: 'delivered' }],
  ['a slow body', 'drip', { kind: 'delivered' }],
  ['an endless header', 'headers', { kind: 'failed' }],
  ['nothing', 'hang', { kind: 'failed' }],
  ['the end of the connection', 'close', { kind: 'failed' }],
];

for (const [name, answer, outcome] of ANSWERS) {
  test(`a push service that answers ${name}`, async (t) => {
    // Only a service whose answer never ends is given up; the others have all the time that a busy machine needs.
    const isEndless = answer === 'hang' || answer === 'headers';
    const limits = { bodyMs: 300, ...(isEndless && { answerMs: 3_000 }) };
    const { service, rows, subscribe, deliver } = await setUp(t, { limits });
    const id = subscribe();
    service.receiver.answerNext(answer);
    t.deepEqual(await deliver(id), outcome);
    t.is(rows.has(id), outcome.kind !== 'gone');
    t.is(service.receiver.requests.length, 1);
    t.deepEqual(service.faults, []);
  });
}

test('nothing is sent without notifications, of changes that are no new email, or when the subscription has ended', async (t) => {
  const { service, chosen, subscribe, deliver, kind } = await setUp(t);
  const id = subscribe();
  chosen.desktopNotifications = false;
  t.deepEqual(await deliver(id), { kind: 'passed' });
  chosen.desktopNotifications = true;
  const other = { type: 'UnreadCountChanged', payload: { unread: 1 } } as unknown as MailboxEvent;
  t.false(kind.concerns(other));
  t.deepEqual(await deliver(id, { seq: 7, at: Date.now(), events: [other] }), { kind: 'passed' });
  t.deepEqual(await deliver(randomUUID()), { kind: 'gone' });
  t.deepEqual(await deliver(id, changeOf('stopped'), () => false), { kind: 'deferred', ms: 0 });
  t.is(service.receiver.requests.length, 0);
});

test('an email that is a day old is dropped; a younger one is kept by the push service for the rest of the day', async (t) => {
  const { service, subscribe, deliver } = await setUp(t);
  const id = subscribe();
  t.deepEqual(await deliver(id, changeOf('old', Date.now() - DAY_MS - 1)), { kind: 'dropped' });
  t.deepEqual(await deliver(id, changeOf('late', Date.now() - DAY_MS + 60_000)), { kind: 'delivered' });
  const [message] = service.messages;
  t.true(message!.ttl > 0 && message!.ttl <= 60);
});

test('a change of several emails that fails midway goes on with the email that failed', async (t) => {
  const { service, subscribe, deliver } = await setUp(t);
  const id = subscribe();
  const change = { ...changeOf('one'), events: ['one', 'two', 'three'].flatMap((subject) => changeOf(subject).events) };
  for (const answer of [{ status: 201 }, { status: 429 }, { status: 429 }]) service.receiver.answerNext(answer);
  t.deepEqual(await deliver(id, change), { kind: 'failed' });
  t.deepEqual(await deliver(id, change), { kind: 'failed' });
  t.deepEqual(await deliver(id, change), { kind: 'delivered' });
  const topics = service.messages.filter(({ accepted }) => accepted).map(({ topic }) => topic);
  t.is(topics.length, 3);
  t.is(new Set(topics).size, 3);
  t.is(service.receiver.requests.length, 5);
  t.deepEqual(await deliver(id, { ...change, seq: 8 }), { kind: 'delivered' });
  t.is(service.receiver.requests.length, 8);
});

test('an endpoint on a private address is not connected to, whatever was stored', async (t) => {
  const { service, subscribe, deliver } = await setUp(t, { allowPrivate: false });
  for (const endpoint of [service.subscribe().endpoint, `https://localhost:${service.receiver.port}/x`]) {
    t.deepEqual(await deliver(subscribe(endpoint)), { kind: 'failed' });
  }
  t.is(service.receiver.connections, 0);
});

test('a push service that cannot be reached rests, and its subscriptions wait without being tried', async (t) => {
  const { service, subscribe, deliver } = await setUp(t);
  const [one, two] = [subscribe(), subscribe()];
  await service.receiver.shut();
  t.deepEqual(await deliver(one), { kind: 'failed' });
  const outcome = await deliver(two);
  t.is(outcome.kind, 'deferred');
  t.true(outcome.kind === 'deferred' && outcome.ms > 0 && outcome.ms <= 1_500);
});

test('rests become longer, up to an hour, and differ', (t) => {
  const consumers = pushConsumers({} as never);
  t.true(consumers.backoffMs(1) >= 5_000 && consumers.backoffMs(1) <= 7_500);
  t.true(consumers.backoffMs(3) >= 20_000 && consumers.backoffMs(3) <= 30_000);
  t.true(consumers.backoffMs(1_000) >= 3_600_000 && consumers.backoffMs(1_000) <= 5_400_000);
  t.true(new Set(Array.from({ length: 20 }, () => consumers.backoffMs(5))).size > 1);
});
