// Tests how the queue of a node ends its deliveries when the node stops or is not sure of its leases.
import type { DeliveryTransport } from '../../../src/actors/delivery/delivery-transport.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { ALONE, account, answer, delivers, ManualTransport, OutboundWorld } from './outbound-world.js';

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
