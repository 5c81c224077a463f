// The mailbox actor on a real store against a plain model: random histories with reloads in between, then the store's
// own counters against what its rows say.
import { createHash, randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import pino from 'pino';
import { mailboxBehavior } from '../../../src/actors/mailbox/behavior.js';
import { type MailboxEvent, mailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import { createEventStreams } from '../../../src/actors/runtime/event-streams.js';
import { startHost } from '../../../src/actors/runtime/host.js';
import { createRefs } from '../../../src/actors/runtime/refs.js';
import { localTransport } from '../../../src/actors/runtime/transport-local.js';
import { indexMessage } from '../../../src/mail/mime-index/indexer.js';
import { summarize } from '../../../src/mail/summary.js';
import { connect } from '../../../src/store/postgres/client.js';
import { postgresDirectory } from '../../../src/store/postgres/directory.js';
import { postgresEvents } from '../../../src/store/postgres/events.js';
import { postgresInbound } from '../../../src/store/postgres/inbound.js';
import { postgresMailboxes } from '../../../src/store/postgres/mailboxes.js';
import { migratedDatabase } from '../../support/embedded-database.js';
import { NO_SEARCH } from '../../support/no-search.js';
import { fixedOwnership } from '../../support/ownership.js';

const log = pino({ level: 'silent' });
const texts = { text: async () => 'hello' };

async function setUp() {
  const database = await migratedDatabase();
  const sql = connect(database.address, { max: 8, applicationName: 'test' });
  const writerSql = connect(database.address, { max: 4, applicationName: 'test', byKey: true });
  const directory = postgresDirectory(sql, 1);
  const inbound = postgresInbound(sql, writerSql);
  const events = postgresEvents(sql);
  let epoch = 1;
  const transport = localTransport({ encoding: true });
  const ownership = fixedOwnership(1, () => epoch);
  const store = postgresMailboxes(sql, writerSql);
  const host = startHost({
    behavior: mailboxBehavior({ store, texts, search: NO_SEARCH, log }),
    transport,
    ownership,
    log,
    idleMs: 60_000,
    maxOctets: 1e9,
    sweepMs: 60_000,
    checked: true,
  });
  await host.settle(ownership.owned);
  const streams = createEventStreams<MailboxEvent>({
    protocolName: 'mailbox',
    transport,
    ownership,
    log: events,
    logger: log,
  });
  const mailboxes = createRefs({ protocol: mailboxProtocol, transport, ownership, streams });
  let number = 0;

  async function spool(accountIds: readonly string[], receivedAt: number) {
    const raw = Buffer.from(
      `From: A <a@b.test>\r\nSubject: mail ${++number}\r\nMessage-ID: <${number}@b>\r\n\r\nhello`,
    );
    const index = indexMessage(raw);
    const hash = createHash('sha256').update(raw).digest('hex');
    const deliveries = accountIds.map((accountId) => ({ accountId, id: randomUUID() }));
    const summary = { ...summarize(index), references: [] };
    await inbound.spool({ hash, size: raw.length, index, chunks: () => [raw] }, { receivedAt, summary }, deliveries);
    return deliveries.map(({ id: inboundId, accountId }) => ({
      deliver: () => mailboxes.of(accountId).ask('deliver', { inboundId, blob: hash, receivedAt, summary }),
      subject: summary.subject,
    }));
  }

  return {
    sql,
    directory,
    mailboxes,
    store,
    events,
    spool,
    /** Another owner: the state in memory is loaded afresh. */
    reload: () => {
      epoch++;
    },
    async end() {
      await host.stop();
      await writerSql.end();
      await sql.end();
      await database.drop();
    },
  };
}

type Shown = { id: string; subject: string; receivedAt: number; isRead: boolean };

test('random histories end as the model says, in memory, after a reload, and in the rows', async (t) => {
  const world = await setUp();
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('deliver' as const),
        times: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('read' as const),
        which: fc.array(fc.nat(30), { maxLength: 6 }),
        isRead: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.array(fc.nat(30), { maxLength: 4 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Model');
      const mailbox = world.mailboxes.of(account.id);
      let model: Shown[] = [];
      const ids = (which: readonly number[]) => which.map((i) => model[i]?.id ?? randomUUID());
      for (const next of steps) {
        if (next.kind === 'reload') world.reload();
        if (next.kind === 'deliver') {
          const spooled = await Promise.all(next.times.map((time) => world.spool([account.id], time)));
          await Promise.all(
            spooled.map(async ([delivery], i) => {
              const [first, again] = await Promise.all([delivery!.deliver(), delivery!.deliver()]);
              const id = first.reply?.emailId ?? again.reply?.emailId;
              t.is([first, again].filter(({ reply }) => reply?.emailId === null).length, 1);
              model.push({ id: id!, subject: delivery!.subject, receivedAt: next.times[i]!, isRead: false });
            }),
          );
        }
        if (next.kind === 'read') {
          const wanted = new Set(ids(next.which));
          const { reply } = await mailbox.ask('setRead', { emailIds: [...wanted], isRead: next.isRead });
          const known = model.filter(({ id }) => wanted.has(id));
          t.is(reply?.changed, known.filter(({ isRead }) => isRead !== next.isRead).length);
          t.is(reply?.missing.length, wanted.size - known.length);
          for (const email of known) email.isRead = next.isRead;
        }
        if (next.kind === 'remove') {
          const wanted = new Set(ids(next.which));
          const { reply } = await mailbox.ask('remove', { emailIds: [...wanted] });
          t.is(reply?.removed, model.filter(({ id }) => wanted.has(id)).length);
          model = model.filter(({ id }) => !wanted.has(id));
        }
        model.sort((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1));
        const { reply: list } = await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 100 });
        t.deepEqual(
          list?.items.map(({ id, subject, receivedAt, isRead }) => ({ id, subject, receivedAt, isRead })),
          model,
        );
        t.is(list?.totalCount, model.length);
        t.is(list?.unreadCount, model.filter(({ isRead }) => !isRead).length);
      }
      await checkRows(world, t, account.id);
    }),
    { numRuns: 25 },
  );
  await world.end();
});

