// Tests the queue of a node on mailboxes and a store in memory: what is delivered when, how much at a time, and what remains
// when the store, the mailboxes, the transports or the node itself fail.

import type { DeliveryTransport } from '../../../src/actors/delivery/delivery-transport.js';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { StoreFault } from '../../../src/store/errors.js';
import test from '../../support/test.js';
import { ALONE, account, answer, ManualTransport, OutboundWorld, until, viewOf } from './outbound-world.js';

const away = () => new StoreFault('store-unavailable', 'away', { temporary: true });
const unreachable = () => new ActorFault('unreachable', 'nobody answers');
const delivers: DeliveryTransport = { deliver: async (task) => answer(task) };

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

test('no more emails are in flight than there is room for, and none is begun before it is', async (t) => {
  const world = new OutboundWorld();
  for (let i = 0; i < 30; i++) world.add(account(i), [`x@d${i}.test`]);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE, { limits: { emails: 5 } });
  await until(() => transport.open.length === 5);
  t.is(world.count('Sending'), 5);
  for (let ended = 0; ended < 30; ended++) {
    await until(() => transport.open.length === Math.min(5, 30 - ended));
    t.true(world.count('Sending') <= 5);
    transport.open[0]!.settle(answer(transport.open[0]!));
  }
  await until(() => world.count('Sent') === 30);
  t.is(transport.most, 5);
  await queue.stop();
});

test('an account with thousands of emails delays no other account', async (t) => {
  const world = new OutboundWorld();
  const old = Date.now() - 60_000;
  for (let i = 0; i < 2_000; i++) world.add(account(1), [`x@d${i}.test`], { dueAt: old });
  const transport = new ManualTransport();
  const { queue, queueWakeup } = world.node('a', transport, ALONE, { limits: { emails: 30 }, pollMs: 20, graceMs: 0 });
  await until(() => transport.open.length === 20);
  t.is(queue.status.inFlight, 20, 'it leaves a third of the room to others');
  // The queue finds this email by a read of the store.
  const looked = world.add(account(2), ['x@late.test']);
  await until(() => transport.open.some(({ outboundId }) => outboundId === looked.outboundId));
  // The queue finds this email by a notification.
  const told = world.add(account(3), ['x@told.test']);
  queueWakeup.wake(told.accountId, told.outboundId);
  await until(() => transport.open.some(({ outboundId }) => outboundId === told.outboundId));
  await queue.stop();
});

test('deliveries to one domain are bounded; when it is dead, those in its line are not kept for it', async (t) => {
  const world = new OutboundWorld();
  const emails = Array.from({ length: 8 }, (_, i) => world.add(account(i), ['x@dead.test']));
  const other = world.add(account(9), ['x@live.test']);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE, { limits: { perDomain: 2 } });
  await until(() => transport.open.length === 3 && world.count('Sending') === 9);
  t.is(transport.open.filter(({ domain }) => domain === 'dead.test').length, 2);
  const [first, second] = transport.open.filter(({ domain }) => domain === 'dead.test');
  first!.settle(answer(first!, 'temporary', null));
  await until(() => emails.filter(({ status }) => status === 'Queued').length === 7);
  t.is(transport.tasks.length, 3, 'no other delivery tried the dead domain');
  const flushed = world.asksOf('reportDelivery').flatMap(({ payload }) => payload.outcomes);
  t.is(flushed.filter(({ text }) => /for another message/.test(text)).length, 6);
  for (const task of [second!, ...transport.open.filter(({ domain }) => domain === 'live.test')])
    task.settle(answer(task));
  await until(() => other.status === 'Sent');
  await queue.stop();
});

test('a domain that answers slowly is served in turn', async (t) => {
  const world = new OutboundWorld();
  for (let i = 0; i < 6; i++) world.add(account(i), ['x@slow.test']);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE, { limits: { perDomain: 2 } });
  for (let sent = 0; sent < 6; sent++) {
    await until(() => transport.open.length === Math.min(2, 6 - sent));
    transport.open[0]!.settle(answer(transport.open[0]!));
  }
  await until(() => world.count('Sent') === 6);
  t.is(transport.most, 2);
  await queue.stop();
});

