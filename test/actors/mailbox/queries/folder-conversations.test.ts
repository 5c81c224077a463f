// Tests lists with a row per thread against a model that groups the plain list, over mailboxes in memory; what follows such a list is tested
// with the other live lists (gateways/hub/live-queries).
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { EmailListItem } from '../../../../src/actors/mailbox/protocol.js';
import { MOST_OF_ROW } from '../../../../src/actors/mailbox/queries/folder-conversations.js';
import { NEWEST_NAMED } from '../../../../src/actors/mailbox/queries/thread-items.js';
import { uuidText } from '../../../../src/mail-format/ids.js';
import { type ListsWorld, listsWorld } from '../../../gateways/hub/live-queries/lists-world.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const PAGE_SIZE = 3;
const CHOICES = [{}, { isRead: false }, { isRead: true }, { isFlagged: true }, { isRead: false, isFlagged: false }];

const mail = fc.record({
  folder: fc.constantFrom('inbox', 'archive'),
  minutes: fc.nat(60),
  flags: fc.subarray(['\\Seen', '\\Flagged']),
  references: fc.array(fc.nat(12), { maxLength: 2 }),
  isDeleted: fc.nat(5).map((n) => n === 0),
  /** Whether lists are read before it comes, so that threads are in memory. */
  isReadBefore: fc.boolean(),
});

test('a row has the emails of a thread that the folder shows, at the place of the newest one', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(mail, { minLength: 1, maxLength: 14 }), async (mails) => {
      const world = await listsWorld();
      try {
        for (const { folder, minutes, flags, references, isDeleted, isReadBefore } of mails) {
          if (isReadBefore) await world.mailbox.ask('list', { folder, page: 1, pageSize: 5, groupByThread: true });
          await world.append({
            folder,
            flags: [...flags, ...(isDeleted ? ['\\Deleted'] : [])],
            receivedAt: Date.UTC(2026, 0, 1) + minutes * 60_000,
            references: references.map((n) => `<${n}@remote.test>`),
          });
        }
        for (const folder of ['inbox', 'archive']) {
          const rows = grouped(await all(world, folder));
          for (const choice of CHOICES) {
            const chosen = rows.filter((row) => isChosen(row, choice));
            t.deepEqual(await found(world, { folder, ...choice }), foundModel(chosen));
            for (const sort of ['-date', 'date'] as const) {
              const inOrder = sort === 'date' ? chosen.toReversed() : chosen;
              for (const page of [1, 2]) {
                const asked = { folder, page, pageSize: PAGE_SIZE, groupByThread: true, sort, ...choice };
                const { reply } = await world.mailbox.ask('list', asked);
                const expected = inOrder.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
                t.deepEqual(reply!.items.map(shownRow), expected.map(modelRow));
                t.is(reply!.totalCount, chosen.length);
                t.is(reply!.unreadCount, chosen.flat().filter(({ isRead }) => !isRead).length);
              }
            }
          }
        }
      } finally {
        await world.end();
      }
    }),
    { numRuns: runs(40) },
  );
});

test('a long thread has several rows, and a new email changes the newest one', async (t) => {
  const world = await listsWorld();
  t.teardown(world.end);
  for (let i = 0; i < MOST_OF_ROW + 2; i++) await world.append({ references: i === 0 ? [] : ['<1@remote.test>'] });
  const sizes = async () => {
    const { reply } = await world.mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 9, groupByThread: true });
    return reply!.items.map(({ thread }) => thread?.count ?? 1);
  };
  t.deepEqual(await sizes(), [2, MOST_OF_ROW]);
  await world.append({ references: ['<1@remote.test>'] });
  t.deepEqual(await sizes(), [3, MOST_OF_ROW]);
});

test('a page of long threads names 2,000 emails at most, and says what all emails of a row are', async (t) => {
  const world = await listsWorld();
  t.teardown(world.end);
  const ids: string[] = [];
  for (let i = 0; i < NEWEST_NAMED + 3; i++) ids.push((await world.append({ references: ['<root@remote.test>'] }))!);
  const rows = async () => {
    const { reply } = await world.mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 9, groupByThread: true });
    return reply!.items;
  };
  await world.mailbox.ask('setRead', { emailIds: [...ids.slice(0, 1), ...ids.slice(2)], isRead: true });
  await world.mailbox.ask('storeFlags', {
    selection: { emailIds: [ids[2]!] },
    mode: 'add',
    flags: ['\\Flagged'],
  });
  const [row] = await rows();
  t.is(100 * (NEWEST_NAMED + 1), 2_000);
  t.is(row!.thread!.count, ids.length);
  t.deepEqual(
    row!.thread!.emails.map(({ id }) => id),
    [...ids.slice(3).toReversed(), ids[0]!],
  );
  // The second email is unread, and the third one is flagged: the row names neither.
  t.deepEqual([row!.isRead, row!.isFlagged], [false, true]);
  t.deepEqual((await found(world, { folder: 'inbox', rowsOf: [ids.at(-1)!] })).emails, ids.toSorted());
});

