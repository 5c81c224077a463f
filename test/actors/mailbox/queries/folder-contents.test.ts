// Tests the changes in a folder since a modseq, as a client that keeps a copy of the folder asks for them.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { FLAGGED, SEEN } from '../../../../src/mail-format/flags.js';
import {
  DELETED_BIT,
  packFlags,
  packModseqs,
  packUids,
  unpackFlags,
  unpackModseqs,
  unpackUids,
} from '../../../../src/mail-format/packed-columns.js';
import test from '../../../support/test.js';
import { message } from '../command-world.js';
import { mailboxWorld } from '../mailbox-world.js';

async function start(t: ExecutionContext) {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const { id } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'x');
  const mailbox = world.mailboxes.of(id);
  const changes = async (folderId: string, since: number | null, of: { fromUid?: number; limit?: number } = {}) => {
    const { reply } = await mailbox.ask('folderChanges', { folderId, since, ...of });
    const { uids, flags, modseqs, keywords, expunged, ...rest } = reply!;
    return {
      ...rest,
      uids: [...unpackUids(uids)],
      flags: [...unpackFlags(flags)],
      modseqs: [...unpackModseqs(modseqs)],
      keywords: keywords.map(({ names, uids: of }) => [names.join(' '), ...unpackUids(of)]),
      expunged: [...unpackUids(expunged)],
    };
  };
  const append = async (folderId: string, ...flags: string[][]) =>
    (await mailbox.ask('append', { folderId, messages: flags.map((of) => message(of)) })).reply!.emails;
  return { world, accountId: id, mailbox, changes, append };
}

test('columns come out of their text as they went in, and a text of another length is refused', (t) => {
  for (const uids of [[], [1], [1, 2, 2 ** 32 - 1]])
    t.deepEqual([...unpackUids(packUids(Uint32Array.from(uids)))], uids);
  t.deepEqual([...unpackFlags(packFlags(Uint16Array.of(0, 5, 0xffff)))], [0, 5, 0xffff]);
  t.deepEqual([...unpackModseqs(packModseqs(Float64Array.of(1, 2 ** 53 - 1)))], [1, 2 ** 53 - 1]);
  t.is(packUids(Uint32Array.of(1, 256)), 'AQAAAAABAAA=', 'little-endian');
  t.is(packUids(Uint32Array.of(7, 1, 256, 9).subarray(1, 3)), 'AQAAAAABAAA=', 'a part of an array');
  t.throws(() => unpackUids('AQAA'), { instanceOf: RangeError });
});

test('a folder is read as a whole, then what changed in it, then nothing', async (t) => {
  const { world, mailbox, changes, append } = await start(t);
  const [first] = await append('archive', ['\\Seen', 'Work'], ['\\Deleted', 'work', 'a'], [], ['Work']);
  const whole = await changes('archive', null);
  const { modseq, folderId } = whole;
  t.like(whole, { isWhole: true, uidNext: 5, total: 4, nextUid: null, uids: [1, 2, 3, 4] });
  t.deepEqual(whole.flags, [SEEN, DELETED_BIT, 0, 0]);
  t.deepEqual(whole.modseqs, [modseq, modseq, modseq, modseq]);
  t.deepEqual(whole.keywords.sort(), [
    ['Work', 1, 4],
    ['a Work', 2],
  ]);
  t.like(await changes(folderId, modseq), { isWhole: false, modseq, uids: [], expunged: [], nextUid: null });
  await mailbox.ask('storeFlags', { selection: { emailIds: [first!.emailId] }, mode: 'add', flags: ['\\Flagged'] });
  await mailbox.ask('expunge', { folderId });
  await append('archive', []);
  for (const owner of ['the same', 'another']) {
    const later = await changes('archive', modseq);
    t.like(later, { isWhole: false, uids: [1, 5], expunged: [2], total: 4, uidNext: 6, modseq: modseq + 3 }, owner);
    t.deepEqual(
      [later.flags, later.modseqs],
      [
        [SEEN | FLAGGED, 0],
        [modseq + 1, modseq + 3],
      ],
    );
    t.deepEqual(later.keywords, [['Work', 1]]);
    t.like(await changes('archive', modseq + 1), { uids: [5], expunged: [2], keywords: [] });
    t.like(await changes('archive', modseq + 3), { uids: [], expunged: [], isWhole: false });
    world.reload();
  }
  t.is((await mailbox.ask('folderChanges', { folderId: 'nowhere', since: null })).refusal, 'noSuchFolder');
});

