// Tests what narrows a search besides words anywhere: fields of the header, size, labels, and whether Trash and Junk are searched.
import { randomUUID } from 'node:crypto';
import { uuidText } from '../../../../src/mail-format/ids.js';
import { type SearchField, type SearchTerm, searchTerms } from '../../../../src/mail-format/words/search-text.js';
import test from '../../../support/test.js';
import { setUp } from './search-world.js';

const ownTerm = ({ words, prefix }: SearchTerm) => ({ words: [...words], prefix });

test('terms of a field are found in this field alone, in emails that have just come too', async (t) => {
  const { account, deliver, found, mailbox, reload } = await setUp(t);
  const id = await account();
  const other = await account();
  await deliver(other, { subject: 'foreign', from: 'zoe@a.test' });
  await deliver(id, { subject: 'by her', from: 'zoe@a.test', name: 'Zoë Ünal', body: 'bob' });
  await deliver(id, { subject: 'to her', recipients: 'Zoë Ünal zoe@a.test', to: 'Zoë Ünal <zoe@a.test>' });
  await deliver(id, { subject: 'copied', recipients: 'bob@b.test zoe@a.test', to: 'bob@b.test', cc: 'zoe@a.test' });
  await deliver(id, { subject: 'zoe is told', from: 'carl@c.test', body: 'zoe zoe' });
  const by = (field: SearchField, query: string) => [{ field, terms: searchTerms(query).map(ownTerm) }];
  for (const owner of ['the same', 'another']) {
    t.deepEqual(await found(id, '', { fields: by('from', 'zoe') }), ['by her'], owner);
    t.deepEqual(await found(id, 'bob', { fields: by('from', 'zo') }), ['by her']);
    t.deepEqual(await found(id, 'carl', { fields: by('from', 'zoe') }), []);
    t.deepEqual(await found(id, '', { fields: by('to', '"zoe unal"') }), ['to her']);
    t.deepEqual(await found(id, '', { fields: by('to', 'zoe@a') }), ['to her']);
    t.deepEqual(await found(id, '', { fields: by('cc', 'zoe') }), ['copied']);
    t.deepEqual(await found(id, '', { fields: [...by('to', 'bob'), ...by('cc', 'zoe')] }), ['copied']);
    t.deepEqual(await found(id, '', { fields: by('subject', 'zoe') }), ['zoe is told']);
    reload();
  }
  await deliver(id, { subject: 'by her again', from: 'zoe@a.test' });
  await deliver(id, { subject: 'her name', from: 'bob@b.test', body: 'zoe' });
  t.deepEqual(await found(id, '', { fields: by('from', 'zoe') }), ['by her again', 'by her']);
  const search = { terms: [], fields: by('from', 'zoe'), page: 1, pageSize: 10 };
  const { reply } = await mailbox(id).ask('lists', { lists: [{ query: { search } }], emailIds: [] });
  t.is(reply!.lists[0]!.state!.totalCount, 2);
});

test('size and labels narrow what is found, and trash and junk are searched when they are asked for', async (t) => {
  const { account, deliver, found, mailbox } = await setUp(t);
  const id = await account();
  const ids = [];
  for (let i = 0; i < 4; i++)
    ids.push(await deliver(id, { subject: `mail ${i}`, receivedAt: i, to: 'x'.repeat(i * 100) }));
  const made = await mailbox(id).ask('createLabel', { name: 'Zoo', color: '#aabbcc', sortOrder: 1 });
  const other = await mailbox(id).ask('createLabel', { name: 'Other', color: '#aabbcc', sortOrder: 2 });
  const [zoo, second] = [made.reply!.id, other.reply!.id];
  for (const [i, labelId] of [
    [0, zoo],
    [3, zoo],
    [3, second],
  ] as const)
    await mailbox(id).ask('assignLabel', { emailId: ids[i]!, labelId });
  await mailbox(id).ask('move', { selection: { emailIds: [ids[1]!] }, toFolderId: 'trash' });
  await mailbox(id).ask('move', { selection: { emailIds: [ids[2]!] }, toFolderId: 'junk' });
  t.deepEqual(await found(id, 'mail', { labels: [zoo] }), ['mail 3', 'mail 0']);
  t.deepEqual(await found(id, '', { labels: [zoo, second] }), ['mail 3']);
  t.deepEqual(await found(id, '', { labels: [zoo], folder: 'archive' }), []);
  t.deepEqual(await found(id, 'mail', { minSize: 250 }), ['mail 3']);
  t.deepEqual(await found(id, 'mail'), ['mail 3', 'mail 0']);
  t.deepEqual(await found(id, 'mail', { anywhere: true }), ['mail 3', 'mail 2', 'mail 1', 'mail 0']);
  t.deepEqual(await found(id, '', { anywhere: true, minSize: 250 }), ['mail 3', 'mail 2']);
  // An email that is marked as deleted is shown nowhere.
  const uids = { folderId: 'junk', uids: [[1, 1]] as [number, number][] };
  await mailbox(id).ask('storeFlags', { selection: uids, mode: 'add', flags: ['\\Deleted'] });
  t.deepEqual(await found(id, '', { anywhere: true, minSize: 250 }), ['mail 3']);
  for (const labels of [[randomUUID()], [zoo, 'inbox']]) {
    const asked = await mailbox(id).ask('search', { terms: [], labels, page: 1, pageSize: 10 });
    t.is(asked.refusal, 'noSuchLabel');
  }
});

