// Tests that outbound emails expire some days after their last change, by commands of their mailboxes.

import { expireOutbound } from '../../../src/node/engine/outbound-expiry.js';
import { clock } from '../../../src/store/clock.js';
import { postgresOutbound } from '../../../src/store/postgres/outbound/outbound.js';
import { checkRows, mailboxWorld } from '../../actors/mailbox/mailbox-world.js';
import {
  addressee,
  draftOf,
  enqueued,
  logged,
  outcome,
  reported,
  started,
  stored,
} from '../../actors/mailbox/outbound-world.js';
import test from '../../support/test.js';

const DAY = 24 * 3_600_000;

test('what is sent or failed goes with its content, and nothing else; the copy in Sent stays', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { sql, mailboxes } = world;
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = mailboxes.of(accountId);
  const sent = async () => {
    const email = await enqueued(world, accountId, ['a@one.test']);
    const { attemptId, reply } = await started(world, accountId, email.id);
    await reported(world, accountId, email.id, attemptId, [outcome(reply!.recipients[0]!.id, 'delivered')]);
    return email;
  };
  const old = await sent();
  const recent = await sent();
  const waiting = await enqueued(world, accountId, ['a@one.test']);
  const failed = await enqueued(world, accountId, ['a@one.test']);
  await mailbox.ask('cancelOutbound', { outboundId: failed.id });
  const owing = await enqueued(world, accountId, ['a@one.test']);
  const owed = await started(world, accountId, owing.id);
  await reported(world, accountId, owing.id, owed.attemptId, [outcome(owed.reply!.recipients[0]!.id, 'permanent')]);
  const draft = (await mailbox.ask('createDraft', { draft: await draftOf(world, 'Draft') })).reply!.id;
  const counts = async () =>
    Promise.all(
      (['Sent', 'Failed', 'Queued', 'Draft'] as const).map(
        async (status) =>
          (await mailbox.ask('outboundPage', { statuses: [status], page: 1, pageSize: 9 })).reply!.totalCount,
      ),
    );
  t.deepEqual(await counts(), [2, 2, 1, 1]);
  const longAgo = new Date(clock.now() - 91 * DAY);
  await sql`update outbound set updated_at = ${longAgo} where id <> ${recent.id}`;
  world.reload();
  t.deepEqual(await counts(), [2, 2, 1, 1]);
  const outbound = postgresOutbound(sql);
  let asked = 0;
  const pass = (keepDays: number, isStopped = () => false) =>
    expireOutbound({ outbound, mailboxes, isStopped }, keepDays, clock.now());
  t.is(await pass(0), 0, '0 keeps all');
  t.is(await pass(92), 0);
  t.is(await pass(90, () => ++asked > 1), 1, 'a node that stops goes on with nothing');
  t.is(await pass(90), 1);
  t.is(await pass(90), 0);
  t.deepEqual(await counts(), [1, 1, 1, 1]);
  for (const { id } of [old, failed])
    t.is((await mailbox.ask('outbound', { outboundId: id })).refusal, 'noSuchOutbound');
  for (const id of [recent.id, waiting.id, owing.id, draft])
    t.is((await mailbox.ask('outbound', { outboundId: id })).refusal, undefined);
  t.is((await mailbox.ask('detail', { emailId: old.sentEmailId })).reply?.id, old.sentEmailId);
  for (const table of ['outbound_recipients', 'outbound_contents', 'outbound_attempts'])
    t.is((await sql`select from ${sql(table)} where outbound_id in (${old.id}, ${failed.id})`).length, 0, table);
  t.deepEqual(await logged(world, accountId, 'OutboundRemoved'), [
    ['OutboundRemoved', { outboundId: old.id, isFinal: true }],
    ['OutboundRemoved', { outboundId: failed.id, isFinal: true }],
  ]);
  await checkRows(world, t, accountId);
});

test('a sender deletes what is sent or failed, with a report that is due; not a draft, nor what is under way', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  const mailbox = world.mailboxes.of(accountId);
  const remove = async (outboundId: string) => {
    const { reply, refusal } = await mailbox.ask('removeOutbound', { outboundId });
    return refusal ?? reply?.isRemoved;
  };
  const { id } = await enqueued(world, accountId, ['a@one.test']);
  t.is(await remove(id), 'outboundUnderWay');
  const { attemptId, reply } = await started(world, accountId, id);
  t.is(await remove(id), 'outboundUnderWay');
  await reported(world, accountId, id, attemptId, [outcome(reply!.recipients[0]!.id, 'permanent')]);
  t.is(await remove(id), true);
  t.is(await remove(id), 'noSuchOutbound');
  t.is((await mailbox.ask('dsnMaterial', { outboundId: id })).refusal, 'noSuchOutbound');
  const held = { draft: null, sender: 'me@example.test', content: null, recipients: [addressee('a@one.test')] };
  const later = await mailbox.ask('holdOutbound', { ...held, ...(await stored(world)), heldUntil: clock.now() + DAY });
  t.is(await remove(later.reply!.id), 'outboundUnderWay');
  await mailbox.ask('cancelOutbound', { outboundId: later.reply!.id });
  t.is(await remove(later.reply!.id), 'noSuchOutbound', 'a draft');
  t.is(await remove('x'), 'noSuchOutbound');
});

test('the last use of a key that is deleted stays with its account', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { directory, sql } = world;
  const { id: accountId } = await directory.createAccount('me@example.test', 'Me');
  const used = new Date('2026-01-02T03:04:05Z');
  await sql`insert into api_keys (id, account_id, name, prefix, hash, scopes, created_at, last_used_at, revoked_at)
    select gen_random_uuid(), ${accountId}, n, n, n, '{app}', ${used}, ${used}, at
    from (values ('long ago', now() - interval '31 days'), ('lately', now() - interval '29 days'), ('active', null)) k (n, at)`;
  t.is(await directory.dropRevokedKeys(30 * DAY), 1);
  t.is(await directory.dropRevokedKeys(30 * DAY), 0);
  const left = await sql`select name from api_keys order by name`;
  t.deepEqual(
    left.map(({ name }) => name),
    ['active', 'lately'],
  );
  const [account] = await sql`select last_login_at as at from accounts where id = ${accountId}`;
  t.deepEqual(account!['at'], used);
});
