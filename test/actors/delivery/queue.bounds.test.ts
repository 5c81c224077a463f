// Tests how much the queue of a node delivers at a time: in all, per account and per domain.
import type { DeliveryTransport } from '../../../src/actors/delivery/delivery-transport.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { ALONE, account, answer, ManualTransport, OutboundWorld } from './outbound-world.js';

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
