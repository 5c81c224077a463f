// Tests runs of filters over existing mail: what they change, once, whoever the owner is, and what an undo restores.
import { FLAGGED, SEEN } from '../../../../src/mail-format/flags.js';
import { newId } from '../../../../src/store/ids/new-id.js';
import { NO_RULE } from '../../../support/filter-row.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { checkRows, mailboxWorld } from '../mailbox-world.js';

async function setUp() {
  const world = await mailboxWorld();
  const { id: accountId } = await world.directory.createAccount('runs@example.test', 'x');
  const mailbox = world.mailboxes.of(accountId);
  const put = async (rule: object) => (await mailbox.ask('putFilter', { rule: { ...NO_RULE, ...rule } })).reply!.id;
  const folder = async (name: string) => (await mailbox.ask('createFolder', { name, role: 'folder' })).reply!.id;
  const label = async (name: string) =>
    (await mailbox.ask('createLabel', { name, color: '#808080', sortOrder: 0 })).reply!.id;
  const deliver = async (subject: string, body = 'hello') => {
    const [spooled] = await world.spool([accountId], 1, { subject, body });
    return (await spooled!.deliver()).reply!.emailId!;
  };
  const move = (emailId: string, toFolderId: string) =>
    mailbox.ask('move', { selection: { emailIds: [emailId] }, toFolderId });
  /** Folders, flags and keywords of each email. */
  const shown = async () => {
    const rows = await world.sql<{ id: string; names: string[]; flags: number; keywords: string[] }[]>`
      select e.id, e.flags, e.keywords, array_agg(f.name order by f.name) as names from emails e
      join placements p on p.account_id = e.account_id and p.email_id = e.id
      join folders f on f.account_id = p.account_id and f.id = p.folder_id group by e.account_id, e.id order by e.id`;
    return new Map(rows.map(({ id, names, flags, keywords }) => [id, { names, flags, keywords }]));
  };
  const start = async (filterId: string, folderId?: string) =>
    (await mailbox.ask('startFilterRun', { filterId, ...(folderId !== undefined && { folderId }) })).reply!.runId;
  /** Waits until the run has no work. */
  const ended = async (runId: string) => {
    const stateOf = async () => (await mailbox.ask('filterRun', { runId })).reply;
    let reply = await stateOf();
    await until(async () => {
      reply = await stateOf();
      return reply?.phase === 'done' || reply?.phase === 'undone';
    });
    return reply!;
  };
  const undone = async (runId: string) => {
    await mailbox.ask('undoFilterRun', { runId });
    return ended(runId);
  };
  return { world, accountId, mailbox, put, folder, label, deliver, move, shown, start, ended, undone };
}

test('a run changes what matches in its folders, and an undo restores all of it', async (t) => {
  const { world, accountId, mailbox, put, folder, label, deliver, move, shown, start, ended, undone } = await setUp();
  t.teardown(world.end);
  const [bills, money] = [await folder('Bills'), await label('Money')];
  const [plain, labelled, archived, read, sent, other] = [
    await deliver('invoice 1'),
    await deliver('invoice 2'),
    await deliver('invoice 3'),
    await deliver('invoice 4'),
    await deliver('invoice 5'),
    await deliver('holiday'),
  ];
  await mailbox.ask('assignLabel', { emailId: labelled, labelId: money });
  await move(archived, 'archive');
  await move(sent, 'sent');
  await mailbox.ask('setRead', { emailIds: [read], isRead: true });
  const before = await shown();
  const filterId = await put({
    ...{ isEnabled: false, matches: 'invoice \\d', moveToFolderId: bills, assignLabelId: money },
    ...{ markAsRead: true, flag: 'Paid' },
  });
  const runId = await start(filterId);
  t.like(await ended(runId), { matched: 4, changed: 4, total: 5 });
  const after = await shown();
  const changed = { names: ['Bills', 'Money'], flags: SEEN, keywords: ['Paid'] };
  for (const emailId of [plain, labelled, archived, read]) t.deepEqual(after.get(emailId), changed);
  for (const emailId of [sent, other]) t.deepEqual(after.get(emailId), before.get(emailId));
  t.like(await ended(await start(filterId)), { matched: 4, changed: 0 }, 'nothing is left to change');
  t.like(await undone(runId), { matched: 4, changed: 0 });
  t.deepEqual(await shown(), before);
  await checkRows(world, t, accountId);
});

test('over existing mail a filter that deletes moves to Trash; a folder bounds the run; labels come back', async (t) => {
  const { world, mailbox, put, label, deliver, move, shown, start, ended, undone } = await setUp();
  t.teardown(world.end);
  const money = await label('Money');
  const [one, archived] = [await deliver('spam'), await deliver('spam')];
  await mailbox.ask('assignLabel', { emailId: one, labelId: money });
  await move(archived, 'archive');
  const before = await shown();
  const runId = await start(await put({ subjectContains: 'SPAM', delete: true }), 'inbox');
  t.like(await ended(runId), { matched: 1, changed: 1, total: 1 });
  const after = await shown();
  t.deepEqual([after.get(one)?.names, after.get(archived)?.names], [['Trash'], ['Archive']]);
  await undone(runId);
  t.deepEqual(await shown(), before);
});

