// Tests what the queue of a node does when the store, a mailbox or a transport fails, or an answer is lost.
import type { DeliveryTransport } from '../../../src/actors/delivery/delivery-transport.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import {
  ALONE,
  account,
  answer,
  away,
  delivers,
  ManualTransport,
  OutboundWorld,
  unreachable,
} from './outbound-world.js';

/** In ms. An email that its mailbox refuses to begin is left alone for this long at least (`actors/delivery/scheduler`). */
const BACKOFF_MS = 500;

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
  const began = performance.now();
  const { queue } = world.node('a', delivers, ALONE, { pollMs: 2 });
  await until(() => world.reads > 60);
  const asked = world.asksOf('startDelivery').length;
  const most = 2 + (performance.now() - began) / BACKOFF_MS;
  t.true(asked <= most, `asked ${asked} times of ${most}, with ${world.reads} reads`);
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
