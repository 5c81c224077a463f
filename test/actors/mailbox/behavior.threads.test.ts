// Tests that threads depend neither on the order in which mail arrives nor on shared commits: every conversation is one thread,
// however its emails refer to each other.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { joinedSets, threadIds } from '../../../src/mail-format/threads/thread.js';
import { messageKey, ThreadJoins } from '../../../src/store/postgres/commit/threads.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { mailboxWorld } from './mailbox-world.js';

const email = fc.record({
  /** The index of the earlier email that this one answers; its own for the first of a conversation. */
  parent: fc.nat(20),
  refers: fc.constantFrom('inReplyTo', 'references', 'both'),
  order: fc.nat(1000),
  batch: fc.nat(3),
});

test('every conversation is one thread in any order of arrival', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  await fc.assert(
    fc.asyncProperty(fc.array(email, { minLength: 1, maxLength: 9 }), async (emails) => {
      const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Threads');
      const mark = randomUUID();
      const parents = emails.map(({ parent }, i) => Math.min(parent % (i + 2), i));
      const idOf = (i: number) => `<${i}.${mark}@b>`;
      const rootOf = (i: number): number => (parents[i] === i ? i : rootOf(parents[i]!));
      const ancestors = (i: number): number[] => (parents[i] === i ? [] : [...ancestors(parents[i]!), parents[i]!]);
      const arrivals = emails.map((_, i) => i).sort((a, b) => emails[a]!.order - emails[b]!.order || a - b);
      const stored: string[] = [];
      for (let from = 0; from < arrivals.length; ) {
        const group = arrivals.slice(from, from + 1 + emails[arrivals[from]!]!.batch);
        from += group.length;
        const spooled = await Promise.all(
          group.map((i) => {
            const { refers } = emails[i]!;
            const isReply = parents[i] !== i;
            return world.spool([account.id], i, {
              messageId: idOf(i),
              ...(isReply && refers !== 'references' ? { inReplyTo: idOf(parents[i]!) } : {}),
              ...(isReply && refers !== 'inReplyTo' ? { references: ancestors(i).map(idOf) } : {}),
            });
          }),
        );
        const delivered = await Promise.all(spooled.map(([delivery]) => delivery!.deliver()));
        delivered.forEach(({ reply }, k) => {
          stored[group[k]!] = reply!.emailId!;
        });
      }
      const rows = await world.sql<{ id: string; thread: string }[]>`
        select id, thread_id as thread from emails where account_id = ${account.id}`;
      const threadOf = new Map(rows.map(({ id, thread }) => [id, thread]));
      const rootThread = new Map<number, string>();
      for (const [i, id] of stored.entries()) {
        const root = rootOf(i);
        if (!rootThread.has(root)) rootThread.set(root, threadOf.get(id)!);
        t.is(threadOf.get(id), rootThread.get(root));
      }
      t.is(new Set(rootThread.values()).size, rootThread.size);
      for (const [root, thread] of rootThread) {
        const { reply } = await world.mailboxes.of(account.id).ask('thread', { threadId: thread });
        t.deepEqual(
          reply?.emails.map(({ id }) => id),
          stored.filter((_, i) => rootOf(i) === root),
        );
      }
    }),
    { numRuns: runs(60) },
  );
});

test('the id of a thread that was joined with another leads there; accounts have threads of their own', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const [one, other] = await Promise.all(
    ['one', 'other'].map((name) => world.directory.createAccount(`${name}@example.test`, name)),
  );
  const mailbox = world.mailboxes.of(one!.id);
  const put = async (accountId: string, messageId: string, inReplyTo?: string) => {
    const [delivery] = await world.spool([accountId], 1, { messageId, ...(inReplyTo && { inReplyTo }) });
    const emailId = (await delivery!.deliver()).reply!.emailId!;
    return (await world.mailboxes.of(accountId).ask('detail', { emailId })).reply!.threadId;
  };
  const first = await put(one!.id, '<a@x>');
  const late = await put(one!.id, '<c@x>', '<b@x>');
  t.not(first, late);
  t.is((await mailbox.ask('thread', { threadId: late })).reply?.emails.length, 1);
  t.is(await put(one!.id, '<b@x>', '<a@x>'), first);
  for (const threadId of [first, late]) {
    t.is((await mailbox.ask('thread', { threadId })).reply?.emails.length, 3);
  }
  t.not(await put(other!.id, '<d@x>', '<a@x>'), first);
  t.is((await world.mailboxes.of(other!.id).ask('thread', { threadId: first })).refusal, 'noSuchThread');
  t.is((await mailbox.ask('thread', { threadId: randomUUID() })).refusal, 'noSuchThread');
  const [key] = await world.sql<{ key: string }[]>`select message_key('<a@x>') as key`;
  t.is(key?.key, messageKey('<a@x>'));
});

