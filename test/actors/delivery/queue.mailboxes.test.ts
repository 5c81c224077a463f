// Tests the queue on real mailboxes and a real store: from `enqueue` to what the sender and a mailbox of the store see.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { NEVER } from 'rxjs';
import type { DeliveryTransport } from '../../../src/actors/delivery/delivery-transport.js';
import { hostedDelivery, localDeliveryTransport } from '../../../src/actors/delivery/local-transport.js';
import { messageFacts } from '../../../src/actors/delivery/message-facts.js';
import { DeliveryQueue } from '../../../src/actors/delivery/queue.js';
import { QueueWakeup } from '../../../src/actors/delivery/queue-wakeup.js';
import { DeliveryScheduler } from '../../../src/actors/delivery/scheduler/scheduler.js';
import { SenderDsns } from '../../../src/actors/delivery/sender-dsn.js';
import { createDirectory } from '../../../src/actors/directory/directory.js';
import { deliverLocally } from '../../../src/actors/mailbox/outbound/local-deliveries.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { postgresOutbound } from '../../../src/store/postgres/outbound/outbound.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { mailboxWorld } from '../mailbox/mailbox-world.js';
import { enqueued } from '../mailbox/outbound-world.js';
import { answer } from './outbound-world.js';

const log = pino({ level: 'silent' });
type World = Awaited<ReturnType<typeof mailboxWorld>>;

async function queueOn(world: World, remote: DeliveryTransport) {
  const { mailboxes, blobs, directory: accounts, sql } = world;
  const directory = await createDirectory({
    store: accounts,
    mailboxes,
    unknownRecipients: 'reject',
    log: { info() {} },
  });
  const store = postgresOutbound(sql);
  const facts = messageFacts(blobs);
  const hosted = hostedDelivery({ directory, facts, hostname: 'mx.example.test', newId: randomUUID });
  world.inside.deliverLocally = (delivery) => deliverLocally(mailboxes, delivery, log);
  const row = { id: 'a', version: '1', roles: ['mailbox', 'outbound'], bus: 'in-process' as const };
  const ownership = {
    nodeId: 'a',
    shards: 1,
    state: 'serving' as const,
    isCurrent: true,
    heartbeatAgeMs: 0,
    view: {
      nodes: [{ ...row, state: 'serving' as const, startedAt: 0, silentMs: 0, expired: false }],
      leases: [{ shard: 0, epoch: 1, nodeId: 'a', expired: false }],
    },
  };
  const shared = { store, mailboxes, scheduler: new DeliveryScheduler(), log, newId: randomUUID };
  const retry = { maxRetries: 2, baseMs: 60_000, capMs: 600_000 };
  const queue = new DeliveryQueue({
    ...shared,
    deliveryTransport: localDeliveryTransport(hosted, remote),
    dsns: new SenderDsns({ ...shared, blobs, hostname: 'mx.example.test', retry }),
    ownership,
    queueWakeup: new QueueWakeup({ transport: { ...localTransport(), breaks$: NEVER }, ownership }),
    incarnation: 'a lives',
    leaseTtlMs: 60_000,
    pollMs: 20,
  });
  return {
    queue,
    store,
    hosted,
    async end() {
      await queue.stop();
      await directory.close();
    },
  };
}

/** Asks repeatedly until the answer satisfies `holds`, and returns it. */
async function eventually<T>(ask: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  let found = await ask();
  await until(async () => {
    if (holds(found)) return true;
    found = await ask();
    return holds(found);
  });
  return found;
}

