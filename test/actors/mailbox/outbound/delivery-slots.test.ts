// Tests deliveries that begin with the commit that queues their email, on a real store: the rows, the notifications, and slots
// that are released when the commit fails.
import { randomUUID } from 'node:crypto';
import type { StartedDelivery } from '../../../../src/actors/mailbox/outbound/delivery-slots.js';
import test from '../../../support/test.js';
import type { MailboxWorld } from '../mailbox-world.js';
import { addressee, enqueued, outcome, reported, sender, started, statusesLogged, stored } from '../outbound-world.js';

interface Slot {
  readonly outboundId: string;
  readonly attemptId: string;
  started?: StartedDelivery;
  isReleased?: true;
}

/** Returns a queue with this many slots, each of which is used once. */
function queueOf(world: MailboxWorld, slots: number) {
  const queue = { assigned: [] as Slot[], wanted: [] as number[], reserved: 0, free: slots };
  world.deliverySlots.port = {
    reserve(_, wanted) {
      queue.wanted.push(wanted);
      let count = Math.min(wanted, queue.free);
      queue.free -= count;
      queue.reserved += count;
      return {
        get count() {
          return count;
        },
        by: 'this-node',
        assign(outboundId, attemptId) {
          const slot: Slot = { outboundId, attemptId };
          queue.assigned.push(slot);
          count--;
          return {
            begin(started) {
              slot.started = started;
              queue.reserved--;
            },
            release() {
              slot.isReleased = true;
              count++;
            },
          };
        },
        release() {
          queue.free += count;
          queue.reserved -= count;
        },
      };
    },
  };
  return queue;
}

test('as many as there are slots for are Sending with the commit that queues them; the queue is notified of the others', async (t) => {
  const { world, accountId } = await sender(t);
  const queue = queueOf(world, 3);
  const queued = await Promise.all(
    Array.from({ length: 5 }, () => enqueued(world, accountId, ['a@one.test', 'b@two.test'])),
  );
  t.is(queue.assigned.length, 3);
  const begun = new Set(queue.assigned.map(({ outboundId }) => outboundId));
  const waiting = queued.map(({ id }) => id).filter((id) => !begun.has(id));
  t.deepEqual([...world.noted].sort(), waiting.sort());
  for (const { id, blob, createdAt } of queued) {
    const slot = queue.assigned.find(({ outboundId }) => outboundId === id);
    const [row] = await world.sql`
      select status, attempt_id, attempt_by, next_retry_at, (select array_agg(id::text order by position)
        from outbound_recipients r where r.outbound_id = o.id) as recipients from outbound o where id = ${id}`;
    const { recipients, ...state } = row!;
    if (slot === undefined) {
      t.like(state, { status: 'Queued', attempt_id: null, attempt_by: null });
      t.is((await started(world, accountId, id)).refusal, undefined);
      continue;
    }
    t.deepEqual(
      { ...state },
      { status: 'Sending', attempt_id: slot.attemptId, attempt_by: 'this-node', next_retry_at: null },
    );
    t.like(slot.started, { blob, sender: 'me@example.test', createdAt, retryCount: 0 });
    t.deepEqual(slot.started?.recipients, [
      { id: recipients[0], address: 'a@one.test', domain: 'one.test' },
      { id: recipients[1], address: 'b@two.test', domain: 'two.test' },
    ]);
    t.is((await started(world, accountId, id)).refusal, 'notDue', 'nobody else begins it');
    const outcomes = slot.started!.recipients.map(({ id: recipientId }) => outcome(recipientId, 'delivered'));
    t.is((await reported(world, accountId, id, slot.attemptId, outcomes)).reply?.status, 'Sent');
  }
  const [first] = queue.assigned;
  t.is(queue.reserved, 0);
  const statuses = await statusesLogged(world, accountId);
  t.deepEqual(
    statuses.filter(({ outboundId }) => outboundId === first!.outboundId),
    ['Queued', 'Sending', 'Sent'].map((status) => ({ outboundId: first!.outboundId, status })),
  );
});

test('slots are released when the commit fails, and the email is not delivered', async (t) => {
  const { world, accountId } = await sender(t);
  const queue = queueOf(world, 10);
  await enqueued(world, accountId, ['a@one.test']);
  await world.sql`alter table outbound add constraint none check (created_at < '-infinity') not valid`;
  await t.throwsAsync(enqueued(world, accountId, ['a@one.test']));
  await world.sql`alter table outbound drop constraint none`;
  t.deepEqual(
    queue.assigned.map(({ started: begun, isReleased }) => [begun !== undefined, isReleased]),
    [
      [true, undefined],
      [false, true],
    ],
  );
  t.is((await world.sql`select from outbound`).length, 1);
  await enqueued(world, accountId, ['a@one.test']);
  t.not(queue.assigned[2]?.started, undefined);
  t.is(queue.reserved, 0);
  t.is(queue.free, 8);
});

test('what a node that died had begun is taken over', async (t) => {
  const { world, accountId } = await sender(t);
  const queue = queueOf(world, 1);
  const { id } = await enqueued(world, accountId, ['a@one.test']);
  world.reload();
  const [{ attemptId } = { attemptId: randomUUID() }] = queue.assigned;
  const taken = await started(world, accountId, id, attemptId);
  t.is(taken.reply?.recipients.length, 1);
  t.is((await reported(world, accountId, id, attemptId, [])).refusal, 'notUnderWay');
});

test('slots of emails that are refused, or have no recipient elsewhere, are released', async (t) => {
  const { world, accountId } = await sender(t);
  const queue = queueOf(world, 10);
  const { blob, summary } = await stored(world);
  const payload = { sender: 'me@example.test', blob, summary, content: null, recipients: [addressee('a@one.test')] };
  const draft = { id: randomUUID(), updatedAt: 0 };
  const { refusal } = await world.mailboxes.of(accountId).ask('enqueue', { ...payload, draft });
  t.is(refusal, 'noSuchOutbound');
  world.inside.hosted = async ({ recipients }) => ({
    outcomes: recipients.map(({ id }) => {
      return {
        kind: 'delivered',
        recipientId: id,
        text: 'ok',
        statusCode: '2.1.5',
        host: 'here',
        localAccountIds: [accountId],
      };
    }),
    attempts: [],
  });
  await world.mailboxes.of(accountId).ask('enqueue', { ...payload, draft: null });
  t.deepEqual(queue.wanted, [1, 1]);
  t.deepEqual(queue.assigned, []);
  t.is(queue.reserved, 0);
  t.is(queue.free, 10);
});

test('when the commit is repeated, the email has the same slot in the second one', async (t) => {
  const { world, accountId } = await sender(t);
  const queue = queueOf(world, 1);
  const [mail] = await world.spool([accountId], 1);
  // An earlier owner has delivered it: the commit learns this from the missing row.
  await world.sql`delete from inbound`;
  const { blob, summary } = await stored(world);
  const payload = { draft: null, sender: 'me@example.test', blob, summary, content: null };
  // Both share a batch, because they wait until the mailbox is loaded.
  const [delivered, enqueuedOne] = await Promise.all([
    mail!.deliver(),
    world.mailboxes.of(accountId).ask('enqueue', { ...payload, recipients: [addressee('a@one.test')] }),
  ]);
  t.is(delivered.reply?.emailId, null);
  const [repeated, used] = queue.assigned;
  t.true(repeated?.isReleased);
  t.is(used?.outboundId, enqueuedOne.reply?.id);
  t.not(used?.started, undefined);
  t.deepEqual(queue.wanted, [1]);
  t.is(queue.reserved, 0);
});
