// Tests positions of queued emails: the position of a due email counts those on the shards of the delivering node that were due
// before it; the node knows that of an email that is being sent.

import { clock } from '../../../../src/store/clock.js';
import test from '../../../support/test.js';
import { mailboxWorld } from '../mailbox-world.js';
import { enqueued, outcome, reported, started, stored } from '../outbound-world.js';

test('emails that are due stand behind those that have been due for longer, of all accounts of the shards', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: me } = await world.directory.createAccount('me@example.test', 'Me');
  const { id: other } = await world.directory.createAccount('other@example.test', 'Other');
  const mailbox = world.mailboxes.of(me);
  const positions = async () => (await mailbox.ask('queuePositions', {})).reply!;
  t.deepEqual(await positions(), { positions: [], againInMs: null });

  const { blob, summary } = await stored(world);
  const queued = { draft: null, sender: 'me@example.test', blob, summary, content: null, recipients: [] };
  await mailbox.ask('holdOutbound', { ...queued, heldUntil: clock.now() + 3_600_000 });
  t.deepEqual(await positions(), { positions: [], againInMs: null }, 'a held email waits for nobody');

  const emails = [];
  for (const accountId of [other, me, other, me]) emails.push(await enqueued(world, accountId, ['a@there.test']));
  const [first, second, , fourth] = emails.map(({ id }) => id);
  await world.sql`update outbound set next_retry_at = now() - interval '1 minute' where id = ${first!}`;
  const at = (outboundId: string | undefined, ahead: number) => ({ outboundId, ahead, domain: null });
  t.deepEqual(await positions(), { positions: [at(second, 1), at(fourth, 3)], againInMs: 1_000 });
  world.inside.queue = { shards: [7], waiting: new Map() };
  t.deepEqual((await positions()).positions, [at(second, 0), at(fourth, 0)], 'other shards are of other nodes');
  world.inside.queue = { shards: [0], waiting: new Map() };

  const delivery = await started(world, me, second!);
  t.deepEqual((await positions()).positions, [at(fourth, 2)]);
  world.inside.queue = { shards: [0], waiting: new Map([[second!, { domain: 'there.test', ahead: 5 }]]) };
  const waiting = { outboundId: second, ahead: 5, domain: 'there.test' };
  t.deepEqual(await positions(), { positions: [waiting, at(fourth, 2)], againInMs: 1_000 });
  world.inside.queue = { shards: [0], waiting: new Map() };
  const own = await started(world, me, fourth!);
  t.deepEqual(await positions(), { positions: [], againInMs: 1_000 }, 'what is being sent may come to wait');
  for (const [id, { attemptId, reply }, kind] of [
    [second!, delivery, 'delivered'],
    [fourth!, own, 'temporary'],
  ] as const) {
    await reported(world, me, id, attemptId, [outcome(reply!.recipients[0]!.id, kind)]);
  }
  const { positions: none, againInMs } = await positions();
  t.deepEqual(none, []);
  t.true(againInMs! > 1_000 && againInMs! <= 66_000, 'not before the retry');
});
