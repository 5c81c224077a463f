// Tests emails that arrive where they have a placement marked `\Deleted`: by a label, a move, the end of a label, the inbox
// renamed.
import type { ExecutionContext } from 'ava';
import test from '../../../support/test.js';
import { start } from '../command-world.js';
import { checkDrafts, checkRows } from '../mailbox-world.js';

const ALL: [number, number][] = [[1, 4_294_967_295]];

async function started(t: ExecutionContext) {
  const started = await start();
  const { account, mailbox, append, world } = started;
  t.teardown(world.end);
  const uidsIn = async (folder: string) => {
    const rows = await world.sql`
      select p.uid::int as uid, p.deleted from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where p.account_id = ${account.id} and (f.role = ${folder} or f.id::text = ${folder}) order by p.uid`;
    return rows.map((row) => (row['deleted'] ? -row['uid'] : row['uid']));
  };
  return {
    ...started,
    uidsIn,
    add: async (folder: string) => (await append(folder, 'a')).reply!.emails[0]!.emailId,
    label: async (name: string) => (await mailbox.ask('createFolder', { name, role: 'label' })).reply!.id,
    mark: (folderId: string) =>
      mailbox.ask('storeFlags', { selection: { folderId, uids: ALL }, mode: 'add', flags: ['\\Deleted'] }),
    check: async () => {
      await checkRows(world, t, account.id);
      await checkDrafts(world, t, account.id);
    },
  };
}

test('a label or a move over REST ends the placement that is marked, and changes nothing where it is not', async (t) => {
  const { mailbox, add, label, mark, uidsIn, check } = await started(t);
  const emailId = await add('inbox');
  const labelId = await label('L');
  await mailbox.ask('assignLabel', { emailId, labelId });
  await mailbox.ask('assignLabel', { emailId, labelId });
  t.deepEqual(await uidsIn(labelId), [1]);
  await mark(labelId);
  await mailbox.ask('assignLabel', { emailId, labelId });
  t.deepEqual(await uidsIn(labelId), [2]);
  const move = (toFolderId: string) => mailbox.ask('move', { selection: { emailIds: [emailId] }, toFolderId });
  t.is((await move('archive')).reply?.count, 1);
  t.is((await move('archive')).reply?.count, 0);
  await mark('archive');
  t.is((await move('archive')).reply?.count, 1);
  t.deepEqual(await uidsIn('archive'), [2]);
  await mailbox.ask('expunge', { folderId: 'archive' });
  t.deepEqual(await uidsIn('archive'), [2]);
  await check();
});

test('what a label or folder alone kept goes to Archive when the others have it marked', async (t) => {
  const { mailbox, add, label, mark, uidsIn, check } = await started(t);
  const [first, second] = [await add('inbox'), await add('inbox')];
  const [labelId, other] = [await label('L'), await label('M')];
  await mailbox.ask('assignLabel', { emailId: first, labelId });
  await mailbox.ask('assignLabel', { emailId: second, labelId: other });
  await mailbox.ask('copy', { selection: { emailIds: [second] }, toFolderId: 'archive' });
  await mark('inbox');
  await mark('archive');
  await mailbox.ask('deleteLabel', { labelId });
  t.deepEqual(await uidsIn('archive'), [-1, 2]);
  await mailbox.ask('unassignLabel', { emailId: second, labelId: other });
  t.deepEqual(await uidsIn('archive'), [2, 3]);
  await mailbox.ask('expunge', { folderId: 'inbox' });
  t.deepEqual(await uidsIn('archive'), [2, 3]);
  const again = await label('N');
  await mailbox.ask('assignLabel', { emailId: first, labelId: again });
  await mark('archive');
  await mailbox.ask('deleteFolder', { folderId: again, withInferiors: false });
  t.deepEqual(await uidsIn('archive'), [-3, 4]);
  await check();
});

test('a draft stays the same draft where its email arrives in Drafts again', async (t) => {
  const { account, mailbox, label, mark, uidsIn, world, check } = await started(t);
  const draft = { sender: '', subject: 's', content: { textBody: 'kept', htmlBody: null }, recipients: [] };
  const { blob } = (await world.spool([account.id], 1))[0]!;
  await world.sql`delete from inbound`;
  const [row] = await world.sql`select size::int as size from blobs where hash = ${Buffer.from(blob, 'hex')}`;
  const summary = {
    ...{ messageId: null, inReplyTo: null, references: [], fromAddress: '', fromName: '', subject: 's', preview: '' },
    ...{ size: row!['size'] as number, hasAttachments: false, attachmentCount: 0 },
  };
  const message = { blob, size: summary.size, summary };
  const { id } = (await mailbox.ask('createDraft', { draft: { ...draft, message } })).reply!;
  const labelId = await label('L');
  const [email] = await world.sql<{ id: string }[]>`select id from emails where account_id = ${account.id}`;
  await mailbox.ask('assignLabel', { emailId: email!.id, labelId });
  await mark('drafts');
  await mailbox.ask('move', { selection: { folderId: labelId, uids: ALL }, toFolderId: 'drafts' });
  t.deepEqual(await uidsIn('drafts'), [2]);
  const { reply } = await mailbox.ask('outbound', { outboundId: id });
  t.is(reply?.content?.textBody, 'kept');
  await mailbox.ask('copy', { selection: { folderId: 'drafts', uids: ALL }, toFolderId: 'drafts' });
  t.deepEqual(await uidsIn('drafts'), [2, 3]);
  const [drafts] = await world.sql`select count(*)::int as count from outbound where account_id = ${account.id}`;
  t.is(drafts!['count'], 2);
  await check();
});

