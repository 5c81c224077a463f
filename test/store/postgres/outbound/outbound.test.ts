// Tests outbound mail in PostgreSQL: the queue of all accounts, and what remains of removed emails. The mailbox store's part is in
// contracts/outbound.ts.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { ChangeContent } from '../../../../src/store/changes/changes.js';
import type { OutboundRow, OutboundStatus } from '../../../../src/store/outbound.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { postgresSending } from '../../../../src/store/postgres/accounts/sending.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../../../src/store/postgres/leases.js';
import { postgresMailboxes } from '../../../../src/store/postgres/mailbox/mailboxes.js';
import { postgresOutbound } from '../../../../src/store/postgres/outbound/outbound.js';
import { postgresStsMaintenance } from '../../../../src/store/postgres/outbound/sts-maintenance.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import { outboundRecords } from '../../../support/mailbox-change.js';
import test from '../../../support/test.js';
import { BLOB, outboundEmail as email, T0, Writer } from '../../contracts/writer.js';

const SHARDS = 4;
const MINUTE = 60_000;

async function world(t: ExecutionContext) {
  const database = await migratedDatabase(t);
  const sql = connect(database.address, { max: 4, applicationName: 'test' });
  const writerSql = connect(database.address, { max: 2, applicationName: 'test', byKey: true });
  t.teardown(() => Promise.all([sql.end(), writerSql.end()]));
  const mailboxes = postgresMailboxes(sql, writerSql);
  const directory = postgresDirectory(sql, SHARDS);
  let number = 0;

  async function account() {
    const { id } = await directory.createAccount(`a${++number}@example.test`, 'A');
    const [row] = await sql<[{ shard: number }]>`select shard from accounts where id = ${id}`;
    await mailboxes.claim(id, 1);
    const writer = new Writer({ mailboxes }, id, []);
    const commit = (contents: readonly ChangeContent[]) => writer.commit(contents);
    const put = (...rows: readonly OutboundRow[]) => commit(rows.flatMap((row) => change(row)));
    return { id, shard: row.shard, commit, put };
  }
  return { address: database.address, sql, mailboxes, outbound: postgresOutbound(sql), account };
}

function change(row: OutboundRow, before: OutboundStatus | null = null): ChangeContent[] {
  return outboundRecords(row, before, 'all', { textBody: 'text', htmlBody: null });
}

function removal(outboundId: string): ChangeContent[] {
  return [{ type: 'OutboundRemoved', payload: { outboundId } }];
}

const all = Array.from({ length: SHARDS }, (_, shard) => shard);
const ids = (rows: readonly { readonly outboundId: string }[]) => rows.map(({ outboundId }) => outboundId);

test('what is due is found by its shard, longest due first; what is not due, in hand or left out is not', async (t) => {
  const { outbound, account } = await world(t);
  const accounts = await Promise.all(Array.from({ length: 8 }, account));
  const due: { id: string; shard: number; at: number }[] = [];
  for (const [i, { put, shard }] of accounts.entries()) {
    const at = T0 - ((i * 7) % 8) * MINUTE;
    const row = email({ nextRetryAt: at });
    due.push({ id: row.id, shard, at });
    await put(
      row,
      email({ nextRetryAt: Date.now() + 10 * MINUTE }),
      email({ status: 'Sending', nextRetryAt: null, attempt: { id: randomUUID(), by: 'n' } }),
      email({ status: 'Sent', nextRetryAt: null }),
      email({ status: 'Failed', nextRetryAt: null }),
    );
  }
  due.sort((a, b) => a.at - b.at);
  const inOrder = due.map(({ id }) => id);
  const found = await outbound.due(all, 100, [], []);
  t.deepEqual(ids(found), inOrder);
  t.true(found.every(({ interrupted }) => interrupted === null));
  t.deepEqual(ids(await outbound.due(all, 3, [], [])), inOrder.slice(0, 3));
  t.deepEqual(ids(await outbound.due(all, 100, inOrder.slice(0, 2), [])), inOrder.slice(2));
  for (const shard of all) {
    const own = due.filter((row) => row.shard === shard).map(({ id }) => id);
    t.deepEqual(ids(await outbound.due([shard], 100, [], [])), own);
  }
  t.deepEqual(await outbound.due([], 100, [], []), []);
  const { put, shard } = accounts[0]!;
  const late = Array.from({ length: 30 }, (_, i) => email({ nextRetryAt: T0 - (i % 2 === 0 ? 60 - i : -i) * MINUTE }));
  await put(...late);
  const everything = [...due, ...late.map(({ id, nextRetryAt }) => ({ id, shard, at: nextRetryAt! }))];
  const sorted = everything.toSorted((a, b) => a.at - b.at);
  for (const limit of [1, 5, 12, 20, 100]) {
    const times = new Map(everything.map(({ id, at }) => [id, at]));
    const got = ids(await outbound.due(all, limit, [], []));
    t.deepEqual(
      got.map((id) => times.get(id)),
      sorted.slice(0, limit).map(({ at }) => at),
    );
    t.is(new Set(got).size, got.length);
  }
  const overdue = await outbound.overdueMs(all);
  t.true(Math.abs(Date.now() - sorted[0]!.at - overdue) < 10_000);
  t.is(await outbound.overdueMs([]), 0);
});

