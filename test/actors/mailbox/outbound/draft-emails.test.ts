// Tests drafts and the emails in Drafts that stand for them: when either arrives, changes or goes, the other follows.
import type { ExecutionContext } from 'ava';
import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { checkDrafts, checkRows, mailboxWorld } from '../mailbox-world.js';
import { addressee, draftOf, logged, stored } from '../outbound-world.js';

async function worldOf(t: ExecutionContext) {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('zoe@example.test', 'Zoë 💌');
  const mailbox = world.mailboxes.of(accountId);
  const listed = async (folder: string) => {
    const { reply } = await mailbox.ask('list', { folder, page: 1, pageSize: 100 });
    return reply!.items.map(({ id, subject }) => ({ id, subject }));
  };
  const drafts = async () => {
    const { reply } = await mailbox.ask('outboundPage', { statuses: ['Draft'], page: 1, pageSize: 100 });
    t.is(reply!.totalCount, reply!.items.length);
    return reply!.items;
  };
  async function append(folderId: string, headers: readonly string[] = [], flags: readonly string[] = []) {
    const { blob, summary } = await stored(world, headers);
    const message = { blob, summary, receivedAt: 1, flags: [...flags] };
    return (await mailbox.ask('append', { folderId, messages: [message] })).reply!.emails[0]!;
  }
  return { world, accountId, mailbox, listed, drafts, append };
}

test('a draft is an email in Drafts; another one after a change, with its flags and labels; none once it is deleted', async (t) => {
  const { world, accountId, mailbox, listed, drafts } = await worldOf(t);
  const { id: outboundId } = (await mailbox.ask('createDraft', { draft: await draftOf(world, 'Zoë 💌') })).reply!;
  const [first] = await listed('drafts');
  t.is(first?.subject, 'Zoë 💌');
  const flagsOf = async (id: string) =>
    (await world.sql`select flags, keywords from emails where account_id = ${accountId} and id = ${id}`)[0];
  t.deepEqual({ ...(await flagsOf(first!.id)) }, { flags: 9, keywords: [] });

  const label = (await mailbox.ask('createLabel', { name: 'Work 💌', color: '#000000', sortOrder: 0 })).reply!.id;
  await mailbox.ask('assignLabel', { emailId: first!.id, labelId: label });
  const flagged = {
    selection: { emailIds: [first!.id] },
    mode: 'add' as const,
    flags: ['\\Flagged', '$Zo'],
  };
  t.is((await mailbox.ask('storeFlags', flagged)).reply?.changed, 1);
  const draft = await draftOf(world, 'Zoë 💌💌');
  const { reply } = await mailbox.ask('updateDraft', { outboundId, draft });
  const [second, ...others] = await listed('drafts');
  t.deepEqual([second?.subject, others], ['Zoë 💌💌', []]);
  t.not(second!.id, first!.id);
  t.deepEqual({ ...(await flagsOf(second!.id)) }, { flags: 13, keywords: ['$Zo'] });
  t.is(await flagsOf(first!.id), undefined);
  t.deepEqual(await listed(label), await listed('drafts'));
  t.like((await drafts())[0], { id: outboundId, updatedAt: reply!.updatedAt, blob: draft.message.blob });
  t.false('sentEmailId' in (await drafts())[0]!);
  await checkDrafts(world, t, accountId);

  await mailbox.ask('deleteDraft', { outboundId });
  t.deepEqual([await listed('drafts'), await listed(label), await drafts()], [[], [], []]);
  await checkRows(world, t, accountId);
});

test('a draft that is sent leaves Drafts in the commit that puts its copy into Sent', async (t) => {
  const { world, accountId, mailbox, listed, drafts } = await worldOf(t);
  const { id } = (await mailbox.ask('createDraft', { draft: await draftOf(world, 'Zoë 💌', ['a@one.test']) })).reply!;
  const { updatedAt } = (await drafts())[0]!;
  const { reply } = await mailbox.ask('enqueue', {
    ...(await stored(world)),
    draft: { id, updatedAt },
    sender: 'zoe@example.test',
    content: null,
    recipients: [addressee('a@one.test')],
  });
  t.deepEqual([await listed('drafts'), await drafts()], [[], []]);
  t.deepEqual(
    (await listed('sent')).map((email) => email.id),
    [reply!.sentEmailId],
  );
  const records = await world.events.read(accountId, 0, 1_000);
  const last = Math.max(...records.map(({ seq }) => seq));
  t.deepEqual(
    records.filter(({ seq }) => seq === last).map(({ type }) => type),
    ['EmailAdded', 'OutboundChanged', 'RecipientChanged', 'EmailRemoved'],
  );
  await checkDrafts(world, t, accountId);
});