test('an undo leaves what somebody has changed since', async (t) => {
  const { world, accountId, mailbox, put, folder, label, deliver, move, shown, start, ended, undone } = await setUp();
  t.teardown(world.end);
  const [bills, money] = [await folder('Bills'), await label('Money')];
  const [moved, back, unread, unlabelled, deleted] = [
    await deliver('a'),
    await deliver('a'),
    await deliver('a'),
    await deliver('a'),
    await deliver('a'),
  ];
  const filterId = await put({
    ...{ subjectContains: 'a', moveToFolderId: bills, assignLabelId: money },
    ...{ markAsRead: true, flag: '\\Flagged' },
  });
  const runId = await start(filterId);
  await ended(runId);
  await move(moved, 'archive');
  await move(back, 'archive');
  await move(back, bills);
  await mailbox.ask('setRead', { emailIds: [unread], isRead: false });
  await mailbox.ask('unassignLabel', { emailId: unlabelled, labelId: money });
  await mailbox.ask('remove', { emailIds: [deleted] });
  t.like(await undone(runId), { changed: 0 });
  const after = await shown();
  t.deepEqual(after.get(moved), { names: ['Archive'], flags: 0, keywords: [] });
  t.deepEqual(after.get(back), { names: ['Bills'], flags: 0, keywords: [] });
  t.deepEqual(after.get(unread), { names: ['INBOX'], flags: 0, keywords: [] });
  t.deepEqual(after.get(unlabelled), { names: ['INBOX'], flags: 0, keywords: [] });
  t.false(after.has(deleted));
  await checkRows(world, t, accountId);
});

test('a run over many emails outlives its owner, touches each email once, and none that arrives later', async (t) => {
  const { world, accountId, mailbox, put, deliver, shown, start, ended, undone } = await setUp();
  t.teardown(world.end);
  const ids: string[] = [];
  for (let i = 0; i < 230; i++) ids.push(await deliver(i % 2 === 0 ? 'even' : 'odd'));
  const before = await shown();
  const filterId = await put({ subjectContains: 'even', flag: '\\Flagged' });
  let batches = 0;
  let late: Promise<string> | undefined;
  world.commit.by = async (change, commit) => {
    const isBatch = change.changes.some(({ type }) => type === 'FilterRunApplied');
    if (isBatch) late ??= deliver('even, late');
    const result = await commit();
    // The next command finds another owner.
    if (isBatch && ++batches <= 4) world.reload();
    return result;
  };
  const runId = await start(filterId);
  t.like(await ended(runId), { matched: 115, changed: 115, total: 230 });
  const after = await shown();
  const lateId = await late!;
  for (const [i, id] of ids.entries()) t.is(after.get(id)?.flags, i % 2 === 0 ? FLAGGED : 0);
  const flagged = (await world.events.read(accountId, 0, 10_000)).filter(({ type }) => type === 'FlagsChanged');
  t.is(flagged.length, 115, 'each email was changed once');
  t.true(batches >= 3);
  t.like(await undone(runId), { changed: 0 });
  const restored = await shown();
  restored.delete(lateId);
  t.deepEqual(restored, before);
  t.is((await mailbox.ask('filterRun', { runId: newId() })).refusal, 'noSuchRun');
});

test('a run that is undone before its end ends, and a store that fails only delays it', async (t) => {
  const { world, put, deliver, shown, start, ended, undone } = await setUp();
  t.teardown(world.end);
  for (let i = 0; i < 150; i++) await deliver('x', 'needle');
  const before = await shown();
  const filterId = await put({ bodyContains: 'needle', moveToFolderId: 'archive' });
  world.texts.longFault = Object.assign(new Error('the store is away'), { temporary: true });
  const runId = await start(filterId);
  t.like(await undone(runId), { phase: 'undone', matched: 0, changed: 0 });
  const again = await start(filterId);
  world.texts.longFault = undefined;
  t.like(await ended(again), { phase: 'done', matched: 150, changed: 150 });
  await undone(again);
  t.deepEqual(await shown(), before);
});

test('runs are bounded: three have work, ten are kept', async (t) => {
  const { world, accountId, mailbox, put, deliver, start, ended } = await setUp();
  t.teardown(world.end);
  const filterId = await put({ bodyContains: 'x', flag: '\\Flagged' });
  await deliver('x', 'x');
  world.texts.longFault = Object.assign(new Error('the store is away'), { temporary: true });
  const runs = [await start(filterId), await start(filterId), await start(filterId)];
  t.is((await mailbox.ask('startFilterRun', { filterId })).refusal, 'tooManyRuns');
  world.texts.longFault = undefined;
  for (const runId of runs) await ended(runId);
  for (let i = 0; i < 9; i++) await ended(await start(filterId));
  t.is((await mailbox.ask('filterRun', { runId: runs[0]! })).refusal, 'noSuchRun');
  t.is((await mailbox.ask('startFilterRun', { filterId: newId() })).refusal, 'noSuchFilter');
  t.is((await mailbox.ask('startFilterRun', { filterId, folderId: 'drafts' })).refusal, 'noSuchFolder');
  const [row] = await world.sql`
    select count(*)::int as runs, (select count(*)::int from filter_run_batches where account_id = ${accountId}) as batches
    from filter_runs where account_id = ${accountId}`;
  t.deepEqual({ ...row }, { runs: 10, batches: 0 }, 'the batches of removed runs are gone');
});
