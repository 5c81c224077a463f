// Tests special cases of flags, moves, folders and lists: limits, conditional stores, UIDs, sorting.
import { randomUUID } from 'node:crypto';
import { JUNK } from '../../../src/mail-format/flags.js';
import { unpackUids } from '../../../src/mail-format/packed-columns.js';
import test from '../../support/test.js';
import { blobOf, start, summary } from './command-world.js';
import { checkRows } from './mailbox-world.js';

test('UIDs of copies and moves stand in the order of the folder they are from, whatever was there', async (t) => {
  const { world, mailbox, append } = await start();
  t.teardown(world.end);
  const ids: string[] = [];
  for (const subject of ['a', 'b', 'c', 'd', 'e']) ids.push((await append('inbox', subject)).reply!.emails[0]!.emailId);
  type Uids = [number, number][];
  const uidsOf = async (name: 'copy' | 'move', folderId: string, uids: Uids, toFolderId: string) => {
    const { reply } = await mailbox.ask(name, { selection: { folderId, uids }, toFolderId });
    return [reply!.count, reply!.from, reply!.to];
  };
  const ranges = (...uids: Uids) => uids;
  await mailbox.ask('copy', { selection: { emailIds: [ids[3]!, ids[1]!] }, toFolderId: 'archive' });
  t.deepEqual(await uidsOf('copy', 'inbox', ranges([4, 5], [1, 3]), 'archive'), [5, [[1, 5]], [[3, 7]]]);
  t.deepEqual(await uidsOf('copy', 'archive', [[1, 2]], 'archive'), [2, [[1, 2]], [[8, 9]]], 'into the same folder');
  t.deepEqual(await uidsOf('move', 'inbox', [[2, 3]], 'inbox'), [2, [[2, 3]], [[6, 7]]], 'within a folder');
  const moved = await uidsOf('move', 'inbox', ranges([1, 1], [6, 6], [9, 12]), 'archive');
  t.deepEqual(moved, [2, ranges([1, 1], [6, 6]), [[10, 11]]]);
  const { reply } = await mailbox.ask('folderChanges', { folderId: 'inbox', since: null });
  t.deepEqual([...unpackUids(reply!.uids)], [4, 5, 7]);
  await mailbox.ask('storeFlags', {
    selection: { folderId: 'archive', uids: [[1, 9]] },
    mode: 'add',
    flags: ['\\Deleted'],
  });
  const expunged = await mailbox.ask('expunge', { folderId: 'archive', uids: ranges([5, 7], [1, 2], [2, 2]) });
  t.deepEqual(expunged.reply, { uids: ranges([1, 2], [5, 7]), isComplete: true });
});

test('the inbox is renamed: its emails are in a new label, and it stays and is empty', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  const { reply: first } = await append('inbox', 'a', { flags: ['\\Seen', '\\Deleted', 'Work'] });
  await append('inbox', 'b');
  const before = world.commits.length;
  const { reply } = await mailbox.ask('renameInbox', { name: 'Old/2026' });
  t.is(reply?.isComplete, true);
  t.is(world.commits.length, before + 1);
  const folderId = reply!.folderId;
  const status = async (id: string) => {
    const { folders } = (await mailbox.ask('folderStatus', { folderIds: [id] })).reply!;
    return folders.map(({ path, role, total, unread, deleted, uidNext }) => [
      path,
      role,
      total,
      unread,
      deleted,
      uidNext,
    ])[0];
  };
  t.deepEqual(await status(folderId), ['Old/2026', 'label', 2, 1, 1, 3]);
  t.deepEqual(await status('inbox'), ['INBOX', 'inbox', 0, 0, 0, 3]);
  const [email] =
    await world.sql`select flags::int as flags, keywords from emails where id = ${first!.emails[0]!.emailId}`;
  t.deepEqual([email!['flags'], email!['keywords']], [1, ['Work']]);
  t.is((await mailbox.ask('renameInbox', { name: 'old/2026' })).refusal, 'nameTaken');
  t.is((await mailbox.ask('renameInbox', { name: 'x'.repeat(1_001) })).refusal, 'nameTooLong');
  t.is((await mailbox.ask('renameInbox', { name: 'x', folderId: randomUUID() })).refusal, 'noSuchFolder');
  // A later call moves the rest; an email that is already there is then there twice.
  const { reply: third } = await append('inbox', 'c');
  await mailbox.ask('copy', { selection: { emailIds: [third!.emails[0]!.emailId] }, toFolderId: folderId });
  t.deepEqual((await mailbox.ask('renameInbox', { name: 'Old/2026', folderId })).reply, { folderId, isComplete: true });
  t.deepEqual(await status(folderId), ['Old/2026', 'label', 4, 3, 1, 5]);
  t.deepEqual(await status('inbox'), ['INBOX', 'inbox', 0, 0, 0, 4]);
  await checkRows(world, t, account.id);
});