test('what a mail program copies out of Drafts, or into it, stays as it is when the draft changes, is sent or deleted', async (t) => {
  const { world, accountId, mailbox, drafts, append } = await worldOf(t);
  const label = async (name: string) =>
    (await mailbox.ask('createLabel', { name, color: '#000000', sortOrder: 0 })).reply!.id;
  const [work, templates] = [await label('Work'), await label('Templates')];
  /** Returns folder, UID and message of each placement. */
  const placed = async (...folderIds: string[]) => {
    const rows = await world.sql`select f.name, p.uid::int, encode(e.blob, 'hex') as blob from placements p
      join folders f on f.account_id = p.account_id and f.id = p.folder_id
      join emails e on e.account_id = p.account_id and e.id = p.email_id
      where p.account_id = ${accountId} and (f.id::text in ${world.sql(folderIds)} or f.role in ${world.sql(folderIds)})
      order by f.name, p.uid`;
    return rows.map(({ name, uid, blob }) => [name, uid, blob] as const);
  };
  const all = (folderId: string) => ({ folderId, uids: [[1, 1_000]] as [number, number][] });
  const send = async ({ id, updatedAt }: { readonly id: string; readonly updatedAt: number }) =>
    mailbox.ask('enqueue', {
      ...(await stored(world)),
      draft: { id, updatedAt },
      sender: 'zoe@example.test',
      content: null,
      recipients: [addressee('a@one.test')],
    });

  const { id } = (await mailbox.ask('createDraft', { draft: await draftOf(world, 'one') })).reply!;
  for (const toFolderId of [work, 'archive', 'trash']) {
    t.is((await mailbox.ask('copy', { selection: all('drafts'), toFolderId })).reply?.count, 1);
  }
  const copies = await placed(work, 'archive', 'trash');
  t.is(copies.length, 3);
  world.reload();
  await mailbox.ask('updateDraft', { outboundId: id, draft: await draftOf(world, 'two') });
  t.deepEqual(await placed(work, 'archive', 'trash'), copies, 'after a change');
  t.is((await mailbox.ask('copy', { selection: all('drafts'), toFolderId: work })).reply?.count, 1);
  const more = await placed(work, 'archive', 'trash');
  t.is(more.length, 4);
  t.is((await send((await drafts())[0]!)).reply?.id, id);
  t.deepEqual(await placed(work, 'archive', 'trash'), more, 'after it was sent');

  // A template is copied from a label into Drafts, and another one is moved there, which also has a label.
  await append(templates);
  const both = await append('archive');
  await mailbox.ask('copy', { selection: all('archive'), toFolderId: templates });
  const before = await placed(templates);
  t.true(before.length >= 2);
  await mailbox.ask('copy', { selection: { folderId: templates, uids: [[1, 1]] }, toFolderId: 'drafts' });
  await mailbox.ask('move', { selection: { folderId: 'archive', uids: [[both.uid, both.uid]] }, toFolderId: 'drafts' });
  const [one, two] = await drafts();
  await mailbox.ask('updateDraft', { outboundId: one!.id, draft: await draftOf(world, 'changed') });
  t.truthy((await send((await drafts()).find((draft) => draft.id === one!.id)!)).reply);
  await mailbox.ask('deleteDraft', { outboundId: two!.id });
  t.deepEqual([await placed('drafts'), await placed(templates)], [[], before]);
  await checkDrafts(world, t, accountId);
  await checkRows(world, t, accountId);
});

test('the label of a draft goes on to the copy in Sent', async (t) => {
  const { world, accountId, mailbox, listed, drafts } = await worldOf(t);
  await mailbox.ask('createDraft', { draft: await draftOf(world, 'one') });
  const labelId = (await mailbox.ask('createLabel', { name: 'Work', color: '#000000', sortOrder: 0 })).reply!.id;
  await mailbox.ask('assignLabel', { emailId: (await listed('drafts'))[0]!.id, labelId });
  const { id, updatedAt } = (await drafts())[0]!;
  const { reply } = await mailbox.ask('enqueue', {
    ...(await stored(world)),
    draft: { id, updatedAt },
    sender: 'zoe@example.test',
    content: null,
    recipients: [addressee('a@one.test')],
  });
  const ids = async (folder: string) => (await listed(folder)).map((email) => email.id);
  t.deepEqual(
    [await ids('drafts'), await ids('sent'), await ids(labelId)],
    [[], [reply!.sentEmailId], [reply!.sentEmailId]],
  );
  await checkDrafts(world, t, accountId);
  await checkRows(world, t, accountId);
});