test('pages are about the UIDs up to the next page, changed and expunged ones', async (t) => {
  const { world, accountId, mailbox, changes, append } = await start(t);
  await append('archive', ...Array.from({ length: 10 }, () => ['k']));
  const { modseq } = await changes('archive', null);
  const pages = async (since: number | null, limit: number) => {
    const found: (readonly number[])[] = [];
    for (let fromUid: number | undefined = 1; fromUid !== undefined; ) {
      const page: Awaited<ReturnType<typeof changes>> = await changes('archive', since, { fromUid, limit });
      found.push(page.uids, page.expunged);
      t.deepEqual(page.keywords, page.uids.length === 0 ? [] : [['k', ...page.uids]]);
      fromUid = page.nextUid ?? undefined;
    }
    return found;
  };
  t.deepEqual(await pages(null, 4), [[1, 2, 3, 4], [], [5, 6, 7, 8], [], [9, 10], []]);
  t.deepEqual(await pages(null, 5), [[1, 2, 3, 4, 5], [], [6, 7, 8, 9, 10], []]);
  const flag = (flags: string[], ...uids: [number, number][]) =>
    mailbox.ask('storeFlags', { selection: { folderId: 'archive', uids }, mode: 'add', flags });
  await flag(['\\Deleted'], [2, 5], [9, 9]);
  await mailbox.ask('expunge', { folderId: 'archive' });
  await flag(['\\Seen'], [1, 6], [10, 10]);
  t.deepEqual(await pages(modseq, 2), [[1], [2, 3], [6], [4, 5], [10], [9]]);
  t.deepEqual(await pages(modseq, 1), [[1], [2], [], [3], [], [4], [6], [5], [10], [9]]);
  // Expunges are known as long as the log reaches back.
  await world.sql`delete from events where account_id = ${accountId} and seq <= ${modseq + 2}`;
  await world.sql`delete from expunged where account_id = ${accountId} and modseq <= ${modseq + 2}`;
  world.reload();
  t.like(await changes('archive', modseq), { isWhole: true, uids: [1, 6, 7, 8, 10], expunged: [] });
  t.like(await changes('archive', modseq + 2), { isWhole: false, uids: [1, 6, 10], expunged: [] });
});

test('a page ends before its keywords fill a packet', async (t) => {
  const { mailbox, changes, append } = await start(t);
  const names = (of: number) => Array.from({ length: 100 }, (_, i) => `${of}-${i}`.padEnd(100, 'x'));
  // Two hundred emails have sets of keywords of their own, each of 10,000 octets and more.
  const words = [...names(0), ...names(1).slice(0, 8)];
  await append(
    'archive',
    ...Array.from({ length: 200 }, (_, i) => [
      ...words.slice(0, 100),
      ...words.slice(100).filter((_w, bit) => (i & (1 << bit)) !== 0),
    ]),
  );
  const page = await changes('archive', null);
  t.true(page.nextUid !== null && page.uids.length >= 50, `${page.uids.length}`);
  const { reply } = await mailbox.ask('folderChanges', { folderId: 'archive', since: null });
  t.true(JSON.stringify(reply).length < 2 * 1024 * 1024);
  const rest = await changes('archive', null, { fromUid: page.nextUid! });
  t.is(page.nextUid, rest.uids[0] ?? null);
});

test('the status of folders: counts, what is deleted in them, and their sizes when they are asked for', async (t) => {
  const { mailbox, append } = await start(t);
  const created = await mailbox.ask('createFolder', { name: 'Work/Zoë', role: 'label' });
  const { id } = created.reply!;
  await mailbox.ask('append', {
    folderId: id,
    messages: [message(['\\Seen'], { size: 7 }), message(['\\Deleted'], { size: 2 ** 33 }), message()],
  });
  await append('inbox', []);
  const of = async (asked: { folderIds?: string[]; withSizes?: boolean }) =>
    (await mailbox.ask('folderStatus', asked)).reply!.folders;
  const [status, ...others] = await of({ folderIds: [id], withSizes: true });
  t.deepEqual(others, []);
  t.like(status, {
    id,
    path: 'Work/Zoë',
    role: 'label',
    total: 3,
    unread: 2,
    deleted: 1,
    uidNext: 4,
    isSubscribed: true,
  });
  t.like(status, { size: 2 ** 33 + 17, deletedSize: 2 ** 33 });
  const { uidValidity, modseq } = (await mailbox.ask('folderChanges', { folderId: id, since: null })).reply!;
  t.like(status, { uidValidity, modseq });
  t.deepEqual(
    (await of({ folderIds: [randomUUID(), 'inbox', id] })).map(({ path, total, size }) => [path, total, size]),
    [
      ['INBOX', 1, undefined],
      ['Work/Zoë', 3, undefined],
    ],
  );
  t.deepEqual(
    (await of({})).map(({ path }) => path),
    ['INBOX', 'Sent', 'Drafts', 'Archive', 'Trash', 'Junk', 'Work/Zoë'],
  );
});