test('an account has 200 keywords, whatever their case; names that are no flags are refused', async (t) => {
  const { world, mailbox, append } = await start();
  t.teardown(world.end);
  const names = Array.from({ length: 199 }, (_, i) => `k${i}`);
  const { reply } = await append('inbox', 'a', { flags: names });
  const store = (flags: string[], mode: 'add' | 'remove' | 'replace' = 'add') =>
    mailbox.ask('storeFlags', { selection: { emailIds: [reply!.emails[0]!.emailId] }, mode, flags });
  t.is((await store(['K0', 'k198'])).reply?.changed, 0, 'known ones');
  t.is((await store(['one', 'two'])).refusal, 'tooManyKeywords');
  t.is((await store(['one', 'ONE'])).reply?.changed, 1);
  t.is((await store(['two'])).refusal, 'tooManyKeywords');
  t.is((await append('inbox', 'b', { flags: ['two'] })).refusal, 'tooManyKeywords');
  t.is((await store(['two'], 'remove')).reply?.changed, 0);
  t.is((await store(['one'], 'remove')).reply?.changed, 1);
  t.is((await store(['two'])).reply?.changed, 1, 'one is forgotten when no email has it');
  for (const name of ['a b', '\\Recent', '', 'é', 'x'.repeat(101)])
    t.is((await store([name])).refusal, 'noSuchFlag', name);
  t.is((await store(['\\Deleted'])).refusal, 'noSuchFlag', 'without a folder');
});

test('a conditional store leaves alone what was changed later, also within one commit', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  for (const subject of ['a', 'b', 'c']) await append('inbox', subject);
  const modseq = async () =>
    Number((await world.sql`select modseq from accounts where id = ${account.id}`)[0]!['modseq']);
  const before = await modseq();
  const store = (uids: [number, number][], flags: string[], unchangedSince?: number) =>
    mailbox.ask('storeFlags', {
      selection: { folderId: 'inbox', uids },
      mode: 'add',
      flags,
      ...(unchangedSince !== undefined && { unchangedSince }),
    });
  const [first, second] = await Promise.all([store([[2, 2]], ['\\Deleted']), store([[1, 9]], ['\\Flagged'], before)]);
  const { folderId } = first.reply!.folderModseqs!;
  const folderModseqs = { folderId, before: before + 1, after: before + 2 };
  t.deepEqual(first.reply?.folderModseqs, { folderId, before, after: before + 1 });
  t.deepEqual(second.reply, { changed: 2, missing: [], modified: [[2, 2]], folderModseqs });
  world.reload();
  const third = await store([[1, 3]], ['\\Seen'], before);
  const unchanged = { folderId, before: before + 2, after: before + 2 };
  t.deepEqual(third.reply, { changed: 0, missing: [], modified: [[1, 3]], folderModseqs: unchanged });
  t.is((await store([[1, 3]], ['\\Seen'], await modseq())).reply?.changed, 3);
});