test('flags that are written later go with the email that arrives, and with the one that is made of it', async (t) => {
  const { account, mailbox, append, world, uidsIn } = await started(t);
  for (let i = 0; i < 3; i++) {
    await Promise.all(Array.from({ length: 100 }, (_, n) => append('inbox', `${i} ${n}`)));
  }
  const inInbox = { folderId: 'inbox', uids: ALL };
  const store = (flags: string[]) => mailbox.ask('storeFlags', { selection: inInbox, mode: 'add', flags });
  const copied = () =>
    mailbox.ask('copy', { selection: { folderId: 'inbox', uids: [[1, 250]] }, toFolderId: 'archive' });
  await Promise.all([store(['\\Flagged']), copied(), store(['\\Seen']), copied()]);
  await store(['\\Answered']);
  await mailbox.ask('storeFlags', {
    selection: { folderId: 'archive', uids: [[1, 100]] },
    mode: 'add',
    flags: ['\\Deleted'],
  });
  const { reply } = await copied();
  t.is(reply?.count, 250);
  world.reload();
  t.is((await uidsIn('archive')).length, 650);
  const { reply: page } = await mailbox.ask('folderChanges', { folderId: 'archive', since: null });
  const flags = Buffer.from(page!.flags, 'base64');
  const bits = Array.from({ length: 650 }, (_, i) => flags.readUInt16LE(i * 2));
  t.deepEqual(
    [...new Set(bits)],
    [7, 5].filter((each) => bits.includes(each)),
  );
  t.is(bits.filter((each) => each === 7).length, 400);
  const [emails] = await world.sql`select count(*)::int as count from emails where account_id = ${account.id}`;
  t.is(emails!['count'], 300 + 250 + 150);
});

test('more than 1,000 emails are not made by one command: COPY is refused, MOVE and RENAME of the inbox take some', async (t) => {
  const { account, mailbox, world, append, label, uidsIn, check } = await started(t);
  for (let i = 0; i < 1_001; i += 143) {
    await Promise.all(Array.from({ length: 143 }, (_, n) => append('archive', `${i} ${n}`)));
  }
  const copied = (last: number) =>
    mailbox.ask('copy', { selection: { folderId: 'archive', uids: [[1, last]] }, toFolderId: 'archive' });
  t.is((await copied(1_001)).refusal, 'tooManyEmails');
  const first = [[1, 1_001]] as [number, number][];
  const inArchive = { folderId: 'archive', uids: first };
  t.is((await mailbox.ask('copy', { selection: inArchive, toFolderId: 'inbox' })).reply?.count, 1_001);
  t.is((await copied(1_000)).reply?.count, 1_000);
  const labelId = await label('L');
  for (const toFolderId of [labelId, 'sent']) await mailbox.ask('copy', { selection: inArchive, toFolderId });
  // Placements that are marked there do not count.
  await mailbox.ask('storeFlags', {
    selection: { folderId: labelId, uids: [[1, 1]] },
    mode: 'add',
    flags: ['\\Deleted'],
  });
  t.is((await mailbox.ask('move', { selection: inArchive, toFolderId: labelId })).reply?.count, 1_001);
  const moved = () => mailbox.ask('move', { selection: { folderId: 'sent', uids: ALL }, toFolderId: labelId });
  const { reply } = await moved();
  t.like(reply, { count: 1_000, isComplete: false, from: [[1, 1_000]] });
  t.deepEqual(await uidsIn('sent'), [1_001]);
  t.like((await moved()).reply, { count: 1, isComplete: true, from: [[1_001, 1_001]] });
  t.is((await uidsIn(labelId)).length, 3_002);
  const renamed = () => mailbox.ask('renameInbox', { name: 'unused', folderId: labelId });
  t.deepEqual((await renamed()).reply, { folderId: labelId, isComplete: false });
  t.deepEqual((await renamed()).reply, { folderId: labelId, isComplete: true });
  t.is((await uidsIn('inbox')).length, 0);
  t.is((await uidsIn(labelId)).length, 4_003);
  const [emails] = await world.sql`select count(*)::int as count from emails where account_id = ${account.id}`;
  t.is(emails!['count'], 1_001 + 1_000 + 1_000 + 1_001 + 1_001);
  await check();
});

test('below Trash and Junk a folder or label that is deleted takes along the mail that is nowhere else', async (t) => {
  const { account, mailbox, add, mark, world, uidsIn, check } = await started(t);
  const made = async (name: string, role: 'label' | 'folder') =>
    (await mailbox.ask('createFolder', { name, role })).reply!.id;
  for (const [bin, role] of [
    ['Trash', 'label'],
    ['Junk', 'folder'],
  ] as const) {
    const [id, below] = [await made(`${bin}/old`, role), await made(`${bin}/old/older`, role)];
    const [kept, marked] = [await add(id), await add(id)];
    await add(id);
    await add(below);
    await mailbox.ask('copy', { selection: { emailIds: [kept] }, toFolderId: 'inbox' });
    await mailbox.ask('copy', { selection: { emailIds: [marked] }, toFolderId: 'sent' });
    await mark('sent');
    await mailbox.ask('deleteFolder', { folderId: id, withInferiors: true });
    t.is((await uidsIn('archive')).length, 0);
    const rows = await world.sql`select id::text from emails where account_id = ${account.id}`;
    t.deepEqual(rows.map((row) => row['id']).sort(), [kept, marked].sort(), 'also where the other placement is marked');
    await mailbox.ask('remove', { emailIds: [kept] });
    await mailbox.ask('expunge', { folderId: 'sent' });
  }
  const elsewhere = await made('Trashy', 'folder');
  await add(elsewhere);
  await mailbox.ask('deleteFolder', { folderId: elsewhere, withInferiors: true });
  t.is((await uidsIn('archive')).length, 1);
  await check();
});