test('an email that a mail program puts into Drafts is a draft until it leaves Drafts', async (t) => {
  const { world, accountId, mailbox, listed, drafts, append } = await worldOf(t);
  const one = await append(
    'drafts',
    ['In-Reply-To: <parent@x>', 'References: <a@x> <parent@x>'],
    ['\\Draft', '\\Seen'],
  );
  const [draft] = await drafts();
  t.like(draft, { sender: 'me@example.test', inReplyTo: '<parent@x>', references: ['<a@x>', '<parent@x>'] });
  t.regex(draft!.subject, /^out \d+$/);
  // The draft is moved away and back; after the reload, the move back reads its row from the store.
  const selection = { emailIds: [one.emailId] };
  await mailbox.ask('move', { selection, toFolderId: 'trash' });
  t.deepEqual(await drafts(), []);
  t.is((await mailbox.ask('outbound', { outboundId: draft!.id })).refusal, 'noSuchOutbound');
  world.reload();
  await mailbox.ask('move', { selection, toFolderId: 'drafts' });
  const [back] = await drafts();
  t.like(back, { subject: draft!.subject, sender: draft!.sender, blob: draft!.blob!, size: draft!.size });
  t.not(back!.id, draft!.id);
  // A copy is the same email in two places.
  await mailbox.ask('copy', { selection, toFolderId: 'archive' });
  t.is((await drafts()).length, 1);

  // A draft that is deleted over REST stays in another folder; if it only has a label, it goes.
  await mailbox.ask('deleteDraft', { outboundId: back!.id });
  t.deepEqual([await listed('drafts'), (await listed('archive')).length], [[], 1]);
  await mailbox.ask('copy', { selection, toFolderId: 'drafts' });
  t.is((await drafts()).length, 1);
  await mailbox.ask('remove', { emailIds: [one.emailId] });
  t.deepEqual(await drafts(), []);

  const two = await append('drafts', [], ['\\Draft', '\\Deleted']);
  t.deepEqual(await drafts(), []);
  t.deepEqual((await mailbox.ask('expunge', { folderId: 'drafts' })).reply?.uids, [[two.uid, two.uid]]);
  t.deepEqual(await drafts(), []);
  await checkDrafts(world, t, accountId);
  await checkRows(world, t, accountId);
  const log = await logged(world, accountId, 'OutboundChanged', 'OutboundRemoved');
  t.deepEqual(
    log.map(([type]) => type),
    Array.from({ length: 4 }, () => ['OutboundChanged', 'OutboundRemoved']).flat(),
  );
});

test('a draft of a mail program is changed and sent over REST', async (t) => {
  const { world, accountId, mailbox, listed, drafts, append } = await worldOf(t);
  await append('drafts', ['To: Zoë 💌 <zoe@one.test>']);
  const { id: outboundId, updatedAt } = (await drafts())[0]!;
  t.is((await mailbox.ask('updateDraft', { outboundId, draft: await draftOf(world, 'changed') })).refusal, undefined);
  t.deepEqual(
    (await listed('drafts')).map(({ subject }) => subject),
    ['changed'],
  );
  const message = await stored(world);
  const send = (updatedAt: number) =>
    mailbox.ask('enqueue', {
      ...message,
      draft: { id: outboundId, updatedAt },
      sender: 'zoe@example.test',
      content: null,
      recipients: [addressee('zoe@one.test')],
    });
  t.is((await send(updatedAt)).refusal, 'draftChanged');
  t.is((await send((await drafts())[0]!.updatedAt)).reply?.id, outboundId);
  t.deepEqual([await listed('drafts'), await drafts()], [[], []]);
  await checkDrafts(world, t, accountId);
});

