// Tests mail that a mail program has marked `\Deleted` and not expunged: while it is marked, only IMAP and POP3 show it
// (docs/interface/mail.md, "Hidden mail").
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { MailboxEvent } from '../../../../src/actors/mailbox/protocol.js';
import { allClientEventsOf } from '../../../../src/gateways/events/client-events.js';
import test from '../../../support/test.js';
import { start } from '../command-world.js';
import { checkRows } from '../mailbox-world.js';
import { addressee, draftOf, stored } from '../outbound-world.js';

async function worldOf(t: ExecutionContext) {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  let read = 0;
  const next = async () => {
    const page = await world.events.read(account.id, read, 1_000);
    read = page.at(-1)?.seq ?? read;
    return page;
  };
  /** Returns the events that clients got since the previous call. */
  const told = async () => {
    const events: unknown[] = [];
    for (let page = await next(); page.length > 0; page = await next()) events.push(...page);
    return (events as MailboxEvent[]).flatMap((event) =>
      allClientEventsOf(event).map(({ type, payload }) => [type, payload]),
    );
  };
  const list = async (folder: string, more: object = {}) => {
    const { reply } = await mailbox.ask('list', { folder, page: 1, pageSize: 100, ...more });
    return { ids: reply!.items.map(({ id }) => id), total: reply!.totalCount, unread: reply!.unreadCount };
  };
  const mark = async (folderId: string, uids: [number, number][], isDeleted = true) => {
    const mode = isDeleted ? ('add' as const) : ('remove' as const);
    return mailbox.ask('storeFlags', { selection: { folderId, uids }, mode, flags: ['\\Deleted'] });
  };
  const folderOf = async (role: string) =>
    (await mailbox.ask('folders', {})).reply!.folders.find((folder) => folder.role === role)!;
  return { world, account, mailbox, append, told, list, mark, folderOf };
}

const idOf = ({ reply }: { reply?: { emails: { emailId: string }[] } }) => reply!.emails[0]!.emailId;
const NONE = { ids: [], total: 0, unread: 0 };

test('an email that is marked where it is placed is nowhere: not listed, counted, found, threaded, exported, or there by its id', async (t) => {
  const { world, account, mailbox, append, list, mark, folderOf } = await worldOf(t);
  const first = idOf(await append('inbox', 'First', { at: 1 }));
  const marked = idOf(await append('inbox', 'Second', { at: 2 }));
  const { threadId } = (await mailbox.ask('detail', { emailId: marked })).reply!;
  const thread = async () => (await mailbox.ask('thread', { threadId })).reply?.total;
  const follow = async () =>
    (
      await mailbox.ask('lists', {
        lists: [{ query: { thread: { threadId, page: 1, pageSize: 5 } } }],
        emailIds: [marked],
      })
    ).reply!;
  t.is(await thread(), 1);
  await mark('inbox', [[2, 2]]);
  for (let round = 0; round < 2; round++) {
    t.deepEqual(await list('inbox'), { ids: [first], total: 1, unread: 1 });
    t.deepEqual(await list('inbox', { isRead: false }), { ids: [first], total: 1, unread: 1 });
    t.deepEqual(await list('inbox', { sort: 'subject' }), { ids: [first], total: 1, unread: 1 });
    t.deepEqual(await list('inbox', { sort: 'date', pageSize: 1 }), { ids: [first], total: 1, unread: 1 });
    t.like(await folderOf('inbox'), { total: 1, unread: 1 });
    t.is((await mailbox.ask('unreadCount', {})).reply?.unread, 1);
    t.is((await mailbox.ask('detail', { emailId: marked })).refusal, 'noSuchEmail');
    t.is(await thread(), undefined);
    t.like(await follow(), { lists: [{ refusal: 'noSuchThread' }], items: [] });
    for (const folder of [undefined, 'inbox']) {
      const found = (await mailbox.ask('search', { terms: [], folder, page: 1, pageSize: 10 })).reply!;
      t.deepEqual([found.items.map(({ id }) => id), found.totalCount, found.unreadCount], [[first], 1, 1]);
      t.is((await mailbox.ask('exportCount', { folder })).reply?.count, 1);
      const exported = (await mailbox.ask('exportPage', { folder, place: null, limit: 10 })).reply!;
      t.deepEqual(
        exported.emails.map(({ id }) => id),
        [first],
      );
    }
    // The commands of REST do not find it either; IMAP and POP3 count it.
    t.deepEqual((await mailbox.ask('setRead', { emailIds: [marked], isRead: true })).reply?.missing, [marked]);
    t.is((await mailbox.ask('remove', { emailIds: [marked] })).reply?.removed, 0);
    t.is((await mailbox.ask('move', { selection: { emailIds: [marked] }, toFolderId: 'archive' })).reply?.count, 0);
    t.is((await mailbox.ask('announce', { emailId: marked })).refusal, 'noSuchEmail');
    const { folders } = (await mailbox.ask('folderStatus', { folderIds: ['inbox'] })).reply!;
    t.like(folders[0], { total: 2, unread: 2, deleted: 1 });
    const drop = (await mailbox.ask('maildropPage', { fromUid: 1, belowUid: 10 })).reply!;
    t.is(Buffer.from(drop.uids, 'base64').length, 8);
    world.reload();
  }
  await mark('inbox', [[2, 2]], false);
  t.deepEqual(await list('inbox'), { ids: [marked, first], total: 2, unread: 2 });
  t.is(await thread(), 1);
  t.is((await follow()).items.length, 1);
  await checkRows(world, t, account.id);
});