async function checkRows(
  world: Awaited<ReturnType<typeof setUp>>,
  t: { deepEqual(a: unknown, b: unknown): void },
  id: string,
) {
  const counters = await world.sql`
    select f.role, f.total, f.unread, count(p.uid)::int as placed,
      (count(p.uid) filter (where e.flags & 1 = 0))::int as unseen,
      coalesce(max(p.uid), 0) < f.uidnext as rising
    from folders f left join placements p on p.account_id = f.account_id and p.folder_id = f.id
      left join emails e on e.account_id = p.account_id and e.id = p.email_id
    where f.account_id = ${id} group by f.account_id, f.id`;
  for (const row of counters)
    t.deepEqual([row['placed'], row['unseen'], row['rising']], [row['total'], row['unread'], true]);
  const [rest] = await world.sql`
    select (select count(*)::int from inbound where account_id = ${id}) as inbound,
      (select count(*)::int from emails e where account_id = ${id} and not exists (
        select 1 from placements p where p.account_id = e.account_id and p.email_id = e.id)) as homeless,
      (select count(*)::int from expunged x join placements p using (account_id, folder_id, uid) where account_id = ${id}) as undead`;
  t.deepEqual({ ...rest }, { inbound: 0, homeless: 0, undead: 0 });
}

test('one message for many accounts is one blob and one email each; a repeated delivery after a reload is none', async (t) => {
  const world = await setUp();
  const accounts = await Promise.all(
    Array.from({ length: 20 }, () => world.directory.createAccount(`${randomUUID()}@example.test`, 'x')),
  );
  const deliveries = await world.spool(
    accounts.map(({ id }) => id),
    1,
  );
  const first = await Promise.all(deliveries.map(({ deliver }) => deliver()));
  t.true(first.every(({ reply }) => typeof reply?.emailId === 'string'));
  world.reload();
  const again = await Promise.all(deliveries.map(({ deliver }) => deliver()));
  t.true(again.every(({ reply }) => reply?.emailId === null));
  const [count] =
    await world.sql`select (select count(*)::int from blobs) as blobs, count(*)::int as emails from emails`;
  t.deepEqual({ ...count }, { blobs: 1, emails: 20 });
  await world.end();
});

test('a commit of an epoch that was overtaken writes nothing', async (t) => {
  const world = await setUp();
  const account = await world.directory.createAccount('fenced@example.test', 'x');
  const before = await world.store.claim(account.id, 5);
  if (before.kind !== 'claimed') return t.fail();
  t.is((await world.store.claim(account.id, 6)).kind, 'claimed');
  t.is((await world.store.claim(account.id, 5)).kind, 'fenced');
  t.is((await world.store.claim(randomUUID(), 5)).kind, 'noSuchAccount');
  const result = await world.store.commit({
    accountId: account.id,
    epoch: 5,
    modseqBefore: before.modseq,
    modseqAfter: before.modseq + 1,
    emailsAdded: [],
    emailsFlagged: [],
    emailsRemoved: [],
    placed: [],
    unplaced: [],
    folders: [],
    foldersAdded: [],
    foldersRemoved: [],
    filters: [],
    filtersRemoved: [],
    blobsReleased: [],
    events: [{ seq: before.modseq + 1, n: 0, type: 'EmailRemoved', payload: {}, at: 0 }],
    inbound: [],
    remembered: [],
  });
  t.deepEqual(result, { kind: 'fenced' });
  t.deepEqual(await world.events.read(account.id, 0, 10), []);
  await world.end();
});

test('the log gives back every event in order, page by page', async (t) => {
  const world = await setUp();
  const account = await world.directory.createAccount('log@example.test', 'x');
  for (let i = 0; i < 5; i++) await (await world.spool([account.id], i))[0]!.deliver();
  const whole = await world.events.read(account.id, 0, 1000);
  t.is(whole.length, 10);
  const paged = [];
  for (let after = 0; ; ) {
    const page = await world.events.read(account.id, after, 3);
    if (page.length === 0) break;
    paged.push(...page);
    after = page[page.length - 1]!.seq;
  }
  t.deepEqual(paged, whole);
  t.true(whole.every((event, i) => i === 0 || event.seq > whole[i - 1]!.seq || event.n > whole[i - 1]!.n));
  await world.end();
});