test('the emails of a search come in groups that are alike, without those that come later', async (t) => {
  const { account, deliver, mailbox } = await setUp(t);
  const id = await account();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await deliver(id, { subject: `mail ${i}`, receivedAt: i }));
  const made = await mailbox(id).ask('createLabel', { name: 'Zoo', color: '#aabbcc', sortOrder: 1 });
  const labelId = made.reply!.id;
  await mailbox(id).ask('setRead', { emailIds: [ids[1]!, ids[2]!], isRead: true });
  await mailbox(id).ask('assignLabel', { emailId: ids[2]!, labelId });
  await mailbox(id).ask('move', { selection: { emailIds: [ids[4]!] }, toFolderId: 'trash' });
  const { reply } = await mailbox(id).ask('foundEmails', { terms: [{ words: ['mail'], prefix: true }] });
  const groups = reply!.groups.map(({ ids: packed, isRead, folderIds }) => {
    const octets = Buffer.from(packed, 'base64');
    const of = Array.from({ length: octets.length / 16 }, (_, i) => ids.indexOf(uuidText(octets, i * 16)));
    return [of, isRead, folderIds.length, folderIds.includes(labelId)];
  });
  t.is(reply!.totalCount, 4);
  t.deepEqual(groups, [
    [[3, 0], false, 1, false],
    [[2], true, 2, true],
    [[1], true, 1, false],
  ]);
  const nowhere = await mailbox(id).ask('foundEmails', { terms: [], folder: randomUUID() });
  t.is(nowhere.refusal, 'noSuchFolder');
});

test('a label is put on many emails and taken off; who has no other place goes to Archive', async (t) => {
  const { account, deliver, found, mailbox } = await setUp(t);
  const id = await account();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(await deliver(id, { subject: `mail ${i}`, receivedAt: i }));
  const made = await mailbox(id).ask('createLabel', { name: 'Zoo', color: '#aabbcc', sortOrder: 1 });
  const labelId = made.reply!.id;
  const store = async (emailIds: string[], isLabelled: boolean) =>
    (await mailbox(id).ask('storeLabel', { emailIds, labelId, isLabelled })).reply;
  t.deepEqual(await store([ids[0]!], true), { changed: 1 });
  t.deepEqual(await store([...ids, randomUUID()], true), { changed: 2 });
  t.deepEqual(await store(ids, true), { changed: 0 });
  t.deepEqual(await found(id, '', { labels: [labelId], folder: 'inbox' }), ['mail 2', 'mail 1', 'mail 0']);
  await mailbox(id).ask('move', { selection: { emailIds: [ids[0]!] }, toFolderId: labelId, fromFolderId: 'inbox' });
  t.deepEqual(await store([ids[0]!, ids[1]!], false), { changed: 2 });
  t.deepEqual(await found(id, '', { labels: [labelId] }), ['mail 2']);
  t.deepEqual(await found(id, '', { folder: 'archive' }), ['mail 0']);
  const wrong = await mailbox(id).ask('storeLabel', { emailIds: ids, labelId: randomUUID(), isLabelled: true });
  t.is(wrong.refusal, 'noSuchLabel');
});
