// Tests a view of a folder: what is told at once, what waits, and what is not told because the client knows it.

import { ClientView } from '../../../../src/gateways/imap/view/client-view.js';
import { createFolderMirrors } from '../../../../src/gateways/imap/view/folder-mirrors.js';
import test from '../../../support/test.js';
import { ACCOUNT, FOLDER, FolderOwner } from './folder-owner.js';

async function opened(count: number) {
  const owner = new FolderOwner();
  owner.deliver(count);
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const view = async () => new ClientView((await mirrors.open(ACCOUNT, FOLDER))!.mirror);
  return { owner, mirrors, open: view, view: await view() };
}

const DELETED = { mode: 'add', flags: ['\\Deleted'] } as const;
const SEEN = { mode: 'add', flags: ['\\Seen'] } as const;

function expunge(owner: FolderOwner, ...uids: number[]): void {
  owner.store(new Set(uids), DELETED);
  owner.expunge();
}

test('expunges wait while they must, new messages do not', async (t) => {
  const { owner, view } = await opened(4);
  expunge(owner, 2, 4);
  owner.deliver(2);
  await view.mirror.sync();
  t.deepEqual(view.takeUpdates(false), { expunged: [], exists: 6, flagged: [] });
  t.true(view.hasExpunged);
  t.is(view.count, 6);
  t.deepEqual(
    [0, 1, 2, 3, 4, 5].map((position) => view.indexAt(position)),
    [0, -1, 1, -1, 2, 3],
  );
  t.is(view.uidAt(4), 5);
  t.is(view.positionOf(4), 3);
  const expunged = [
    { seq: 2, uid: 2 },
    { seq: 4, uid: 4 },
  ];
  t.deepEqual(view.takeUpdates(true), { expunged, exists: undefined, flagged: [] });
  t.false(view.hasExpunged);
  t.is(view.positionOf(4), -1);
});

test('sessions share the array of the mirror while nothing waits to be told', async (t) => {
  const { owner, view, open } = await opened(100);
  const views = [view, ...(await Promise.all(Array.from({ length: 9 }, open)))];
  const areShared = () => views.every(({ uids, mirror }) => uids === mirror.uids);
  t.true(areShared());
  owner.deliver(50);
  expunge(owner, 1, 60);
  await view.mirror.sync();
  t.false(areShared());
  for (const one of views) one.takeUpdates(false);
  for (const one of views) one.takeUpdates(true);
  t.true(areShared());
});

test('flags are told once, and not those that the client knows', async (t) => {
  const { owner, view } = await opened(4);
  owner.store(new Set([1, 3, 4]), SEEN);
  await view.mirror.sync();
  view.markFlagsSent([3]);
  t.deepEqual(view.takeUpdates(true).flagged, [0, 3]);
  t.deepEqual(view.takeUpdates(true).flagged, []);
});

test('flags are told by the numbers that come with the update', async (t) => {
  const { owner, view } = await opened(4);
  expunge(owner, 1, 3);
  owner.store(new Set([2, 4]), SEEN);
  await view.mirror.sync();
  t.deepEqual(view.takeUpdates(true), {
    expunged: [
      { seq: 1, uid: 1 },
      { seq: 3, uid: 3 },
    ],
    exists: undefined,
    flagged: [0, 1],
  });
});

test('a session that is far behind is told each message that changed', async (t) => {
  const { owner, view } = await opened(3000);
  for (let i = 0; i < 3; i++) {
    owner.store(new Set(owner.messages.filter(({ uid }) => uid % 3 === i).map(({ uid }) => uid)), SEEN);
    await view.mirror.sync();
  }
  owner.takeOver();
  owner.store(new Set([7]), DELETED);
  await view.mirror.sync();
  t.is(view.takeUpdates(true).flagged.length, 3000);
  t.deepEqual(view.takeUpdates(true).flagged, []);
});

test('flags of very many messages are told in parts', async (t) => {
  const { owner, view } = await opened(12_000);
  owner.store(new Set(owner.messages.map(({ uid }) => uid)), SEEN);
  await view.mirror.sync();
  const told: number[][] = [];
  do told.push([...view.takeUpdates(true).flagged]);
  while (view.hasPendingFlags);
  t.deepEqual(
    told.map(({ length }) => length),
    [5_000, 5_000, 2_000],
  );
  t.deepEqual(told.flat(), [...Array(12_000).keys()]);
});

test('a STORE with .SILENT is not told, but for what another session made of the flags', async (t) => {
  const { owner, view } = await opened(3);
  owner.store(new Set([1]), { mode: 'add', flags: ['$Forwarded', 'work'] });
  await view.mirror.sync();
  view.takeUpdates(true);
  const settle = view.expectFlags([1, 2, 3], { mode: 'add', flags: ['\\SEEN', 'WORK'] });
  owner.store(new Set([3]), { mode: 'add', flags: ['\\Flagged'] });
  owner.store(new Set([1, 2, 3]), { mode: 'add', flags: ['\\Seen', 'work'] });
  await view.mirror.sync();
  settle(false);
  t.deepEqual(view.takeUpdates(true).flagged, [2]);
});

test('a change that the client did not know of before its silent STORE is told', async (t) => {
  const { owner, view } = await opened(2);
  owner.store(new Set([1]), { mode: 'add', flags: ['\\Flagged'] });
  await view.mirror.sync();
  const settle = view.expectFlags([1, 2], { mode: 'replace', flags: ['\\Seen'] });
  owner.store(new Set([1, 2]), { mode: 'replace', flags: ['\\Seen'] });
  await view.mirror.sync();
  settle(false);
  t.deepEqual(view.takeUpdates(true).flagged, [0]);
});

test('flags that the client may not know are told, also when its silent STORE was alone', async (t) => {
  const { owner, view } = await opened(4);
  view.markFlagsUnknown([1, 4]);
  expunge(owner, 4);
  await view.mirror.sync();
  const settle = view.expectFlags([1, 2], SEEN);
  owner.store(new Set([1, 2]), SEEN);
  await view.mirror.sync();
  settle(true);
  t.deepEqual(view.takeUpdates(true).flagged, [0]);
  t.deepEqual(view.takeUpdates(true).flagged, []);
});

test('keywords are new once', async (t) => {
  const { owner, view } = await opened(2);
  t.false(view.takeNewKeywords());
  owner.store(new Set([1]), { mode: 'add', flags: ['work'] });
  await view.mirror.sync();
  t.true(view.takeNewKeywords());
  owner.store(new Set([2]), { mode: 'add', flags: ['work'] });
  await view.mirror.sync();
  t.false(view.takeNewKeywords());
});

test('a view that is closed twice gives its mirror back once', async (t) => {
  const { owner, view, open } = await opened(1);
  const other = await open();
  view.close();
  view.close();
  const again = await open();
  t.is(again.mirror, other.mirror);
  t.is(owner.questions.filter(({ since }) => since === null).length, 1);
});

test('a silent STORE of one message leaves what another session changed of the next one to be told', async (t) => {
  const { owner, view } = await opened(1_000);
  const done = view.expectFlags([500], SEEN);
  owner.store(new Set([500, 501]), SEEN);
  await view.mirror.sync();
  done(false);
  t.deepEqual(view.takeUpdates(true).flagged, [500]);
});