test('an email with two placements stays, without the marked one', async (t) => {
  const { mailbox, append, list, mark, told } = await worldOf(t);
  const id = idOf(await append('inbox', 'Two'));
  const labelId = (await mailbox.ask('createLabel', { name: 'Work', color: '#000000', sortOrder: 0 })).reply!.id;
  await mailbox.ask('assignLabel', { emailId: id, labelId });
  const detail = async () => {
    const { reply } = await mailbox.ask('detail', { emailId: id });
    return [reply!.folderIds.length, reply!.labels.length];
  };
  const tagOf = async () => {
    const query = { list: { folder: 'inbox', page: 1, pageSize: 9 } };
    return (await mailbox.ask('lists', { lists: [{ query }], emailIds: [] })).reply!.lists[0]!.state!.tag;
  };
  const before = await tagOf();
  t.deepEqual(await detail(), [2, 1]);
  t.is((await list(labelId)).total, 1);
  await told();
  await mark(labelId, [[1, 1]]);
  t.deepEqual(await told(), [
    ['EmailUnplaced', { id, folderId: labelId }],
    ['UnreadCountChanged', 1],
  ]);
  t.deepEqual(await detail(), [1, 0]);
  t.deepEqual((await list('inbox')).ids, [id]);
  const item = (await mailbox.ask('list', { folder: 'inbox', page: 1, pageSize: 9 })).reply!.items[0]!;
  t.deepEqual([item.folderIds.length, item.labels], [1, []]);
  t.not(await tagOf(), before);
  t.deepEqual(await list(labelId), NONE);
  t.is((await mailbox.ask('labels', {})).reply!.labels[0]!.emailCount, 0);
  // REST does not see the label, so it removes nothing.
  await mailbox.ask('unassignLabel', { emailId: id, labelId });
  const { folders } = (await mailbox.ask('folderStatus', { folderIds: [labelId] })).reply!;
  t.like(folders[0], { total: 1, deleted: 1 });

  await mark('inbox', [[1, 1]]);
  const inbox = (await mailbox.ask('folders', {})).reply!.folders.find(({ role }) => role === 'inbox')!.id;
  t.deepEqual(await told(), [
    ['EmailUnplaced', { id, folderId: inbox }],
    ['EmailDeleted', id],
    ['UnreadCountChanged', 0],
  ]);
  await mark(labelId, [[1, 1]], false);
  t.deepEqual(await told(), [
    ['EmailPlaced', { id, folderId: labelId }],
    ['UnreadCountChanged', 0],
  ]);
  t.deepEqual(await detail(), [1, 1]);
});

test('an email that leaves its last folder without a mark is deleted for clients, and one that comes to Archive is not', async (t) => {
  const { mailbox, append, mark, told } = await worldOf(t);
  const [first, second] = [idOf(await append('inbox', 'First')), idOf(await append('inbox', 'Second'))];
  const labelId = (await mailbox.ask('createLabel', { name: 'Work', color: '#000000', sortOrder: 0 })).reply!.id;
  for (const emailId of [first, second]) await mailbox.ask('assignLabel', { emailId, labelId });
  const { folders } = (await mailbox.ask('folders', {})).reply!;
  const idOfRole = (role: string) => folders.find((folder) => folder.role === role)!.id;
  await mark(labelId, [[1, 1]]);
  await told();
  await mailbox.ask('openMaildrop', { sessionId: 's' });
  await mailbox.ask('quitMaildrop', { sessionId: 's', uids: [[1, 1]], isLast: true });
  t.deepEqual(await told(), [
    ['EmailUnplaced', { id: first, folderId: idOfRole('inbox') }],
    ['EmailDeleted', first],
    ['UnreadCountChanged', 1],
  ]);
  await mark('inbox', [[2, 2]]);
  await told();
  await mailbox.ask('unassignLabel', { emailId: second, labelId });
  t.deepEqual(await told(), [
    ['EmailPlaced', { id: second, folderId: idOfRole('archive') }],
    ['EmailUnplaced', { id: second, folderId: labelId }],
  ]);
});