test('what is found of a list by thread are whole rows, also of rows that are named by some email', async (t) => {
  const world = await listsWorld();
  t.teardown(world.end);
  const ids: string[] = [];
  for (const root of [1, 2, 1, 3, 1]) ids.push((await world.append({ references: [`<root-${root}@remote.test>`] }))!);
  const [a1, b, a2, c, a3] = ids as [string, string, string, string, string];
  await world.mailbox.ask('setRead', { emailIds: [a2], isRead: true });
  t.deepEqual(await found(world, { folder: 'inbox' }), {
    total: 5,
    emails: [a1, b, a2, c, a3].toSorted(),
    threads: [[a3, a2, a1]],
  });
  t.deepEqual(await found(world, { folder: 'inbox', isRead: false, rowsOf: [a2] }), {
    total: 3,
    emails: [a1, a2, a3].toSorted(),
    threads: [[a3, a2, a1]],
  });
  t.deepEqual(await found(world, { folder: 'inbox', rowsOf: [c, b, randomUUID()] }), {
    total: 2,
    emails: [b, c].toSorted(),
    threads: [],
  });
  const nowhere = await world.mailbox.ask('foundEmails', { terms: [], folder: randomUUID(), groupByThread: true });
  t.is(nowhere.refusal, 'noSuchFolder');
});

test('an email that joins two threads makes them one row', async (t) => {
  const world = await listsWorld();
  t.teardown(world.end);
  const [one, two] = [await world.append({ messageId: '<one@x>' }), await world.append({ messageId: '<two@x>' })];
  const rows = async () => {
    const { reply } = await world.mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 9, groupByThread: true });
    return reply!.items.map(({ id, thread }) => thread?.emails.map((email) => email.id) ?? [id]);
  };
  t.deepEqual(await rows(), [[two!], [one!]]);
  const three = await world.append({ references: ['<one@x>', '<two@x>'] });
  t.deepEqual(await rows(), [[three!, two!, one!]]);
  await world.mailbox.ask('remove', { emailIds: [one!] });
  const four = await world.append({ references: ['<one@x>'] });
  t.deepEqual(await rows(), [[four!, three!, two!]]);
});

async function all({ mailbox }: ListsWorld, folder: string): Promise<readonly EmailListItem[]> {
  return (await mailbox.ask('list', { folder, page: 1, pageSize: 100 })).reply!.items;
}

interface Criteria {
  readonly folder: string;
  readonly isRead?: boolean;
  readonly isFlagged?: boolean;
  readonly rowsOf?: string[];
}

async function found({ mailbox }: ListsWorld, criteria: Criteria) {
  const { reply } = await mailbox.ask('foundEmails', { terms: [], groupByThread: true, ...criteria });
  const ids = reply!.groups.flatMap(({ ids: packed }) => {
    const octets = Buffer.from(packed, 'base64');
    return Array.from({ length: octets.length / 16 }, (_, i) => uuidText(octets, i * 16));
  });
  const threads = reply!.threads!.map((positions) => positions.map((position) => ids[position]!));
  return { total: reply!.totalCount, emails: ids.toSorted(), threads };
}

function foundModel(rows: readonly (readonly EmailListItem[])[]) {
  const ids = rows.map((row) => row.map(({ id }) => id));
  const emails = ids.flat().toSorted();
  return { total: emails.length, emails, threads: ids.filter(({ length }) => length > 1) };
}

/** Rows of the plain list, newest first. */
function grouped(items: readonly EmailListItem[]): readonly (readonly EmailListItem[])[] {
  const rows = new Map<string, EmailListItem[]>();
  for (const item of items) rows.set(item.threadId, [...(rows.get(item.threadId) ?? []), item]);
  return [...rows.values()];
}

function isChosen(row: readonly EmailListItem[], choice: { isRead?: boolean; isFlagged?: boolean }): boolean {
  if (choice.isRead !== undefined && choice.isRead !== row.every(({ isRead }) => isRead)) return false;
  return choice.isFlagged === undefined || choice.isFlagged === row.some(({ isFlagged }) => isFlagged);
}

function modelRow(row: readonly EmailListItem[]) {
  const emails = row.map(({ id, isRead, isFlagged }) => ({ id, isRead, isFlagged }));
  const isRead = row.every((email) => email.isRead);
  return { id: row[0]!.id, subject: row[0]!.subject, isRead, emails: row.length === 1 ? undefined : emails };
}

function shownRow({ id, subject, isRead, thread }: EmailListItem) {
  const emails = thread?.emails.map((email) => ({ id: email.id, isRead: email.isRead, isFlagged: email.isFlagged }));
  return { id, subject, isRead, emails };
}