test('what stands in line for a slow domain keeps no other mail of its account waiting', async (t) => {
  const world = new OutboundWorld();
  const old = Date.now() - 60_000;
  for (let i = 0; i < 100; i++) world.add(account(1), [`x${i}@slow.test`], { dueAt: old });
  const both = world.add(account(1), ['y@slow.test', 'y@good.test'], { dueAt: old + 1 });
  const transport = new ManualTransport();
  const { queue, queueWakeup } = world.node('a', transport, ALONE, {
    limits: { emails: 10, perDomain: 2 },
    pollMs: 20,
    graceMs: 0,
  });
  const open = (domain: string) => transport.open.filter((task) => task.domain === domain);
  await until(() => open('good.test').length === 1);
  t.is(open('slow.test').length, 2);
  open('good.test')[0]!.settle(answer(open('good.test')[0]!));
  await until(() => both.recipients[1]!.status === 'Delivered');
  const late = world.add(account(1), ['late@good.test']);
  queueWakeup.wake(late.accountId, late.outboundId);
  await until(() => open('good.test').length === 1);
  t.is(open('slow.test').length, 2);
  // All accounts get their turn.
  const served = async (): Promise<void> => {
    while (world.count('Sent') < 102) {
      for (const task of transport.open) task.settle(answer(task));
      await new Promise(setImmediate);
    }
  };
  await served();
  await queue.stop();
  t.is(transport.tasks.length, 103);
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

test('a store that is away is read again later, and emails that were notified are delivered meanwhile', async (t) => {
  const world = new OutboundWorld();
  world.storeFault = away();
  const { queue, queueWakeup } = world.node('a', delivers, ALONE, { pollMs: 5 });
  const found = world.add(account(1), ['a@x.test']);
  const told = world.add(account(2), ['a@x.test']);
  queueWakeup.wake(told.accountId, told.outboundId);
  await until(() => told.status === 'Sent');
  await until(() => world.reads > 3);
  t.is(found.status, 'Queued');
  world.storeFault = undefined;
  await until(() => found.status === 'Sent');
  await queue.stop();
});

test('a mailbox that cannot be reached backs off and delays no other; it is asked again later', async (t) => {
  const world = new OutboundWorld();
  let isAway = true;
  world.mailboxFault = ({ accountId }) => (isAway && accountId === account(1) ? unreachable() : undefined);
  const waiting = Array.from({ length: 50 }, () => world.add(account(1), ['a@x.test'], { dueAt: 0 }));
  const { queue } = world.node('a', delivers, ALONE, { limits: { emails: 10 }, pollMs: 5 });
  const other = world.add(account(2), ['a@x.test']);
  await until(() => other.status === 'Sent');
  const { reads } = world;
  await until(() => world.reads > reads + 40);
  // The pause doubles, so there are only a few rounds, each with at most the account's emails in flight.
  t.true(world.asksOf('startDelivery').length <= 60, `${world.asksOf('startDelivery').length}`);
  isAway = false;
  await until(() => waiting.every(({ status }) => status === 'Sent'));
  t.is(queue.status.failingMs, 0);
  await queue.stop();
});

test('what the mailbox refuses to begin is not asked for in a loop', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test']);
  // The clocks of the store and of the mailbox's node differ, so the store finds the email due too early.
  const { due } = world.store;
  world.store.due = async (...args) => {
    const found = await due(...args);
    return args[2].includes(email.outboundId) ? found : [{ ...email, interrupted: null }];
  };
  email.dueAt = Date.now() + 3_600_000;
  const { queue } = world.node('a', delivers, ALONE, { pollMs: 2 });
  await until(() => world.reads > 60);
  t.true(world.asksOf('startDelivery').length <= 3, `${world.asksOf('startDelivery').length}`);
  t.is(email.status, 'Queued');
  await queue.stop();
});

test('an outcome is reported until it is committed, and never sent again', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test']);
  let faults = 3;
  world.mailboxFault = ({ name }) => (name === 'reportDelivery' && faults-- > 0 ? unreachable() : undefined);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE, { pollMs: 5 });
  await until(() => transport.open.length === 1);
  transport.open[0]!.settle(answer(transport.open[0]!));
  await until(() => email.status === 'Sent');
  t.is(transport.tasks.length, 1);
  t.is(world.asksOf('reportDelivery').length, 4);
  await queue.stop();
});

test('an answer that got lost is no second delivery', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test']);
  const lost = new Set(['reportDelivery']);
  world.lostAnswer = ({ name }) => lost.delete(name);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE, { pollMs: 5 });
  await until(() => transport.open.length === 1);
  transport.open[0]!.settle(answer(transport.open[0]!));
  await until(() => email.status === 'Sent' && queue.status.inFlight === 0);
  t.is(transport.tasks.length, 1);
  await queue.stop();
});

test('a start whose answer got lost is begun again in its own place', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test']);
  const lost = new Set(['startDelivery']);
  world.lostAnswer = ({ name }) => lost.delete(name);
  const { queue } = world.node('a', delivers, ALONE, { pollMs: 5 });
  await until(() => email.status === 'Sent');
  const [first, second] = world.asksOf('startDelivery');
  t.is(second!.payload.supersedes, first!.payload.attempt.id);
  await queue.stop();
});