test('a copy in Sent that is put into Drafts as well is a draft of its own, and stays in Sent when that is deleted', async (t) => {
  const { world, accountId, mailbox, listed, drafts } = await worldOf(t);
  const { sentEmailId, id } = (
    await mailbox.ask('enqueue', {
      ...(await stored(world)),
      draft: null,
      sender: 'zoe@example.test',
      content: null,
      recipients: [addressee('a@one.test')],
    })
  ).reply!;
  await mailbox.ask('copy', { selection: { emailIds: [sentEmailId] }, toFolderId: 'drafts' });
  const [draft] = await drafts();
  t.not(draft!.id, id);
  const sent = (await mailbox.ask('list', { folder: 'sent', page: 1, pageSize: 10 })).reply!.items;
  t.deepEqual(
    sent.map(({ outboundId }) => outboundId),
    [id],
  );
  await mailbox.ask('deleteDraft', { outboundId: draft!.id });
  t.is((await mailbox.ask('outbound', { outboundId: id })).reply?.email.sentEmailId, sentEmailId);
  t.deepEqual([(await listed('sent')).length, await listed('drafts')], [1, []]);
  await checkDrafts(world, t, accountId);
});

test('of two windows that change the same version of a draft one is refused, in one commit too', async (t) => {
  const { world, mailbox, drafts } = await worldOf(t);
  const { id: outboundId } = (await mailbox.ask('createDraft', { draft: await draftOf(world, 'Zoë 💌') })).reply!;
  const { updatedAt } = (await drafts())[0]!;
  const [one, two] = [await draftOf(world, 'one'), await draftOf(world, 'two')];
  const [first, second, gone] = await Promise.all([
    mailbox.ask('updateDraft', { outboundId, draft: one, ifMatch: [1, updatedAt] }),
    mailbox.ask('updateDraft', { outboundId, draft: two, ifMatch: [updatedAt] }),
    mailbox.ask('deleteDraft', { outboundId, ifMatch: [updatedAt] }),
  ]);
  t.deepEqual([first.refusal, second.refusal, gone.refusal], [undefined, 'draftChanged', 'draftChanged']);
  t.is((await drafts())[0]?.subject, 'one');
  t.is((await mailbox.ask('deleteDraft', { outboundId, ifMatch: [] })).refusal, 'draftChanged');
  t.is((await mailbox.ask('deleteDraft', { outboundId, ifMatch: [first.reply!.updatedAt!] })).refusal, undefined);
});

test('1,000 emails in Drafts are drafts; what comes after them stays an email', async (t) => {
  const { world, mailbox, listed, drafts, append } = await worldOf(t);
  const message = { ...(await stored(world)), receivedAt: 1, flags: [] };
  const emailIds: string[] = [];
  for (let i = 0; i < 1_002; i += 167) {
    const messages = Array.from({ length: 167 }, () => message);
    const { reply } = await mailbox.ask('append', { folderId: 'archive', messages });
    for (const { emailId } of reply!.emails) emailIds.push(emailId);
  }
  const { reply } = await mailbox.ask('copy', { selection: { emailIds }, toFolderId: 'drafts' });
  t.is(reply?.count, 1_002);
  const count = async () =>
    (await mailbox.ask('outboundPage', { statuses: ['Draft'], page: 1, pageSize: 1 })).reply!.totalCount;
  t.is(await count(), 1_000);
  t.is((await mailbox.ask('createDraft', { draft: await draftOf(world, 'more') })).refusal, 'tooMany');
  await append('drafts');
  t.is(await count(), 1_000);
  world.reload();
  t.is(await count(), 1_000);
  await mailbox.ask('remove', { emailIds });
  t.deepEqual([await count(), (await listed('drafts')).length, await drafts()], [0, 1, []]);
});

test('an email whose row cannot be read comes into Drafts when the store is back; others are not kept waiting', async (t) => {
  const { world, accountId, mailbox, drafts, append } = await worldOf(t);
  const { emailId } = await append('archive');
  const { store } = world;
  const { summaries } = store;
  const down = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
  Object.assign(store, { summaries: down });
  const move = () => mailbox.ask('move', { selection: { emailIds: [emailId] }, toFolderId: 'drafts' });
  const [moved, made] = await Promise.allSettled([
    move(),
    mailbox.ask('createLabel', { name: 'L', color: '#000000', sortOrder: 0 }),
  ]);
  t.like(moved, { status: 'rejected', reason: { code: 'store-unavailable' } });
  t.is(made.status, 'fulfilled');
  Object.assign(store, { summaries });
  t.is((await move()).reply?.count, 1);
  t.is((await drafts()).length, 1);
  await checkDrafts(world, t, accountId);
});
