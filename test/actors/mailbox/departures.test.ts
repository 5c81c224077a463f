// Deliveries that begin with the commit that queues their email, on a real store: what is stored, who is told, and that no
// place stays taken when the commit fails.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { Begun } from '../../../src/actors/mailbox/outbound/delivery-slots.js';
import { type MailboxWorld, mailboxWorld } from './mailbox-world.js';
import { enqueued, outcome, reported, started, statusesLogged } from './outbound-world.js';

interface Held {
  readonly outboundId: string;
  readonly attemptId: string;
  begun?: Begun;
  released?: true;
}

/** A queue with so many places, which it never gets back. */
function queueOf(world: MailboxWorld, places: number): Held[] {
  const held: Held[] = [];
  world.departures.port = {
    room: () => ({ places: places - held.length, by: 'this-node' }),
    hold(_, outboundId, attemptId) {
      const place: Held = { outboundId, attemptId };
      held.push(place);
      return {
        begin: (begun) => void Object.assign(place, { begun }),
        release: () => void Object.assign(place, { released: true }),
      };
    },
  };
  return held;
}

test('as many as there is room for are Sending with the commit that queues them; of the others somebody is told', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const held = queueOf(world, 3);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const queued = await Promise.all(
    Array.from({ length: 5 }, () => enqueued(world, accountId, ['a@one.test', 'b@two.test'])),
  );
  t.is(held.length, 3);
  const begun = new Set(held.map(({ outboundId }) => outboundId));
  const waiting = queued.map(({ id }) => id).filter((id) => !begun.has(id));
  t.deepEqual([...world.noted].sort(), waiting.sort());
  for (const { id, blob, createdAt } of queued) {
    const place = held.find(({ outboundId }) => outboundId === id);
    const [row] = await world.sql`
      select status, attempt_id, attempt_by, next_retry_at, (select array_agg(id::text order by position)
        from outbound_recipients r where r.outbound_id = o.id) as recipients from outbound o where id = ${id}`;
    const { recipients, ...state } = row!;
    if (place === undefined) {
      t.like(state, { status: 'Queued', attempt_id: null, attempt_by: null });
      t.is((await started(world, accountId, id)).refusal, undefined);
      continue;
    }
    t.deepEqual(
      { ...state },
      { status: 'Sending', attempt_id: place.attemptId, attempt_by: 'this-node', next_retry_at: null },
    );
    t.like(place.begun, { blob, sender: 'me@example.test', createdAt, retryCount: 0 });
    t.deepEqual(place.begun?.recipients, [
      { id: recipients[0], address: 'a@one.test', domain: 'one.test' },
      { id: recipients[1], address: 'b@two.test', domain: 'two.test' },
    ]);
    t.is((await started(world, accountId, id)).refusal, 'notDue', 'nobody else begins it');
    const outcomes = place.begun!.recipients.map(({ id: recipientId }) => outcome(recipientId, 'delivered'));
    t.is((await reported(world, accountId, id, place.attemptId, outcomes)).reply?.status, 'Sent');
  }
  const [first] = held;
  const statuses = await statusesLogged(world, accountId);
  t.deepEqual(
    statuses.filter(({ outboundId }) => outboundId === first!.outboundId),
    ['Queued', 'Sending', 'Sent'].map((status) => ({ outboundId: first!.outboundId, status })),
  );
});

test('a place is given back when the commit fails, and the email is not delivered', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const held = queueOf(world, 10);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  await enqueued(world, accountId, ['a@one.test']);
  await world.sql`alter table outbound add constraint none check (created_at < '-infinity') not valid`;
  await t.throwsAsync(enqueued(world, accountId, ['a@one.test']));
  await world.sql`alter table outbound drop constraint none`;
  t.deepEqual(
    held.map(({ begun, released }) => [begun !== undefined, released]),
    [
      [true, undefined],
      [false, true],
    ],
  );
  t.is((await world.sql`select from outbound`).length, 1);
  await enqueued(world, accountId, ['a@one.test']);
  t.not(held[2]?.begun, undefined);
});

test('what a node that died had begun is taken over', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const held = queueOf(world, 1);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const { id } = await enqueued(world, accountId, ['a@one.test']);
  world.reload();
  const [{ attemptId } = { attemptId: randomUUID() }] = held;
  const taken = await started(world, accountId, id, attemptId);
  t.is(taken.reply?.recipients.length, 1);
  t.is((await reported(world, accountId, id, attemptId, [])).refusal, 'notUnderWay');
});
