// Tests the mailbox actor on a real store against a plain model: random histories with reloads between them; then compares the store's
// counters with its rows.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { runs } from '../../support/amounts.js';
import { emptyChange, records } from '../../support/mailbox-change.js';
import test from '../../support/test.js';
import { checkRows, mailboxWorld } from './mailbox-world.js';

type Shown = { id: string; subject: string; receivedAt: number; isRead: boolean };

test('random histories end as the model says, in memory, after a reload, and in the rows', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
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
    { numRuns: runs(25) },
  );
});

test('one message for many accounts is one blob and one email each; a repeated delivery after a reload is none', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
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
});

test('a commit of an epoch that was overtaken writes nothing', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = await world.directory.createAccount('fenced@example.test', 'x');
  const before = await world.store.claim(account.id, 5);
  if (before.kind !== 'claimed') return t.fail();
  t.is((await world.store.claim(account.id, 6)).kind, 'claimed');
  t.is((await world.store.claim(account.id, 5)).kind, 'fenced');
  t.is((await world.store.claim(randomUUID(), 5)).kind, 'noSuchAccount');
  const result = await world.store.commit({
    ...emptyChange(account.id, 5, before.modseq),
    changes: records([{ type: 'UnreadCountChanged', payload: { unread: 0 } }], before.modseq + 1),
  });
  t.deepEqual(result, { kind: 'fenced' });
  t.deepEqual(await world.events.read(account.id, 0, 10), []);
});

test('the log gives back every event in order, page by page', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
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
});
