// Tests copies in Sent that submission made, and the client's own, appended, copied or moved into Sent, that replace them.
import { createHash, randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import test from '../../../support/test.js';
import { start, summary } from '../command-world.js';
import { checkRows } from '../mailbox-world.js';
import { addressee, stored } from '../outbound-world.js';

const ALL: [number, number][] = [[1, 4_294_967_295]];

async function started(t: ExecutionContext) {
  const { world, account, mailbox } = await start();
  t.teardown(world.end);
  const outgoing = { draft: null, sender: 'me@example.test', content: null, recipients: [addressee('a@remote.test')] };
  let number = 0;
  const message = (messageId: string | null, flags: string[] = []) => ({
    blob: createHash('sha256').update(String(number++)).digest('hex'),
    summary: summary(`own ${number}`, messageId),
    receivedAt: 1,
    flags,
  });
  const submit = async (isSubmission = true) => {
    const { reply } = await mailbox.ask('enqueue', { ...outgoing, ...(await stored(world)), isSubmission });
    const [row] = await world.sql`select message_id as id from emails where id = ${reply!.sentEmailId}`;
    return { ...reply!, messageId: row!['id'] as string };
  };
  const append = async (folderId: string, messageId: string | null, flags: string[] = []) => {
    const { reply } = await mailbox.ask('append', { folderId, messages: [message(messageId, flags)] });
    return reply!.emails[0]!;
  };
  /** Returns the email's UID in each folder, negative where it is marked. */
  const places = async (emailId: string) => {
    const rows = await world.sql`
      select f.name, p.uid::int as uid, p.deleted from placements p
      join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where p.account_id = ${account.id} and p.email_id = ${emailId}`;
    return Object.fromEntries(rows.map((row) => [row['name'], row['deleted'] ? -row['uid'] : row['uid']]));
  };
  const sentEmailOf = async (outboundId: string) =>
    (await mailbox.ask('outbound', { outboundId })).reply?.email.sentEmailId;
  return {
    ...{ world, account, mailbox, outgoing, message, submit, append, places, sentEmailOf },
    check: async () => {
      await checkRows(world, t, account.id);
    },
  };
}

test('a message appended to Sent takes the place of the copy that submission made, once, and is what the client sent', async (t) => {
  const { world, account, mailbox, submit, append, places, sentEmailOf, check } = await started(t);
  for (const isLoaded of [true, false]) {
    const { id, sentEmailId, messageId } = await submit();
    const name = `Work ${isLoaded}`;
    const label = (await mailbox.ask('createFolder', { name, role: 'label' })).reply!;
    await mailbox.ask('assignLabel', { emailId: sentEmailId, labelId: label.id });
    await mailbox.ask('copy', { selection: { emailIds: [sentEmailId] }, toFolderId: 'archive' });
    const archived = (await places(sentEmailId))['Archive']!;
    const inArchive = { folderId: 'archive', uids: [[archived, archived]] as [number, number][] };
    await mailbox.ask('storeFlags', { selection: inArchive, mode: 'add', flags: ['\\Deleted'] });
    if (!isLoaded) {
      await world.sql`update outbound set status = 'Sent', machine = null where id = ${id}`;
      world.reload();
    }
    const commits = world.commits.length;
    const { emailId, uid } = await append('sent', messageId, ['\\Flagged', 'mine']);
    t.is(world.commits.length, commits + 1);
    t.deepEqual(await places(sentEmailId), {});
    t.deepEqual(await places(emailId), { Sent: uid, [name]: 2, Archive: -(archived + 1) });
    t.is(await sentEmailOf(id), emailId);
    const item = (await mailbox.ask('list', { folder: 'sent', page: 1, pageSize: 10 })).reply?.items[0];
    t.like(item, { id: emailId, outboundId: id, isFlagged: true });
    world.reload();
    const second = await append('sent', messageId);
    t.is(second.uid, uid + 1);
    t.deepEqual(Object.keys(await places(emailId)).length, 3, 'the client has two copies then');
    const [row] = await world.sql`select flags::int as flags, keywords from emails where id = ${emailId}`;
    t.deepEqual([row!['flags'], row!['keywords']], [4, ['mine']]);
  }
  t.is((await world.sql`select from emails where account_id = ${account.id}`).length, 4);
  await check();
});

test('nothing else is replaced', async (t) => {
  const { world, account, mailbox, submit, append, places, check } = await started(t);
  const byRest = await submit(false);
  const elsewhere = await submit();
  await mailbox.ask('move', { selection: { emailIds: [elsewhere.sentEmailId] }, toFolderId: 'archive' });
  const old = await submit();
  await world.sql`update emails set received_at = received_at - interval '25 hours' where id = ${old.sentEmailId}`;
  const own = await append('sent', '<own@x>');
  world.reload();
  for (const messageId of [byRest.messageId, elsewhere.messageId, old.messageId, '<own@x>', null]) {
    await append('sent', messageId);
  }
  const submitted = await submit();
  await append('inbox', submitted.messageId);
  for (const { sentEmailId } of [byRest, elsewhere, old, submitted]) {
    t.is(Object.keys(await places(sentEmailId)).length, 1);
  }
  t.is((await places(own.emailId))['Sent'], own.uid);
  t.is((await world.sql`select from emails where account_id = ${account.id}`).length, 11);
  await check();
});

test('commands that share a commit replace the copy once', async (t) => {
  const { world, account, mailbox, outgoing, message, places, sentEmailOf, check } = await started(t);
  const { blob, summary: written } = await stored(world);
  const appended = () =>
    mailbox.ask('append', { folderId: 'sent', messages: [message(written.messageId), message(written.messageId)] });
  const [queued, first, second] = await Promise.all([
    mailbox.ask('enqueue', { ...outgoing, blob, summary: written, isSubmission: true }),
    appended(),
    appended(),
  ]);
  t.deepEqual(await places(queued.reply!.sentEmailId), {});
  const emails = [...first.reply!.emails, ...second.reply!.emails];
  t.deepEqual(
    emails.map(({ uid }) => uid),
    [2, 3, 4, 5],
  );
  t.is(await sentEmailOf(queued.reply!.id), emails[0]!.emailId);
  t.is((await world.sql`select from emails where account_id = ${account.id}`).length, 4);
  await check();
});

test('REPLACE of the copy by the message of the client is one replacement', async (t) => {
  const { mailbox, message, submit, places, sentEmailOf, append, check } = await started(t);
  const { id, sentEmailId, messageId } = await submit();
  const { Sent: uid } = await places(sentEmailId);
  const replaces = { folderId: 'sent', uid: uid! };
  const { reply } = await mailbox.ask('append', { folderId: 'sent', messages: [message(messageId)], replaces });
  t.deepEqual([await places(sentEmailId), await sentEmailOf(id)], [{}, reply!.emails[0]!.emailId]);
  const draft = await append('drafts', '<d@x>');
  const other = await submit();
  const inDrafts = { folderId: 'drafts', uid: draft.uid };
  const sent = await mailbox.ask('append', {
    folderId: 'sent',
    messages: [message(other.messageId)],
    replaces: inDrafts,
  });
  t.deepEqual([await places(draft.emailId), await places(other.sentEmailId)], [{}, {}]);
  t.deepEqual(await places(sent.reply!.emails[0]!.emailId), { Sent: 4 });
  await check();
});

test('a message that a client appended elsewhere and copies or moves into Sent takes the place of the copy', async (t) => {
  const { world, mailbox, submit, append, places, sentEmailOf, check } = await started(t);
  const queue = (await mailbox.ask('createFolder', { name: 'Queue', role: 'folder' })).reply!.id;
  for (const name of ['copy', 'move'] as const) {
    const own = await append(queue, `<${randomUUID()}@x>`);
    const { id, sentEmailId, messageId } = await submit();
    await world.sql`update emails set message_id = ${messageId} where id = ${own.emailId}`;
    world.reload();
    const other = await append(queue, messageId);
    const selection = { folderId: queue, uids: ALL };
    const { reply } = await mailbox.ask(name, { selection, toFolderId: 'sent' });
    t.is(reply?.count, 2);
    t.deepEqual(await places(sentEmailId), {});
    const { Sent: uid, Queue: before } = await places(own.emailId);
    t.deepEqual([uid, before], [reply!.to[0]![0], name === 'copy' ? own.uid : undefined]);
    t.is((await places(other.emailId))['Sent'], uid! + 1);
    t.is(await sentEmailOf(id), own.emailId);
    await mailbox.ask('remove', { emailIds: [own.emailId, other.emailId] });
  }
  await check();
});

test('mail that came, and moves over REST, replace nothing', async (t) => {
  const { world, account, mailbox, submit, append, places, sentEmailOf, check } = await started(t);
  const { id, sentEmailId, messageId } = await submit();
  const [mail] = await world.spool([account.id], 1, { messageId });
  const { reply: delivered } = await mail!.deliver();
  await mailbox.ask('copy', { selection: { folderId: 'inbox', uids: ALL }, toFolderId: 'sent' });
  await mailbox.ask('move', { selection: { folderId: 'inbox', uids: ALL }, toFolderId: 'sent' });
  const own = await append('archive', messageId);
  await mailbox.ask('move', { selection: { emailIds: [own.emailId] }, toFolderId: 'sent' });
  const { Sent: uid } = await places(sentEmailId);
  t.truthy(uid);
  t.truthy((await places(delivered!.emailId!))['Sent']);
  // A copy of the submitted copy does not count as one that submission made.
  await mailbox.ask('copy', { selection: { folderId: 'sent', uids: [[uid!, uid!]] }, toFolderId: 'sent' });
  await append('sent', messageId);
  await append('sent', messageId);
  t.deepEqual(await places(sentEmailId), {});
  const { reply } = await mailbox.ask('folderStatus', { folderIds: ['sent'] });
  t.is(reply?.folders[0]?.total, 6);
  t.truthy(await sentEmailOf(id));
  await check();
});