test('an email for hosted, remote and unknown recipients: delivered once, the sender notified in its thread', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  await world.directory.addDomain('example.test');
  const me = await world.directory.createAccount('me@example.test', 'Me');
  const ann = await world.directory.createAccount('ann@example.test', 'Ann');
  let tries = 0;
  const remote: DeliveryTransport = {
    async deliver(task) {
      tries++;
      return answer(task, task.domain === 'gone.test' ? 'permanent' : 'delivered');
    },
  };
  const to = ['ann+x@example.test', 'nobody@example.test', 'bob@there.test', 'cy@gone.test'];
  const { id } = await enqueued(world, me.id, to);
  const running = await queueOn(world, remote);
  const mailbox = world.mailboxes.of(me.id);
  const found = await eventually(
    () => mailbox.ask('outbound', { outboundId: id }),
    ({ reply }) => reply?.email.status === 'Failed',
  );
  t.deepEqual(
    found.reply!.email.recipients.map(({ status }) => status),
    ['Delivered', 'Failed', 'Delivered', 'Failed'],
  );
  const inbox = (accountId: string) => () =>
    world.mailboxes.of(accountId).ask('list', { folder: 'inbox', page: 1, pageSize: 10 });
  const got = await eventually(inbox(ann.id), ({ reply }) => reply!.items.length > 0);
  t.is(got.reply!.items.length, 1);
  const told = await eventually(inbox(me.id), ({ reply }) => reply!.items.length > 0);
  const [report] = told.reply!.items;
  t.is(report!.fromAddress, 'mailer-daemon@mx.example.test');
  t.regex(report!.subject, /^Undelivered: out /);
  const sent =
    await world.sql`select thread_id from emails where id = ${found.reply!.email.id} or message_id like '<out-%'`;
  t.true(
    sent.some((row) => row['thread_id'] === report!.threadId),
    'it joins the thread of what was sent',
  );
  const timeline = await mailbox.ask('outboundTimeline', { outboundId: id });
  t.deepEqual(timeline.reply!.attempts.map(({ host }) => host).sort(), ['mx.example.test', 'mx.test', 'mx.test']);
  // The queue looks several more times and does nothing twice.
  const { lookAgeMs } = running.queue.status;
  await eventually(
    async () => running.queue.status.lookAgeMs,
    (age) => age <= lookAgeMs || age < 20,
  );
  await running.end();
  t.is(tries, 2);
  t.is((await inbox(me.id)()).reply!.items.length, 1);
  const [left] = await world.sql`select count(*)::int as n from inbound`;
  t.is(left!['n'], 0);
});

test('hosted recipients have the email with its commit, whether or not a node delivers to remote ones', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  await world.directory.addDomain('example.test');
  const me = await world.directory.createAccount('me@example.test', 'Me');
  const ann = await world.directory.createAccount('ann@example.test', 'Ann');
  const running = await queueOn(world, { deliver: async (task) => answer(task) });
  // No node delivers to other servers now.
  await running.queue.stop();
  world.inside.hosted = running.hosted;
  const mailbox = world.mailboxes.of(me.id);
  const shown = async (outboundId: string) => (await mailbox.ask('outbound', { outboundId })).reply!.email;
  const all = await enqueued(world, me.id, ['ann@example.test', 'ann+x@example.test', 'me@example.test']);
  t.like(await shown(all.id), { status: 'Sent', retryCount: 0, lastError: null });
  const mixed = await enqueued(world, me.id, ['bob@there.test', 'ann@example.test', 'nobody@example.test']);
  const email = await shown(mixed.id);
  t.is(email.status, 'Queued');
  t.true(email.nextRetryAt! <= Date.now(), 'the rest is due at once');
  t.deepEqual(
    email.recipients.map(({ status, statusCode }) => [status, statusCode]),
    [
      ['Pending', null],
      ['Delivered', null],
      ['Failed', '5.1.1'],
    ],
  );
  const failed = await enqueued(world, me.id, ['nobody@example.test']);
  t.like(await shown(failed.id), { status: 'Failed' });
  t.is((await mailbox.ask('dsnMaterial', { outboundId: failed.id })).reply?.kind, 'failed');
  const inbox = async (accountId: string) =>
    (await world.mailboxes.of(accountId).ask('list', { folder: 'inbox', page: 1, pageSize: 10 })).reply!;
  await eventually(
    () => inbox(ann.id),
    ({ totalCount }) => totalCount === 2,
  );
  await eventually(
    () => inbox(me.id),
    ({ totalCount }) => totalCount === 1,
  );
  const { reply } = await mailbox.ask('outboundTimeline', { outboundId: mixed.id });
  t.deepEqual(
    reply!.attempts.map(({ host, recipients }) => [host, recipients.map(({ id, outcome }) => [id, outcome])]),
    [
      [
        'mx.example.test',
        [
          [email.recipients[1]!.id, 'delivered'],
          [email.recipients[2]!.id, 'permanent'],
        ],
      ],
    ],
  );
  const [left] = await world.sql`select count(*)::int as n from inbound`;
  t.is(left!['n'], 0, 'one copy each, and all are placed');
  // Mail is accepted while the directory is unavailable.
  world.inside.hosted = () => Promise.reject(new Error('away'));
  t.like(await shown((await enqueued(world, me.id, ['ann@example.test'])).id), { status: 'Queued' });
  await running.end();
});