test('deliveries of nodes that are no more are found, and those that this node has lost', async (t) => {
  const { sql, outbound, account } = await world(t);
  const { put } = await account();
  const leases = postgresLeases(sql);
  const node = (name: string) => ({
    id: name,
    incarnation: `${name}-1`,
    version: '1',
    roles: [],
    bus: 'nats' as const,
  });
  await leases.join(node('live'), 60_000);
  await leases.join(node('me'), 60_000);
  await leases.join(node('late'), 60_000);
  await sql`update nodes set expires_at = now() where id = 'late'`;
  const by = (name: string) => email({ status: 'Sending', nextRetryAt: null, attempt: { id: randomUUID(), by: name } });
  const [live, late, gone, before, inHand, lost] = [
    by('live-1'),
    by('late-1'),
    by('gone-1'),
    by('me-0'),
    by('me-1'),
    by('me-1'),
  ];
  await put(live, inHand, lost);
  t.false(await outbound.isStranded(all));
  await put(late, gone, before);
  t.true(await outbound.isStranded(all));
  t.false(await outbound.isStranded([]));
  const found = await outbound.interrupted(all, 'me-1', 100, [inHand.id]);
  t.deepEqual(
    found.map(({ outboundId, interrupted }) => `${outboundId} ${interrupted}`).sort(),
    [late, gone, before, lost].map((row) => `${row.id} ${row.attempt!.id}`).sort(),
  );
  t.is((await outbound.interrupted(all, 'me-1', 2, [])).length, 2);
  t.deepEqual(await outbound.interrupted([], 'me-1', 100, []), []);
});

