// Tests limits of unclaimed mail on a real store: bytes per domain and in total, and what postmaster and abuse keep. Mailboxes are
// replaced by a function that answers `acceptance`.
import type { ExecutionContext } from 'ava';
import { UnclaimedMailboxes } from '../../../src/actors/directory/unclaimed-mailboxes.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { migratedSql } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

const MIB = 1024 * 1024;

async function start(t: ExecutionContext, total = 0) {
  const sql = await migratedSql(t, { max: 3 });
  const store = postgresDirectory(sql, 16);
  const expired: { accountId: string; receivedBefore: number }[] = [];
  const mailboxes = {
    of: (accountId: string) => ({
      async ask(operation: string, payload: { receivedBefore: number }) {
        if (operation === 'expire') expired.push({ accountId, ...payload });
        return { reply: { isUnclaimed: true, total } };
      },
    }),
  } as unknown as Mailboxes;
  const clock = { now: 0 };
  const unclaimed = new UnclaimedMailboxes(store, mailboxes, () => clock.now);
  /** Adds emails to an unclaimed address, one of each size, a second apart. */
  const fill = async (owner: string, sizes: readonly number[]) => {
    const result = await store.openUnclaimed(owner, 10_000);
    const accountId = result.kind === 'opened' ? result.accountId : t.fail();
    await sql`
      insert into emails (account_id, id, blob, thread_id, refs, from_address, from_name, subject, preview, received_at,
        size, has_attachments, attachment_count, flags, modseq)
      select ${accountId as string}, gen_random_uuid(), '\\x00', gen_random_uuid(), '{}', '', '', '', '',
        to_timestamp(n), size, false, 0, 0, 1
      from unnest(${sizes as number[]}::bigint[]) with ordinality x (size, n)`;
    return accountId as string;
  };
  return { store, unclaimed, clock, fill, expired };
}

test('unclaimed mail of a domain has a bound in octets, what was accepted since the last count included', async (t) => {
  const { unclaimed, fill, clock } = await start(t);
  await fill('big@example.test', [255 * MIB]);
  t.true(await unclaimed.hasRoom('new@example.test', []));
  t.is((await unclaimed.open(['new@example.test'], MIB, []))?.size, 1);
  t.false(await unclaimed.hasRoom('other@example.test', []));
  t.is(await unclaimed.open(['other@example.test'], 1, []), undefined);
  const owner = { accountId: 'any', isUnclaimed: true };
  t.is(await unclaimed.acceptance('new@example.test', owner), 'full', 'an unclaimed mailbox takes no more either');
  t.is(await unclaimed.open([], 1, ['new@example.test']), undefined);
  t.true(await unclaimed.hasRoom('new@other.test', []));
  // That message is not in the store, so the next count does not include it.
  clock.now = 10_000;
  t.true(await unclaimed.hasRoom('other@example.test', []));
  t.is((await unclaimed.open([], MIB, ['new@example.test']))?.size, 0);
  t.false(await unclaimed.hasRoom('other@example.test', []));
});

test('unclaimed mail of all domains has a bound, and small messages count for their rows', async (t) => {
  const { unclaimed, fill, store } = await start(t);
  for (const domain of ['a', 'b', 'c']) await fill(`x@${domain}.test`, [255 * MIB]);
  await fill('x@d.test', [200 * MIB, ...Array.from({ length: 14_000 }, () => 1)]);
  await fill('postmaster@e.test', [500 * MIB]);
  const use = await store.unclaimedUsage(['postmaster', 'abuse']);
  t.deepEqual([...use.keys()].sort(), ['a.test', 'b.test', 'c.test', 'd.test', 'e.test']);
  t.deepEqual(use.get('d.test'), { addresses: 1, octets: 200 * MIB + 14_000 * 4096 });
  t.deepEqual(use.get('e.test'), { addresses: 1, octets: 0 });
  t.true(await unclaimed.hasRoom('new@f.test', []));
  t.is((await unclaimed.open(['new@f.test'], 5 * MIB, []))?.size, 1);
  t.false(await unclaimed.hasRoom('new@f.test', []));
  t.false(await unclaimed.hasRoom('new@a.test', []));
});

test('postmaster and abuse are accepted when nothing else is, and their oldest mail goes', async (t) => {
  const { unclaimed, fill, expired } = await start(t, 5_000);
  await fill('big@example.test', [300 * MIB]);
  const roles = ['postmaster@example.test', 'abuse@example.test'];
  for (const role of roles) t.true(await unclaimed.hasRoom(role, []));
  t.false(await unclaimed.hasRoom('new@example.test', roles));
  t.deepEqual([...(await unclaimed.open(roles, MIB, []))!.keys()], roles);
  t.deepEqual(expired, []);
  t.is(await unclaimed.acceptance(roles[0]!, { accountId: 'any', isUnclaimed: true }), 'open');
  // The newest 1,000 of 1,001 emails are kept, and the newest 64 MiB of 70.
  const many = await fill(
    roles[0]!,
    Array.from({ length: 1_001 }, () => 1),
  );
  const large = await fill(roles[1]!, [10 * MIB, 30 * MIB, 30 * MIB]);
  t.is((await unclaimed.open([], MIB, roles))?.size, 0);
  t.deepEqual(expired, [
    { accountId: many, receivedBefore: 1_001 },
    { accountId: large, receivedBefore: 1_001 },
  ]);
  // A message larger than the limit is kept while it is the newest one; the next one removes it.
  t.is((await unclaimed.open(['postmaster@other.test'], 100 * MIB, []))?.size, 1);
});
