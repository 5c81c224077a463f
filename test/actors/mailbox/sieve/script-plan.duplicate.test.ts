// Tests the `duplicate` test of scripts (RFC 7352) in the mailbox: what is tracked is in the commit of the delivery, ends in its time, and is
// bounded for an account.
import test from '../../../support/test.js';
import { checkRows } from '../mailbox-world.js';
import { sender } from '../outbound-world.js';

type T = Parameters<typeof sender>[0];

async function start(t: T, script: string) {
  const { world, accountId, mailbox } = await sender(t);
  await mailbox.ask('putSieveScript', { name: 'main', content: script, isActive: true });
  const deliver = async (subject: string) => {
    const [spooled] = await world.spool([accountId], Date.now(), { subject });
    return (await spooled!.deliver({ sender: 'ann@far.test', recipient: 'me@example.test' })).reply!.emailId !== null;
  };
  const keys = async () =>
    world.sql<{ key: string; seconds: number }[]>`
      select key, round(extract(epoch from until - now()))::int as seconds from sieve_tracked_keys
      where account_id = ${accountId} order by until, key`;
  return { world, accountId, mailbox, deliver, keys };
}

test('mail with a key that was seen is a duplicate, also for the next owner of the mailbox, until its time ends', async (t) => {
  const { world, accountId, deliver, keys } = await start(
    t,
    `require ["duplicate", "variables"];
    if header :matches "subject" "*" { set "subject" "\${1}"; }
    if duplicate :seconds 600 :uniqueid "\${subject}" { discard; }`,
  );
  t.true(await deliver('one'));
  t.false(await deliver('one'));
  t.true(await deliver('two'));
  const tracked = await keys();
  t.is(tracked.length, 2);
  t.true(tracked.every(({ seconds }) => seconds > 500 && seconds <= 600));
  world.reload();
  t.false(await deliver('one'));
  t.false(await deliver('two'));
  t.is((await keys()).length, 2, 'a duplicate does not prolong the time');
  await checkRows(world, t, accountId);
  await world.sql`update sieve_tracked_keys set until = now() - interval '1 second' where account_id = ${accountId}`;
  world.reload();
  t.true(await deliver('one'));
  t.is((await keys()).length, 1, 'keys that have ended leave');
});

test('a run that fails tracks nothing, and handles keep keys apart', async (t) => {
  const { deliver, keys } = await start(
    t,
    `require ["duplicate", "include", "variables"];
    if header :matches "subject" "*" { set "subject" "\${1}"; }
    if string "\${subject}" "fault" { if duplicate :uniqueid "x" { discard; } include "missing"; }
    if duplicate :handle "\${subject}" :uniqueid "x" { discard; }`,
  );
  t.true(await deliver('fault'));
  t.is((await keys()).length, 0);
  t.true(await deliver('one'));
  t.true(await deliver('two'));
  t.false(await deliver('two'));
  t.is((await keys()).length, 2);
});

test('an account has 5,000 keys: the one that ends first leaves', async (t) => {
  const { world, accountId, deliver, keys } = await start(t, 'require "duplicate"; if duplicate { discard; }');
  await world.sql`
    insert into sieve_tracked_keys (account_id, key, until)
    select ${accountId}, 'key ' || i, now() + make_interval(secs => 60 + i) from generate_series(1, 5000) i`;
  world.reload();
  t.true(await deliver('one'));
  const tracked = await keys();
  t.is(tracked.length, 5_000);
  t.is(tracked[0]!.key, 'key 2');
  await checkRows(world, t, accountId);
});
