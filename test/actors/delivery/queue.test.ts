// Tests the queue of a node on mailboxes and a store in memory: what is delivered when and by whom, what is reported, and what operators
// ask for.
import type { DeliveryTransport } from '../../../src/actors/delivery/delivery-transport.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import {
  ALONE,
  account,
  answer,
  delivers,
  ManualTransport,
  OutboundWorld,
  unreachable,
  viewOf,
} from './outbound-world.js';

test('what is due when the node starts is delivered, once, and each domain gets one task', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test', 'b@x.test', 'c@y.test']);
  world.add(account(1), ['later@x.test'], { dueAt: Date.now() + 3_600_000 });
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE);
  await until(() => transport.tasks.length === 2);
  t.deepEqual(
    transport.tasks.map(({ domain, recipients }) => [domain, recipients.map(({ address }) => address)]),
    [
      ['x.test', ['a@x.test', 'b@x.test']],
      ['y.test', ['c@y.test']],
    ],
  );
  for (const task of transport.tasks) task.settle(answer(task));
  await until(() => email.status === 'Sent');
  t.is(world.asksOf('startDelivery').length, 1);
  // Both deliveries ended in the same turn, so they share a commit.
  t.is(world.asksOf('reportDelivery').length, 1);
  await queue.stop();
  t.is(transport.tasks.length, 2);
});

test('the outcome of a domain is committed while others are still under way', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test', 'c@y.test']);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE);
  await until(() => transport.tasks.length === 2);
  transport.tasks[0]!.settle(answer(transport.tasks[0]!));
  await until(() => email.recipients[0]!.status === 'Delivered');
  t.is(email.status, 'Sending');
  t.false(world.asksOf('reportDelivery')[0]!.payload.isOver);
  transport.tasks[1]!.settle(answer(transport.tasks[1]!, 'temporary'));
  await until(() => email.status === 'Queued');
  t.deepEqual(
    world.asksOf('reportDelivery').map(({ payload }) => payload.outcomes.length),
    [1, 1],
  );
  await queue.stop();
});

test('what a node that is no more was sending is sent by another one, in its place', async (t) => {
  const world = new OutboundWorld();
  world.alive.add('b lives');
  const left = world.add(account(1), ['a@x.test'], { status: 'Sending', attempt: { id: 'dead', by: 'gone' } });
  const others = world.add(account(1), ['a@x.test'], { status: 'Sending', attempt: { id: 'live', by: 'b lives' } });
  const lost = world.add(account(1), ['a@x.test'], { status: 'Sending', attempt: { id: 'own', by: 'a lives' } });
  const { queue } = world.node('a', delivers, ALONE);
  await until(() => left.status === 'Sent' && lost.status === 'Sent');
  t.deepEqual(
    world.asksOf('startDelivery').map(({ payload }) => payload.supersedes),
    ['dead', 'own'],
  );
  t.is(others.attempt?.id, 'live');
  await queue.stop();
});

test('what was superseded while it waited for its turn is not sent', async (t) => {
  const world = new OutboundWorld();
  const first = world.add(account(1), ['a@x.test']);
  const transport = new ManualTransport();
  // With a lease time of 0 the node never knows that it holds the lease, so it asks before each domain.
  const { queue, queueWakeup } = world.node('a', transport, ALONE, { limits: { perDomain: 1 }, leaseTtlMs: 0 });
  await until(() => transport.open.length === 1);
  const second = world.add(account(2), ['b@x.test']);
  queueWakeup.wake(second.accountId, second.outboundId);
  await until(() => second.status === 'Sending');
  second.attempt = { id: 'of another node', by: 'b lives' };
  transport.open[0]!.settle(answer(transport.open[0]!));
  await until(() => first.status === 'Sent' && queue.status.inFlight === 0);
  t.is(transport.tasks.length, 1);
  t.is(second.attempt.id, 'of another node');
  await queue.stop();
});

test('when the answer to a report says that another delivery has taken over, the rest of this one is cut short', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test', 'b@y.test']);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE);
  await until(() => transport.open.length === 2);
  email.attempt = { id: 'of another node', by: 'b lives' };
  transport.open[0]!.settle(answer(transport.open[0]!));
  await until(() => transport.open[0]!.signal.aborted);
  await until(() => queue.status.inFlight === 0);
  t.is(email.recipients[0]!.status, 'Pending');
  transport.open[0]!.settle(answer(transport.open[0]!, 'temporary'));
  await queue.stop();
});

