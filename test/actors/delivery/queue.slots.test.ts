// Tests the queue's side of deliveries that begin with the commit that queues their email: slots are reserved, assigned to
// emails, used or released, and these emails do not count as interrupted meanwhile.
import { randomUUID } from 'node:crypto';
import type { StartedDelivery } from '../../../src/actors/mailbox/outbound/delivery-slots.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { ALONE, account, answer, type FakeEmail, ManualTransport, OutboundWorld, viewOf } from './outbound-world.js';

const BY = 'a lives';

/** Adds an email as its mailbox commits it when its delivery begins with the commit. */
function sending(world: OutboundWorld, accountId: string, attemptId: string, to = 'x@d.test'): FakeEmail {
  return world.add(accountId, [to], { status: 'Sending', attempt: { id: attemptId, by: BY } });
}

function startedOf({ sender, recipients }: FakeEmail): StartedDelivery {
  const of = {
    blob: 'b'.repeat(64),
    size: 10,
    messageId: null,
    createdAt: Date.now(),
    retryCount: 0,
    retryInMs: null,
    dsn: null,
  };
  return { ...of, sender, recipients: recipients.map(({ id, address, domain }) => ({ id, address, domain })) };
}

test('a delivery that began with its email is not started again, and is reported under its id', async (t) => {
  const world = new OutboundWorld();
  const transport = new ManualTransport();
  const { queue, queueWakeup } = world.node('a', transport, ALONE);
  const reserved = queueWakeup.reserve(account(1), 1)!;
  t.like(reserved, { count: 1, by: BY });
  const attemptId = randomUUID();
  const email = sending(world, account(1), attemptId);
  reserved.assign(email.outboundId, attemptId).begin(startedOf(email));
  t.is(reserved.count, 0);
  reserved.release();
  await until(() => transport.tasks.length === 1);
  transport.tasks[0]!.settle(answer(transport.tasks[0]!));
  await until(() => email.status === 'Sent');
  t.deepEqual(world.asksOf('startDelivery'), []);
  t.is(world.asksOf('reportDelivery')[0]!.payload.attemptId, attemptId);
  await until(() => queue.status.inFlight === 0);
  await queue.stop();
});

test('a read that finds the email in the store before its commit is answered does not take it for interrupted', async (t) => {
  const world = new OutboundWorld();
  const transport = new ManualTransport();
  const { queue, queueWakeup } = world.node('a', transport, ALONE, { pollMs: 2 });
  const attemptId = randomUUID();
  const outboundId = randomUUID();
  const reserved = queueWakeup.reserve(account(1), 1)!;
  const assigned = reserved.assign(outboundId, attemptId);
  const email = sending(world, account(1), attemptId);
  world.emails.delete(email.outboundId);
  const found = { ...email, outboundId };
  world.emails.set(outboundId, found);
  const before = world.reads;
  await until(() => world.reads > before + 12);
  t.deepEqual(world.asked, []);
  assigned.begin(startedOf(found));
  reserved.release();
  await until(() => transport.tasks.length === 1);
  transport.tasks[0]!.settle(answer(transport.tasks[0]!));
  await until(() => found.status === 'Sent');
  t.is(transport.tasks.length, 1);
  await queue.stop();
});

test('slots without a delivery are released; what was committed all the same is found and delivered', async (t) => {
  const world = new OutboundWorld();
  const transport = new ManualTransport();
  const { queue, queueWakeup } = world.node('a', transport, ALONE, { limits: { emails: 1 }, pollMs: 2 });
  const attemptId = randomUUID();
  const reserved = queueWakeup.reserve(account(1), 5)!;
  t.is(reserved.count, 1, 'no more than there are');
  t.is(queueWakeup.reserve(account(2), 1)?.count, 0);
  const assigned = reserved.assign(randomUUID(), attemptId);
  t.is(reserved.count, 0);
  t.throws(() => reserved.assign(randomUUID(), randomUUID()));
  assigned.release();
  t.is(reserved.count, 1, 'the commit is repeated');
  reserved.assign(randomUUID(), randomUUID()).release();
  reserved.release();
  const other = queueWakeup.reserve(account(2), 1)!;
  t.is(other.count, 1);
  other.release();
  t.is(queue.status.inFlight, 0);
  t.deepEqual(world.asked, []);
  const lost = sending(world, account(1), attemptId);
  await until(() => transport.tasks.length === 1);
  t.is(world.asksOf('startDelivery')[0]!.payload.supersedes, attemptId);
  transport.tasks[0]!.settle(answer(transport.tasks[0]!));
  await until(() => lost.status === 'Sent');
  await queue.stop();
});

test('no slot is reserved where another node delivers, nor on a node that stops, which waits for those it has', async (t) => {
  const world = new OutboundWorld();
  const transport = new ManualTransport();
  const elsewhere = world.node('b', transport, () => viewOf({ a: ['mailbox', 'outbound'], b: ['outbound'] }, 'a'));
  t.is(elsewhere.queueWakeup.reserve(account(1), 1), undefined);
  await elsewhere.queue.stop();

  const { queue, queueWakeup } = world.node('a', transport, ALONE);
  const attemptId = randomUUID();
  const email = sending(world, account(1), attemptId);
  const reserved = queueWakeup.reserve(account(1), 2)!;
  let isStopped = false;
  const stopped = queue.stop().then(() => {
    isStopped = true;
  });
  t.is(queueWakeup.reserve(account(1), 1), undefined);
  await new Promise(setImmediate);
  t.false(isStopped);
  reserved.assign(email.outboundId, attemptId).begin(startedOf(email));
  reserved.release();
  await until(() => transport.tasks.length === 1);
  transport.tasks[0]!.settle(answer(transport.tasks[0]!));
  await stopped;
  t.is(email.status, 'Sent');
});

test('an account whose deliveries cannot be started gets no slots for a while', async (t) => {
  const world = new OutboundWorld();
  world.mailboxFault = ({ name }) => (name === 'startDelivery' ? new Error('away') : undefined);
  const { queue, queueWakeup } = world.node('a', new ManualTransport(), ALONE);
  const email = world.add(account(1), ['x@d.test']);
  queueWakeup.wake(email.accountId, email.outboundId);
  await until(() => queueWakeup.reserve(account(1), 1)?.count === 0);
  t.is(queueWakeup.reserve(account(2), 1)?.count, 1);
  await queue.stop();
});