test('threads are joined by the owner that has committed, not after the claim of a later one', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id } = await world.directory.createAccount('owned@example.test', 'x');
  for (const messageId of ['<a@x>', '<b@x>']) {
    const [delivery] = await world.spool([id], 1, { messageId });
    await delivery!.deliver();
  }
  const rows = () =>
    world.sql<{ thread: string; epoch: number }[]>`
      select e.thread_id as thread, a.epoch::int as epoch from emails e join accounts a on a.id = e.account_id
      order by e.id`;
  const [first, second] = await rows();
  const torn = [{ a: id, threads: [second!.thread, first!.thread] }];
  t.true(await new ThreadJoins(world.sql).join(torn, new Map([[id, first!.epoch - 1]])));
  t.deepEqual(
    (await rows()).map(({ thread }) => thread),
    [first!.thread, second!.thread],
  );
  t.true(await new ThreadJoins(world.sql).join(torn, new Map([[id, first!.epoch]])));
  t.deepEqual(
    (await rows()).map(({ thread }) => thread),
    [first!.thread, first!.thread],
  );
});

test('threads that a commit could not join are joined by the next list of threads, which reads them once more', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id } = await world.directory.createAccount('torn@example.test', 'x');
  const put = async (messageId: string, ...references: readonly string[]) => {
    const [delivery] = await world.spool([id], 1, { messageId, references });
    return (await delivery!.deliver()).reply!.emailId!;
  };
  const [one, two] = [await put('<a@x>'), await put('<b@x>')];
  const rows = async () => {
    const page = { folder: 'inbox', page: 1, pageSize: 9, groupByThread: true };
    const { reply } = await world.mailboxes.of(id).ask('list', page);
    return reply!.items.map((item) => (item.thread?.emails.map((email) => email.id) ?? [item.id]).toSorted());
  };
  t.deepEqual(await rows(), [[two], [one]]);
  const before = world.readings.threads;
  // Another transaction has the row that the join writes, for longer than the join waits.
  const three = await world.sql.begin(async (tx) => {
    await tx`select from emails where account_id = ${id} and id = ${two} for update`;
    return put('<c@x>', '<a@x>', '<b@x>');
  });
  t.deepEqual(await rows(), [[one, two, three].toSorted()]);
  t.deepEqual(await rows(), [[one, two, three].toSorted()]);
  t.is(world.readings.threads - before, 1);
});

test('a thread comes newest 500 first of all, or page by page from the oldest', async (t) => {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id } = await world.directory.createAccount('long@example.test', 'x');
  const mailbox = world.mailboxes.of(id);
  for (let i = 0; i < 505; i += 101) {
    const deliveries = await Promise.all(
      Array.from({ length: 101 }, (_, j) =>
        world.spool([id], i + j, { subject: `${i + j}`, references: ['<root@x>'] }),
      ),
    );
    await Promise.all(deliveries.map(([delivery]) => delivery!.deliver()));
  }
  const [row] = await world.sql<{ thread: string }[]>`select distinct thread_id as thread from emails`;
  const ask = async (page?: { page: number; pageSize?: number }) => {
    const { reply } = await mailbox.ask('thread', { threadId: row!.thread, ...page });
    return { total: reply!.total, subjects: reply!.emails.map(({ subject }) => Number(subject)) };
  };
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  t.deepEqual(await ask(), { total: 505, subjects: numbers(5, 505) });
  t.deepEqual(await ask({ page: 1, pageSize: 100 }), { total: 505, subjects: numbers(0, 100) });
  t.deepEqual(await ask({ page: 6, pageSize: 100 }), { total: 505, subjects: numbers(500, 505) });
  t.deepEqual(await ask({ page: 2 }), { total: 505, subjects: numbers(20, 40) });
  t.deepEqual(await ask({ page: 1_000_000, pageSize: 100 }), { total: 505, subjects: [] });
  t.is((await mailbox.ask('thread', { threadId: randomUUID(), page: 1 })).refusal, 'noSuchThread');
});

test('ids are trimmed, bracketed, bounded, each once, and keep their case', (t) => {
  const ids = threadIds({ messageId: ' <A@b> ', inReplyTo: 'A@b', references: ['< a@b >', '', '<>'] });
  t.deepEqual(ids, ['<A@b>', '<a@b>']);
  const many = threadIds({
    messageId: null,
    inReplyTo: null,
    references: Array.from({ length: 80 }, (_, i) => `<${i}>`),
  });
  t.is(many.length, 51);
  t.deepEqual([many[0], many[1], many.at(-1)], ['<0>', '<30>', '<79>']);
});

test('sets that share a member are one group', (t) => {
  t.deepEqual(joinedSets([['a'], ['b'], ['c', 'd'], ['b', 'd'], ['e'], ['a', 'e']]), [0, 1, 1, 1, 0, 0]);
  t.deepEqual(joinedSets([[], []]), [0, 1]);
});
