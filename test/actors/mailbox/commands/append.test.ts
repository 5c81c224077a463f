// Tests special cases of append: many messages, a message that replaces another, save dates, what clients hear.
import { randomUUID } from 'node:crypto';
import { uuidTime } from '../../../../src/mail-format/ids.js';
import test from '../../../support/test.js';
import { blobOf, start, summary } from '../command-world.js';

test('messages are appended together or not at all, in the order of their UIDs', async (t) => {
  const { world, account, mailbox } = await start();
  t.teardown(world.end);
  const message = (subject: string, flags: string[] = [], id: string | null = null) => ({
    blob: blobOf(subject),
    summary: summary(subject, id),
    receivedAt: Date.now(),
    flags,
  });
  const keywords = (from: number) => Array.from({ length: 150 }, (_, i) => `k${from + i}`);
  const append = (folderId: string, messages: ReturnType<typeof message>[]) =>
    mailbox.ask('append', { folderId, messages });
  t.is((await append('archive', [message('a'), message('b', ['\\Bad'])])).refusal, 'noSuchFlag');
  t.is((await append('archive', [message('a', keywords(0)), message('b', keywords(100))])).refusal, 'tooManyKeywords');
  t.is(world.commits.length, 0);
  const { reply } = await append('archive', [message('a', ['Work', '\\Seen']), message('b', ['WORK', '\\Deleted'])]);
  t.deepEqual(
    reply?.emails.map(({ uid }) => uid),
    [1, 2],
  );
  t.is(world.commits.length, 1);
  const rows = await world.sql`
    select e.id, keywords, flags::int as flags, deleted from emails e join placements p on p.email_id = e.id
    where e.account_id = ${account.id} order by uid`;
  t.deepEqual(
    rows.map((row) => [row['id'], row['keywords'], row['flags'], row['deleted']]),
    [
      [reply?.emails[0]?.emailId, ['Work'], 1, false],
      [reply?.emails[1]?.emailId, ['Work'], 0, true],
    ],
  );
  const sent = await append('sent', [message('c', [], '<c@x>'), message('c', [], '<c@x>')]);
  t.is(new Set(sent.reply?.emails.map(({ emailId }) => emailId)).size, 2, 'two of one Message-Id');
  const { refusal } = await mailbox.ask('append', { folderId: 'nowhere', messages: [message('d')] });
  t.is(refusal, 'noSuchFolder');
});

test('a message replaces another in the commit that adds it', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  const { reply: before } = await append('archive', 'a');
  const [{ emailId } = { emailId: '' }] = before!.emails;
  await mailbox.ask('copy', { selection: { emailIds: [emailId] }, toFolderId: 'trash' });
  const commits = world.commits.length;
  const replace = (folderId: string, from: string, uid: number, id: string | null = null) => {
    const message = { blob: blobOf(randomUUID()), summary: summary('b', id), receivedAt: Date.now(), flags: [] };
    return mailbox.ask('append', { folderId, messages: [message], replaces: { folderId: from, uid } });
  };
  t.is((await replace('archive', 'archive', 2)).refusal, 'noSuchEmail');
  t.is((await replace('archive', randomUUID(), 1)).refusal, 'noSuchEmail');
  t.is((await replace('nowhere', 'archive', 1)).refusal, 'noSuchFolder');
  const { reply } = await replace('archive', 'archive', 1);
  t.is(reply?.emails[0]?.uid, 2);
  t.is(world.commits.length, commits + 1);
  const places = async () =>
    (
      await world.sql`
        select f.role, p.uid::int as uid from placements p join folders f on f.id = p.folder_id
        where p.account_id = ${account.id} order by role, uid`
    ).map((row) => `${row['role']} ${row['uid']}`);
  t.deepEqual(await places(), ['archive 2', 'trash 1'], 'in other folders the email stays');
  t.is((await replace('inbox', 'trash', 1)).reply?.emails[0]?.uid, 1);
  t.deepEqual(await places(), ['archive 2', 'inbox 1']);
  const [gone] = await world.sql`select count(*)::int as count from emails where id = ${emailId}`;
  t.is(gone!['count'], 0, 'it had no other place');
  t.is((await replace('archive', 'archive', 1)).refusal, 'noSuchEmail', 'it was replaced before');
  const sent = await append('sent', 'c', { id: '<c@x>' });
  t.not((await replace('sent', 'inbox', 1, '<c@x>')).reply?.emails[0]?.emailId, sent.reply?.emails[0]?.emailId);
  t.deepEqual(await places(), ['archive 2', 'sent 1', 'sent 2']);
});