test('what happens to a hidden email is told to no client, and its expunge is not told again', async (t) => {
  const { mailbox, append, mark, told } = await worldOf(t);
  await append('inbox', 'One');
  const other = idOf(await append('inbox', 'Other'));
  const labelId = (await mailbox.ask('createLabel', { name: 'Work', color: '#000000', sortOrder: 0 })).reply!.id;
  await mailbox.ask('assignLabel', { emailId: other, labelId });
  await mark('inbox', [[1, 2]]);
  await told();
  const selection = { folderId: 'inbox', uids: [[1, 2]] as [number, number][] };
  await mailbox.ask('storeFlags', { selection, mode: 'add', flags: ['\\Flagged', 'Seen-By-Ann'] });
  t.deepEqual(
    (await told()).map(([type, payload]) => [type, (payload as { id: string }).id]),
    [['EmailFlagsChanged', other]],
  );
  await mailbox.ask('storeFlags', { selection, mode: 'add', flags: ['\\Seen'] });
  t.deepEqual(await told(), [
    ['EmailUpdated', { id: other, isRead: true }],
    ['UnreadCountChanged', 0],
  ]);
  t.is((await mailbox.ask('expunge', { folderId: 'inbox' })).reply?.isComplete, true);
  t.deepEqual(await told(), []);
});

test('a marked draft is no draft: not listed, counted, there by its id, changed or sent; unmarked it is the same one', async (t) => {
  const { world, mailbox, mark, told } = await worldOf(t);
  const { id: outboundId } = (await mailbox.ask('createDraft', { draft: await draftOf(world, 'Lunch?') })).reply!;
  await mailbox.ask('createDraft', { draft: await draftOf(world, 'Dinner?') });
  const drafts = async () => {
    const { reply } = await mailbox.ask('outboundPage', { statuses: ['Draft'], page: 1, pageSize: 100 });
    return [reply!.items.map(({ subject }) => subject), reply!.totalCount];
  };
  const { updatedAt } = (await mailbox.ask('outbound', { outboundId })).reply!.email;
  const send = async () =>
    mailbox.ask('enqueue', {
      ...(await stored(world)),
      draft: { id: outboundId, updatedAt },
      sender: 'zoe@example.test',
      content: null,
      recipients: [addressee('a@one.test')],
    });
  await told();
  await mark('drafts', [[1, 1]]);
  t.deepEqual((await told()).at(-2), ['DraftDeleted', { id: outboundId }]);
  for (let round = 0; round < 2; round++) {
    t.deepEqual(await drafts(), [['Dinner?'], 1]);
    t.is((await mailbox.ask('outbound', { outboundId })).refusal, 'noSuchOutbound');
    t.is((await mailbox.ask('outboundTimeline', { outboundId })).refusal, 'noSuchOutbound');
    t.is((await mailbox.ask('deleteDraft', { outboundId })).refusal, 'noSuchOutbound');
    const draft = await draftOf(world, 'Other');
    t.is((await mailbox.ask('updateDraft', { outboundId, draft })).refusal, 'noSuchOutbound');
    t.is((await send()).refusal, 'noSuchOutbound');
    world.reload();
  }
  await mark('drafts', [[1, 1]], false);
  t.deepEqual((await told()).at(-2), ['DraftCreated', { id: outboundId }]);
  t.deepEqual(await drafts(), [['Dinner?', 'Lunch?'], 2]);

  await mark('drafts', [[1, 1]]);
  await told();
  await mailbox.ask('expunge', { folderId: 'drafts' });
  t.deepEqual(await told(), []);
  await mark('drafts', [[2, 2]], false);
  t.is((await send()).refusal, 'noSuchOutbound', 'it was expunged');
});

