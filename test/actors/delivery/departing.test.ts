// Deliveries that begin with the commit that queues their email, as the queue has them: places that are held, begun, given
// back, and that nobody takes for lost meanwhile.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { Begun } from '../../../src/actors/mailbox/outbound/delivery-slots.js';
import { ALONE, account, answer, type FakeEmail, HeldCourier, OutboundWorld, until, viewOf } from './outbound-world.js';

const BY = 'a lives';

/** An email as its mailbox commits it when its delivery begins with it. */
function sending(world: OutboundWorld, accountId: string, attemptId: string, to = 'x@d.test'): FakeEmail {
  return world.add(accountId, [to], { status: 'Sending', attempt: { id: attemptId, by: BY } });
}

function begunOf({ sender, recipients }: FakeEmail): Begun {
  const of = { blob: 'b'.repeat(64), size: 10, messageId: null, createdAt: Date.now(), retryCount: 0, retryInMs: null };
  return { ...of, sender, recipients: recipients.map(({ id, address, domain }) => ({ id, address, domain })) };
}

test('a delivery that began with its email is made without asking for it, and reported under its attempt', async (t) => {
  const world = new OutboundWorld();
  const courier = new HeldCourier();
  const { queue, wakeUps } = world.node('a', courier, ALONE);
  t.like(wakeUps.room(account(1)), { by: BY });
  const attemptId = randomUUID();
  const email = sending(world, account(1), attemptId);
  wakeUps.hold(account(1), email.outboundId, attemptId).begin(begunOf(email));
  await until(() => courier.tasks.length === 1);
  courier.tasks[0]!.settle(answer(courier.tasks[0]!));
  await until(() => email.status === 'Sent');
  t.deepEqual(world.asksOf('startDelivery'), []);
  t.is(world.asksOf('reportDelivery')[0]!.payload.attemptId, attemptId);
  await until(() => queue.standing.inFlight === 0);
  await queue.stop();
});

test('a look that finds it in the store before the answer to its commit has come does not take it for lost', async (t) => {
  const world = new OutboundWorld();
  const courier = new HeldCourier();
  const { queue, wakeUps } = world.node('a', courier, ALONE, { pollMs: 2 });
  const attemptId = randomUUID();
  const outboundId = randomUUID();
  const held = wakeUps.hold(account(1), outboundId, attemptId);
  const email = sending(world, account(1), attemptId);
  world.emails.delete(email.outboundId);
  const found = { ...email, outboundId };
  world.emails.set(outboundId, found);
  const before = world.reads;
  await until(() => world.reads > before + 12);
  t.deepEqual(world.asked, []);
  held.begin(begunOf(found));
  await until(() => courier.tasks.length === 1);
  courier.tasks[0]!.settle(answer(courier.tasks[0]!));
  await until(() => found.status === 'Sent');
  t.is(courier.tasks.length, 1);
  await queue.stop();
});

test('a place that is given back is free again; what was committed all the same is found and delivered', async (t) => {
  const world = new OutboundWorld();
  const courier = new HeldCourier();
  const { queue, wakeUps } = world.node('a', courier, ALONE, { limit: 1, pollMs: 2 });
  const attemptId = randomUUID();
  const outboundId = randomUUID();
  const held = wakeUps.hold(account(1), outboundId, attemptId);
  t.is(wakeUps.room(account(2))?.places, 0);
  held.release();
  await until(() => wakeUps.room(account(2))?.places === 1);
  t.deepEqual(world.asked, []);
  const lost = sending(world, account(1), attemptId);
  await until(() => courier.tasks.length === 1);
  t.is(world.asksOf('startDelivery')[0]!.payload.supersedes, attemptId);
  courier.tasks[0]!.settle(answer(courier.tasks[0]!));
  await until(() => lost.status === 'Sent');
  await queue.stop();
});

test('there is no room where another node delivers, and none on a node that stops, which waits for what it holds', async (t) => {
  const world = new OutboundWorld();
  const courier = new HeldCourier();
  const elsewhere = world.node('b', courier, () => viewOf({ a: ['mailbox', 'outbound'], b: ['outbound'] }, 'a'));
  t.is(elsewhere.wakeUps.room(account(1)), undefined);
  await elsewhere.queue.stop();

  const { queue, wakeUps } = world.node('a', courier, ALONE);
  const attemptId = randomUUID();
  const email = sending(world, account(1), attemptId);
  const held = wakeUps.hold(account(1), email.outboundId, attemptId);
  const stopped = queue.stop();
  t.is(wakeUps.room(account(1)), undefined);
  held.begin(begunOf(email));
  await until(() => courier.tasks.length === 1);
  courier.tasks[0]!.settle(answer(courier.tasks[0]!));
  await stopped;
  t.is(email.status, 'Sent');
});