test('an email that came into a folder later than into the account has a save date there', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  const emailIds = [(await append('inbox', 'a')).reply!.emails[0]!.emailId];
  const [first] = await world.sql`select saved_at from placements where account_id = ${account.id}`;
  t.is(first!['saved_at'], null);
  // The copy is made at least a millisecond later than the email.
  while (Date.now() <= uuidTime(emailIds[0]!)) await mailbox.ask('folders', {});
  await mailbox.ask('copy', { selection: { emailIds }, toFolderId: 'archive' });
  await mailbox.ask('move', { selection: { emailIds }, toFolderId: 'trash', fromFolderId: 'inbox' });
  const rows = await world.sql`
    select f.role, p.saved_at = e.at as "isOfLog" from placements p join folders f on f.id = p.folder_id
    join events e on e.account_id = p.account_id and e.seq = p.modseq where p.account_id = ${account.id} order by p.modseq`;
  t.deepEqual(
    rows.map((row) => [row['role'], row['isOfLog']]),
    [
      ['archive', true],
      ['trash', true],
    ],
  );
});

test('new mail is told of when it is appended to the inbox alone', async (t) => {
  const { world, append, types } = await start();
  t.teardown(world.end);
  await append('archive', 'a');
  await append('inbox', 'b', { flags: ['\\Seen'] });
  await append('inbox', 'c');
  const isNew = (await types())
    .filter(([type]) => type === 'EmailAdded')
    .map(([, payload]) => (payload as { isNew: boolean }).isNew);
  t.deepEqual(isNew, [false, true, true]);
  t.deepEqual(
    (await types()).filter(([type]) => type === 'UnreadCountChanged').map(([, payload]) => payload),
    [{ unread: 1 }],
  );
});

test('no UID above 2^32 - 2 is given: the command fails, others of its commit do not, and the mailbox can be loaded', async (t) => {
  const { world, account, mailbox, append } = await start();
  t.teardown(world.end);
  await append('archive', 'a');
  await world.sql`update folders set uidnext = 4294967294 where account_id = ${account.id} and role = 'archive'`;
  world.reload();
  t.is((await append('archive', 'b')).reply?.emails[0]?.uid, 4_294_967_294);
  const results = await Promise.allSettled([append('archive', 'c'), append('inbox', 'd'), append('archive', 'e')]);
  t.deepEqual(
    results.map((result) => (result.status === 'rejected' ? result.reason.code : result.value.reply?.emails[0]?.uid)),
    ['no-uid-left', 1, 'no-uid-left'],
  );
  const { reply: made } = await mailbox.ask('createFolder', { name: 'L', role: 'label' });
  await mailbox.ask('copy', { selection: { folderId: 'inbox', uids: [[1, 1]] }, toFolderId: made!.id });
  await mailbox.ask('storeFlags', {
    selection: { folderId: 'inbox', uids: [[1, 1]] },
    mode: 'add',
    flags: ['\\Deleted'],
  });
  await t.throwsAsync(mailbox.ask('deleteLabel', { labelId: made!.id }), { code: 'no-uid-left' });
  world.reload();
  const { reply } = await mailbox.ask('folderStatus', {});
  t.deepEqual(
    reply?.folders.filter(({ total }) => total > 0).map(({ path, total, uidNext }) => [path, total, uidNext]),
    [
      ['INBOX', 1, 2],
      ['Archive', 2, 4_294_967_295],
      ['L', 1, 2],
    ],
  );
});