test('a command takes 10,000 emails, no more, in one commit; fewer where it plans each of them', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  const { reply: first } = await append('inbox', 'seed');
  t.truthy(first);
  const [inbox] = await world.sql`select id from folders where account_id = ${account.id} and role = 'inbox'`;
  await world.sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    select ${account.id}, ('01' || lpad(to_hex(i), 10, '0') || '-7000-8000-000000000000')::uuid, '\\x00', null,
      gen_random_uuid(), '{}', '', '', '', '', now(), 1, false, 0, 0, 1
    from generate_series(1, 10000) i`;
  await world.sql`
    insert into placements (account_id, folder_id, uid, email_id, modseq)
    select account_id, ${inbox!['id']}, row_number() over (order by id) + 1, id, 1
    from emails where account_id = ${account.id} and id <> ${first!.emails[0]!.emailId}`;
  await world.sql`
    update folders set total = 10001, unread = 10001, uidnext = 10002 where account_id = ${account.id} and role = 'inbox'`;
  world.reload();
  const total = async (folderId: string) =>
    (await mailbox.ask('folderStatus', { folderIds: [folderId] })).reply!.folders[0]!;
  const move = (uids: [number, number][]) =>
    mailbox.ask('move', { selection: { folderId: 'inbox', uids }, toFolderId: 'junk' }, { deadlineMs: 60_000 });
  t.is((await move([[1, 1e9]])).refusal, 'tooManyEmails');
  const before = Number((await world.sql`select modseq from accounts where id = ${account.id}`)[0]!['modseq']);
  const { reply } = await move([[2, 1e9]]);
  t.deepEqual([reply?.count, reply?.from, reply?.to], [10_000, [[2, 10_001]], [[1, 10_000]]]);
  const [after] = await world.sql`select modseq::int as modseq from accounts where id = ${account.id}`;
  let junk = 0;
  for await (const { flags } of world.store.emails(account.id)) junk += flags.filter((each) => each === JUNK).length;
  t.deepEqual({ ...after, junk }, { modseq: before + 1, junk: 10_000 });
  // Commands that plan each email change only a part of them, and are sent again.
  const { id: folderId } = (await mailbox.ask('createFolder', { name: 'L', role: 'label' })).reply!;
  const ofJunk = { folderId: 'junk', uids: [[1, 6_000]] as [number, number][] };
  await mailbox.ask('move', { selection: ofJunk, toFolderId: folderId }, { deadlineMs: 60_000 });
  const deletions: unknown[] = [];
  for (let isComplete: boolean | undefined = false; isComplete === false; ) {
    const asked = mailbox.ask('deleteFolder', { folderId, withInferiors: false }, { deadlineMs: 60_000 });
    isComplete = (await asked).reply!.isComplete;
    deletions.push((await total('archive')).total);
  }
  t.deepEqual(deletions, [2_500, 5_000, 6_000]);
  const rest: [number, number][] = [[6_001, 10_000]];
  const marked = { selection: { folderId: 'junk', uids: rest }, mode: 'add' as const, flags: ['\\Deleted'] };
  await mailbox.ask('storeFlags', marked, { deadlineMs: 60_000 });
  const expunge = async () => (await mailbox.ask('expunge', { folderId: 'junk' }, { deadlineMs: 60_000 })).reply;
  t.deepEqual(await expunge(), { uids: [[6_001, 8_500]], isComplete: false });
  t.deepEqual(await expunge(), { uids: [[8_501, 10_000]], isComplete: true });
  t.is((await total('junk')).total, 0);
});

test('a list is by date, sender, subject without Re:, or size, either way round, with counts of what matches', async (t) => {
  const { world, mailbox } = await start();
  t.teardown(world.end);
  const mails = [
    ['Re: beta', 3, 100, 'Zoë 💌'],
    ['Alpha', 1, 300, ''],
    ['AW: Re[2]: gamma', 2, 200, 'anna'],
  ] as const;
  for (const [subject, at, size, fromName] of mails) {
    const of = { ...summary(subject, null, size), fromAddress: 'bob@remote.test', fromName };
    const flags = subject === 'Alpha' ? ['\\Seen', '\\Flagged'] : [];
    const message = { blob: blobOf(subject), summary: of, receivedAt: at, flags };
    await mailbox.ask('append', { folderId: 'archive', messages: [message] });
  }
  const sizes = async (of: object = {}) => {
    const { reply } = await mailbox.ask('list', { folder: 'archive', page: 1, pageSize: 10, ...of });
    return [reply!.items.map(({ sizeBytes }) => sizeBytes / 100), reply!.totalCount, reply!.unreadCount];
  };
  t.deepEqual(await sizes(), [[1, 2, 3], 3, 2]);
  t.deepEqual(await sizes({ sort: 'date' }), [[3, 2, 1], 3, 2]);
  t.deepEqual(await sizes({ sort: 'from' }), [[2, 3, 1], 3, 2], 'anna, bob@…, Zoë');
  t.deepEqual(await sizes({ sort: '-from' }), [[1, 3, 2], 3, 2]);
  t.deepEqual(await sizes({ sort: 'subject' }), [[3, 1, 2], 3, 2]);
  t.deepEqual(await sizes({ sort: '-size' }), [[3, 2, 1], 3, 2]);
  t.deepEqual(await sizes({ sort: 'size', page: 2, pageSize: 2 }), [[3], 3, 2]);
  t.deepEqual(await sizes({ isRead: false, sort: 'date' }), [[2, 1], 2, 2]);
  t.deepEqual(await sizes({ isFlagged: true }), [[3], 1, 0]);
  t.deepEqual(await sizes({ isRead: true, isFlagged: false }), [[], 0, 0]);
  t.deepEqual(await sizes({ isRead: false, fromAddress: 'BOB', page: 2, pageSize: 1 }), [[2], 2, 2]);
  t.deepEqual(await sizes({ sort: 'subject', isFlagged: false }), [[1, 2], 2, 2]);
  t.is((await mailbox.ask('list', { folder: 'label', page: 1, pageSize: 1 })).refusal, 'noSuchFolder');
});

test('paths have 20 levels and 1,000 characters, also of what a rename moves; 500 folders, 500 labels', async (t) => {
  const { world, mailbox } = await start();
  t.teardown(world.end);
  const create = (name: string, parentId: string | null = null) =>
    mailbox.ask('createFolder', { name, parentId, role: 'folder' });
  const deep = (await create(Array.from({ length: 19 }, () => 'x').join('/'))).reply!;
  t.is(deep.name, deep.path, 'nothing is above it');
  const deepest = (await create('x', deep.id)).reply!;
  t.is((await create('x', deepest.id)).refusal, 'nameTooLong');
  const other = (await create('other')).reply!;
  const into = (name: string) => mailbox.ask('renameFolder', { folderId: deep.id, name, parentId: other.id });
  t.is((await into(Array.from({ length: 19 }, () => 'x').join('/'))).refusal, 'nameTooLong', 'for what is below it');
  t.truthy((await into('x')).reply);
  t.is((await create('y'.repeat(1001))).refusal, 'nameTooLong');
  t.is((await create('outbox')).refusal, 'nameTaken');
  t.truthy((await create('outbox', other.id)).reply, 'below another it is free');
  const names = Array.from({ length: 500 }, (_, i) => `n${i}`);
  const outcomes = await Promise.all(names.map((name) => create(name)));
  t.deepEqual([...new Set(outcomes.map(({ refusal }) => refusal))], [undefined, 'tooMany']);
  t.truthy((await mailbox.ask('createLabel', { name: 'a label', color: '#000000', sortOrder: 0 })).reply);
  const inbox = (await mailbox.ask('folders', {})).reply!.folders[0]!;
  await mailbox.ask('subscribeFolder', { folderId: inbox.id, isSubscribed: false });
  world.reload();
  t.is((await mailbox.ask('folders', {})).reply!.folders[0]!.isSubscribed, false);
});

test('a folder whose superiors are missing keeps its name when it is changed by the name that is shown', async (t) => {
  const { world, mailbox } = await start();
  t.teardown(world.end);
  const label = await mailbox.ask('createLabel', { name: 'Or/ph/an', color: '#000000', sortOrder: 0 });
  const folderId = label.reply!.id;
  const shown = async () => (await mailbox.ask('folders', {})).reply!.folders.find(({ id }) => id === folderId)!;
  t.is((await shown()).name, 'Or/ph/an');
  const renamed = (name: string) => mailbox.ask('renameFolder', { folderId, name, isSubscribed: false });
  t.is((await renamed('Or/ph/ans')).refusal, 'nameHasSlash');
  t.is((await renamed('Or/ph/an')).refusal, undefined);
  t.like(await shown(), { name: 'Or/ph/an', isSubscribed: false });
  await mailbox.ask('createFolder', { name: 'Or', parentId: null, role: 'folder' });
  t.is((await shown()).name, 'ph/an');
  t.is((await renamed('ph/an')).refusal, undefined);
  t.is((await renamed('whole')).refusal, undefined);
  t.like(await shown(), { name: 'whole', path: 'Or/whole' });
});