test('the node that delivers for a shard is woken over the bus by the one that has its mailboxes', async (t) => {
  const world = new OutboundWorld();
  const transport = localTransport({ encoding: true });
  const view = () => viewOf({ boxes: ['mailbox'], out: ['outbound'], both: ['mailbox', 'outbound'] }, 'boxes');
  const [out, both] = [new ManualTransport(), new ManualTransport()];
  const nodes = [world.node('out', out, view, { transport }), world.node('both', both, view, { transport })];
  const { queueWakeup: boxes, queue: idle } = world.node('boxes', new ManualTransport(), view, { transport });
  for (let i = 0; i < 40; i++) {
    const { accountId, outboundId } = world.add(account(i), ['a@x.test']);
    boxes.wake(accountId, outboundId);
  }
  await until(() => out.open.length + both.open.length >= 20);
  const took = (transport: ManualTransport) => new Set(transport.open.map(({ outboundId }) => outboundId));
  t.deepEqual(
    [...took(out)].filter((id) => took(both).has(id)),
    [],
    'each email has one of them',
  );
  t.true(out.open.length > 0 && both.open.length > 0, 'and both have some');
  for (const transport of [out, both]) {
    transport.deliver = async (task) => answer(task);
    for (const task of transport.open) task.settle(answer(task));
  }
  await until(() => world.count('Sent') === 40);
  await Promise.all([idle, ...nodes.map(({ queue }) => queue)].map((queue) => queue.stop()));
});

test("the owner's own queue is first to deliver, and starts as soon as it is notified", async (t) => {
  const world = new OutboundWorld();
  const transport = localTransport({ encoding: true });
  const view = () => viewOf({ a: ['mailbox', 'outbound'], b: ['outbound'] }, 'a');
  const [a, b] = [new ManualTransport(), new ManualTransport()];
  const [own, other] = [world.node('a', a, view, { transport }), world.node('b', b, view, { transport })];
  const { accountId, outboundId } = world.add(account(1), ['a@x.test']);
  other.queueWakeup.wake(accountId, outboundId);
  await until(() => a.open.length === 1);
  t.is(b.open.length, 0);
  a.open[0]!.settle(answer(a.open[0]!));
  await Promise.all([own.queue.stop(), other.queue.stop()]);
});

test('a packet that is not understood makes the node look', async (t) => {
  const world = new OutboundWorld();
  const transport = localTransport({ encoding: true });
  const { queue } = world.node('a', delivers, ALONE, { transport });
  await until(() => world.reads >= 3);
  const email = world.add(account(1), ['a@x.test']);
  transport.publish(`delivery.${Buffer.from('a').toString('hex')}`, { v: 1, kind: 'recheck' });
  await until(() => email.status === 'Sent');
  t.pass();
  await queue.stop();
});

test('local mail goes to each account once', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['ann@here.test', 'ann+x@here.test', 'bob@here.test']);
  const transport: DeliveryTransport = {
    async deliver(task) {
      const { outcomes, attempts } = answer(task);
      const to = [account(5), account(5), account(6)];
      return {
        outcomes: outcomes.map((o, i) => ({ ...o, kind: 'delivered' as const, localAccountIds: [to[i]!] })),
        attempts,
      };
    },
  };
  const { queue } = world.node('a', transport, ALONE);
  await until(() => email.status === 'Sent');
  const { outcomes } = world.asksOf('reportDelivery')[0]!.payload;
  t.deepEqual(
    outcomes.map(({ localAccountId }: { localAccountId?: string }) => localAccountId),
    [account(5), undefined, account(6)],
  );
  await queue.stop();
});

test('a sender is notified of a failure, once', async (t) => {
  const world = new OutboundWorld();
  const transport: DeliveryTransport = { deliver: async (task) => answer(task, 'permanent') };
  const email = world.add(account(1), ['a@x.test']);
  const left = world.add(account(3), ['a@x.test'], { status: 'Failed', dsnDue: 'delayed' });
  const { queue } = world.node('a', transport, ALONE, { pollMs: 5 });
  await until(() => [email, left].every(({ dsnDue, status }) => status === 'Failed' && dsnDue === null));
  await queue.stop();
  const given = world.asksOf('giveDsn');
  t.is(given.length, 2);
  for (const { payload } of given) {
    t.is(world.blobs.get(payload.report.blob)!.index.root.params['report-type'], 'delivery-status');
  }
});

test('what operators ask for is done and struck off, or stays until it can be', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test'], { dueAt: Date.now() + 3_600_000 });
  const unlucky = world.add(account(2), ['a@x.test'], { dueAt: Date.now() + 3_600_000 });
  const request = ({ accountId, outboundId }: typeof email, action: 'retry' | 'cancel') =>
    world.requests.push({ accountId, outboundId, action });
  request(email, 'cancel');
  request(unlucky, 'retry');
  let isAway = true;
  world.mailboxFault = ({ accountId }) => (isAway && accountId === unlucky.accountId ? unreachable() : undefined);
  const { queue } = world.node('a', delivers, ALONE, { pollMs: 5 });
  await until(() => email.status === 'Failed' && world.requests.length === 1);
  t.is(world.requests[0]!.outboundId, unlucky.outboundId);
  isAway = false;
  await until(() => unlucky.status === 'Sent');
  t.deepEqual(world.requests, []);
  await queue.stop();
});