test('10,000 emails that are marked at once are told one by one, once each, and are back when they are unmarked', async (t) => {
  const { mailbox, list, mark, told, world } = await worldOf(t);
  const { blob, summary } = await stored(world);
  const message = { blob, summary, receivedAt: 1, flags: [] };
  for (let at = 0; at < 10_000; at += 1_000) {
    const messages = Array.from({ length: 1_000 }, () => message);
    t.is((await mailbox.ask('append', { folderId: 'archive', messages })).refusal, undefined);
  }
  await told();
  const count = async () => {
    const types = (await told()).map(([type]) => type);
    return Object.fromEntries([...new Set(types)].map((type) => [type, types.filter((each) => each === type).length]));
  };
  const all: [number, number][] = [[1, 10_000]];
  t.is((await mark('archive', all)).reply?.changed, 10_000);
  t.deepEqual(await count(), { EmailUnplaced: 10_000, EmailDeleted: 10_000, UnreadCountChanged: 1 });
  t.deepEqual(await list('archive'), NONE);
  const flags = { selection: { folderId: 'archive', uids: all }, mode: 'add' as const, flags: ['\\Seen'] };
  t.is((await mailbox.ask('storeFlags', flags)).reply?.changed, 10_000);
  t.deepEqual(await count(), { UnreadCountChanged: 1 });
  world.reload();
  t.deepEqual(await list('archive'), NONE);
  t.is((await mark('archive', all, false)).reply?.changed, 10_000);
  t.deepEqual(await count(), { EmailPlaced: 10_000, UnreadCountChanged: 1 });
  t.like(await list('archive'), { total: 10_000, unread: 0 });
});

test('whatever is marked, read, copied, moved and expunged: lists and counters show what is not marked', async (t) => {
  const { world, mailbox, append } = await start();
  t.teardown(world.end);
  const folder = fc.constantFrom('inbox', 'archive', 'trash');
  const uid = fc.integer({ min: 1, max: 12 });
  const step = fc.record({
    kind: fc.constantFrom('append', 'mark', 'mark', 'unmark', 'seen', 'unseen', 'copy', 'move', 'expunge', 'reload'),
    folder,
    to: folder,
    uids: fc.array(uid, { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      for (const { kind, folder: folderId, to, uids: chosen } of steps) {
        const uids = chosen.map((each): [number, number] => [each, each]);
        const selection = { folderId, uids };
        const flags = kind.endsWith('mark') ? ['\\Deleted'] : ['\\Seen'];
        if (kind === 'append') await append(folderId, randomUUID());
        else if (kind === 'reload') world.reload();
        else if (kind === 'expunge') await mailbox.ask('expunge', { folderId });
        else if (kind === 'copy') await mailbox.ask('copy', { selection, toFolderId: to });
        else if (kind === 'move') await mailbox.ask('move', { selection, toFolderId: to });
        else await mailbox.ask('storeFlags', { selection, mode: kind.startsWith('un') ? 'remove' : 'add', flags });
      }
      const rows = await world.sql<{ role: string; shown: string[]; unread: number }[]>`
        select f.role, array_agg(e.id order by e.id) filter (where not p.deleted) as shown,
          (count(*) filter (where not p.deleted and e.flags & 1 = 0))::int as unread
        from folders f left join placements p on p.account_id = f.account_id and p.folder_id = f.id
          left join emails e on e.account_id = p.account_id and e.id = p.email_id
        group by f.account_id, f.id`;
      const { folders } = (await mailbox.ask('folders', {})).reply!;
      const wanted = rows.map(({ role, shown, unread }) => [role, shown?.length ?? 0, shown === null ? 0 : unread]);
      t.deepEqual(folders.map(({ role, total, unread }) => [role, total, unread]).sort(), wanted.sort());
      for (const { role, shown, unread } of rows) {
        const { reply } = await mailbox.ask('list', { folder: role, page: 1, pageSize: 1_000 });
        t.deepEqual(reply!.items.map(({ id }) => id).sort(), shown ?? []);
        t.deepEqual([reply!.totalCount, reply!.unreadCount], [shown?.length ?? 0, shown === null ? 0 : unread]);
      }
      const outside = new Set(rows.filter(({ role }) => role !== 'trash').flatMap(({ shown }) => shown ?? []));
      const found = (await mailbox.ask('search', { terms: [], page: 1, pageSize: 1_000 })).reply!;
      t.deepEqual(found.items.map(({ id }) => id).sort(), [...outside].sort());
      t.is((await mailbox.ask('unreadCount', {})).reply!.unread, rows.find(({ role }) => role === 'inbox')!.unread);
      await checkRows(world, t, (await world.sql<{ id: string }[]>`select id from accounts`)[0]!.id);
    }),
    { numRuns: 40 },
  );
});