test('a domain that does not answer keeps no retry of another one waiting', async (t) => {
  const world = await mailboxWorld({ maxRetries: 10, baseMs: 20, capMs: 40 });
  t.teardown(world.end);
  await world.directory.addDomain('example.test');
  const me = await world.directory.createAccount('me@example.test', 'Me');
  let tries = 0;
  let letGo = () => {};
  const remote: DeliveryTransport = {
    deliver: (task) =>
      new Promise((resolve) => {
        if (task.domain === 'grey.test') resolve(answer(task, ++tries === 4 ? 'delivered' : 'temporary'));
        else if (task.domain === 'busy.test' && tries < 3) resolve({ outcomes: [], attempts: [] });
        else if (task.domain === 'busy.test') resolve(answer(task));
        else letGo = () => resolve(answer(task, 'permanent'));
      }),
  };
  const { id: outboundId } = await enqueued(world, me.id, [
    'a@grey.test',
    'b@black.test',
    'c@busy.test',
    'd@grey.test',
  ]);
  const running = await queueOn(world, remote);
  const mailbox = world.mailboxes.of(me.id);
  const email = await eventually(
    async () => (await mailbox.ask('outbound', { outboundId })).reply!.email,
    ({ recipients }) => recipients.filter(({ status }) => status === 'Delivered').length === 3,
  );
  t.like(email, { status: 'Sending', retryCount: 3 });
  t.is(email.recipients[2]!.lastError, null);
  letGo();
  const ended = await eventually(
    async () => (await mailbox.ask('outbound', { outboundId })).reply!.email,
    ({ status }) => status !== 'Sending',
  );
  t.like(ended, { status: 'Failed', retryCount: 3, nextRetryAt: null });
  const { reply } = await mailbox.ask('outboundTimeline', { outboundId });
  t.is(reply!.attempts.length, 4 + 1 + 1, 'what was not tried is no attempt');
  await running.end();
});

test('what operators ask for reaches the mailbox, also of an email that failed', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  await world.directory.addDomain('example.test');
  const me = await world.directory.createAccount('me@example.test', 'Me');
  let kind: 'temporary' | 'permanent' | 'delivered' = 'permanent';
  const running = await queueOn(world, { deliver: async (task) => answer(task, kind) });
  const { store } = running;
  const { id: outboundId } = await enqueued(world, me.id, ['bob@there.test']);
  const becomes = (id: string, status: string) =>
    eventually(
      () => store.find(id),
      (email) => email?.status === status,
    );
  await becomes(outboundId, 'Failed');
  kind = 'delivered';
  await store.request({ accountId: me.id, outboundId, action: 'retry' });
  await becomes(outboundId, 'Sent');
  await eventually(
    () => store.isRequested({ accountId: me.id, outboundId }),
    (isRequested) => !isRequested,
  );
  kind = 'temporary';
  const { id: stuck } = await enqueued(world, me.id, ['bob@there.test']);
  await eventually(
    () => store.find(stuck),
    (email) => email?.status === 'Queued' && email.retryCount === 1,
  );
  await store.request({ accountId: me.id, outboundId: stuck, action: 'cancel' });
  t.is((await becomes(stuck, 'Failed'))!.recipients[0]!.status, 'Failed');
  await running.end();
});

test('the store leaves out accounts that have their share', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const [first, second] = [
    await world.directory.createAccount('me@example.test', 'Me'),
    await world.directory.createAccount('you@example.test', 'You'),
  ];
  for (let i = 0; i < 3; i++) await enqueued(world, first.id, ['bob@there.test']);
  const { id } = await enqueued(world, second.id, ['bob@there.test'], 'you@example.test');
  const store = postgresOutbound(world.sql);
  t.is((await store.due([0], 10, [], [])).length, 4);
  const left = await store.due([0], 10, [], [first.id]);
  t.deepEqual([...left], [{ accountId: second.id, outboundId: id, interrupted: null }]);
  t.is((await store.due([0], 10, [id], [first.id])).length, 0);
});