test('a message that cannot be read, and a transport with a bug, are temporary', async (t) => {
  const world = new OutboundWorld();
  const emails = [world.add(account(1), ['a@x.test']), world.add(account(2), ['a@y.test'])];
  const transport: DeliveryTransport = {
    deliver: async ({ domain }) => {
      throw domain === 'x.test' ? away() : new TypeError('a bug');
    },
  };
  const { queue } = world.node('a', transport, ALONE);
  await until(() => emails.every(({ retryCount }) => retryCount === 1));
  t.deepEqual(
    world.asksOf('reportDelivery').flatMap(({ payload }) => payload.outcomes.map((o: { kind: string }) => o.kind)),
    ['temporary', 'temporary'],
  );
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
        outcomes: outcomes.map((o, i) => ({ ...o, kind: 'delivered' as const, localAccountId: to[i]! })),
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

test('a node that is not sure of its leases, or gives them away, begins nothing', async (t) => {
  const world = new OutboundWorld();
  let isCurrent = false;
  const { queue, queueWakeup } = world.node('a', delivers, ALONE, { pollMs: 2, isCurrent: () => isCurrent });
  const email = world.add(account(1), ['a@x.test']);
  queueWakeup.wake(email.accountId, email.outboundId);
  let polls = 0;
  const read = queue.status.read.bind(queue.status);
  queue.status.read = (shards) => {
    polls++;
    read(shards);
  };
  await until(() => polls > 5);
  t.is(email.status, 'Queued');
  isCurrent = true;
  await until(() => email.status === 'Sent');
  queue.beginDrain();
  const late = world.add(account(1), ['a@x.test']);
  queueWakeup.wake(late.accountId, late.outboundId);
  await queue.stop();
  t.is(late.status, 'Queued');
});

test('a stop waits for what is under way', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test']);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE, { graceMs: 60_000 });
  await until(() => transport.open.length === 1);
  const stopped = queue.stop();
  t.false(queue.status.isStopped);
  transport.open[0]!.settle(answer(transport.open[0]!));
  await stopped;
  t.true(queue.status.isStopped);
  t.is(email.status, 'Sent');
});

test('after the grace the rest is cut short: due again at once, and what was delivered stays so', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test', 'b@y.test', 'c@z.test']);
  const inLine = world.add(account(2), ['b@y.test']);
  const transport: DeliveryTransport = {
    deliver: (task) => {
      if (task.domain === 'x.test') return Promise.resolve(answer(task));
      return new Promise((resolve) =>
        // y.test had accepted the message when the node was stopped.
        task.signal.addEventListener('abort', () =>
          resolve(answer(task, task.domain === 'y.test' ? 'delivered' : 'temporary')),
        ),
      );
    },
  };
  const { queue } = world.node('a', transport, ALONE, { graceMs: 0, limits: { perDomain: 1 } });
  await until(() => email.recipients[0]!.status === 'Delivered' && inLine.status === 'Sending');
  await queue.stop();
  t.deepEqual(
    email.recipients.map(({ status }) => status),
    ['Delivered', 'Delivered', 'Pending'],
  );
  for (const { status, retryCount } of [email, inLine]) t.deepEqual([status, retryCount], ['Queued', 0]);
  t.true(world.asksOf('reportDelivery').at(-1)!.payload.isInterrupted);
});

test('a transport that does not end in time keeps no node from stopping', async (t) => {
  const world = new OutboundWorld();
  const email = world.add(account(1), ['a@x.test']);
  const transport = new ManualTransport();
  const { queue } = world.node('a', transport, ALONE, { graceMs: 0 });
  await until(() => transport.open.length === 1);
  await queue.stop();
  t.is(email.status, 'Queued');
  t.is(email.retryCount, 0);
});

test('an email to a thousand domains warns of no leak: each of its deliveries listens for its end', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  t.teardown(() => process.off('warning', onWarning));
  const world = new OutboundWorld();
  const addresses = Array.from({ length: 1000 }, (_, i) => `x@d${i}.test`);
  const email = world.add(account(1), addresses);
  const transport: DeliveryTransport = {
    deliver: (task) =>
      new Promise((resolve) => {
        task.signal.addEventListener('abort', () => resolve(answer(task, 'temporary')), { once: true });
        if (task.domain === 'd999.test') setImmediate(() => resolve(answer(task)));
      }),
  };
  const { queue } = world.node('a', transport, ALONE);
  await until(() => email.recipients.at(-1)!.status === 'Delivered');
  await queue.stop();
  // Node emits warnings in a later turn.
  await new Promise(setImmediate);
  t.deepEqual(warnings, []);
});