test('what a suspended account has queued is not read by a look at the queue, and is due again when the account is resumed', async (t) => {
  const { sql, outbound, account } = await world(t);
  const [suspended, other] = [await account(), await account()];
  const sending = postgresSending(sql);
  const queued = Array.from({ length: 400 }, (_, i) => email({ nextRetryAt: T0 - i * MINUTE }));
  const report = email({
    status: 'Sending',
    nextRetryAt: null,
    attempt: { id: randomUUID(), by: 'gone' },
    dsnDue: 'delayed',
  });
  const due = email({ nextRetryAt: T0 });
  await suspended.put(...queued, report);
  await other.put(due);
  t.true(await sending.suspend(suspended.id, { by: 'operator', reason: 'unpaid' }));
  // A failed email that is retried, and what the server writes for the account.
  await suspended.put(email({ nextRetryAt: T0 }));
  const candidates = async () => {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count from outbound where status = 'Queued' and shard = any(${all}::int[])`;
    return row.count;
  };
  t.is(await candidates(), 1, 'the range of the index has what others send alone');
  t.deepEqual(ids(await outbound.due(all, 500, [], [])), [due.id]);
  t.deepEqual(await outbound.interrupted(all, 'me', 10, []), []);
  t.deepEqual(ids(await outbound.dsnsDue(all, 10, [], [])), [report.id], 'the sender is told meanwhile');
  t.deepEqual(ids(await outbound.dsnsDue([suspended.shard], 10, [], [])), [report.id]);

  t.true(await sending.suspend(suspended.id, { by: 'operator', reason: null }));
  t.is((await sending.accounts([suspended.id]))[0]!.suspension?.reason, 'unpaid');
  t.false(await sending.resume(suspended.id, 'server'));
  t.is(await candidates(), 1, 'who may not resume unparks nothing');
  t.true(await sending.resume(suspended.id));
  t.is((await outbound.due(all, 500, [], [])).length, 402);
  t.is(await candidates(), 402);
  t.is((await outbound.interrupted(all, 'me', 10, [])).length, 1);
  t.true(await sending.suspend(suspended.id, { by: 'operator', reason: null }));
  t.is((await sending.accounts([suspended.id]))[0]!.suspension?.reason, '');
});

test('reports that are due, what operators ask, and what they see', async (t) => {
  const { outbound, account, mailboxes } = await world(t);
  const { id: accountId, put, commit } = await account();
  const failed = email({ status: 'Failed', nextRetryAt: null, dsnDue: 'failed', createdAt: T0 + 3 });
  const late = email({ dsnDue: 'delayed', dsnAt: T0, createdAt: T0 + 2 });
  const later = { dsnDue: 'failed', dsnAt: Date.now() + 3_600_000, createdAt: T0 } as const;
  const draft = email({ status: 'Draft', machine: null, createdAt: T0 + 1, nextRetryAt: null });
  const waiting = email(later);
  await put(failed, late, draft, waiting);
  t.deepEqual(ids(await outbound.dsnsDue(all, 10, [], [])).sort(), [failed.id, late.id].sort());
  t.deepEqual(ids(await outbound.dsnsDue(all, 10, [late.id], [])), [failed.id]);
  t.deepEqual(await outbound.dsnsDue(all, 10, [], [accountId]), []);
  t.deepEqual(
    (await outbound.list(undefined, 10)).map(({ id }) => id),
    [failed.id, late.id, waiting.id],
  );
  t.deepEqual(
    (await outbound.list('Draft', 10)).map(({ id }) => id),
    [draft.id],
  );
  t.is((await outbound.list(undefined, 1)).length, 1);
  const { machine: _, ...shown } = failed;
  t.deepEqual(await outbound.find(failed.id), { ...shown, accountId, accountEmail: 'a1@example.test' });
  t.is(await outbound.find(randomUUID()), undefined);

  const asked = { accountId, outboundId: failed.id };
  await outbound.request({ ...asked, action: 'retry' });
  await outbound.request({ ...asked, action: 'cancel' });
  t.deepEqual(await outbound.requests(all, 10), [{ ...asked, action: 'cancel' }]);
  t.true(await outbound.isRequested(asked));
  await outbound.settleRequest({ ...asked, action: 'retry' });
  t.true(await outbound.isRequested(asked), 'another was asked since');
  await outbound.settleRequest({ ...asked, action: 'cancel' });
  t.deepEqual(await outbound.requests(all, 10), []);
  await outbound.request({ accountId, outboundId: randomUUID(), action: 'retry' });
  t.deepEqual(await outbound.requests(all, 10), []);
  await commit(removal(draft.id));
  const { counts } = await mailboxes.outboundCounts(accountId, ['Draft', 'Queued', 'Failed']);
  t.deepEqual(
    [...counts],
    [
      ['Draft', 0],
      ['Queued', 2],
      ['Failed', 1],
    ],
  );
});

test('an email that is removed takes everything of its own along and lets go of its blob', async (t) => {
  const { sql, account, outbound } = await world(t);
  const { id: accountId, put, commit } = await account();
  const [gone, stays] = [email(), email()];
  await put(gone, stays);
  for (const { id } of [gone, stays]) await outbound.request({ accountId, outboundId: id, action: 'retry' });
  await commit(removal(gone.id));
  const left = await sql`
    select outbound_id from outbound_recipients union select outbound_id from outbound_contents
    union select outbound_id from outbound_requests union select id from outbound`;
  t.deepEqual(
    left.map((row) => row['outbound_id']),
    [stays.id],
  );
  t.deepEqual(
    (await sql`select encode(hash, 'hex') as hash from blob_candidates`).map((row) => row['hash']),
    [BLOB],
  );
});

test('policies that have expired are dropped, the others stay', async (t) => {
  const { sql } = await world(t);
  await sql`
    insert into sts_policies (domain, policy_id, policy, expires_at)
    values ('old.test', '1', '{}', now() - interval '1 second'), ('new.test', '1', '{}', now() + interval '1 day')`;
  t.is(await postgresStsMaintenance(sql).dropExpired(), 1);
  t.deepEqual(
    (await sql`select domain from sts_policies`).map((row) => row['domain']),
    ['new.test'],
  );
});
