// Tests mirrors against an owner: how they are loaded and updated, and when they are stale or gone.
import type { ExecutionContext } from 'ava';
import { createFolderMirrors } from '../../../../src/gateways/imap/view/folder-mirrors.js';
import type { MirroredFolder } from '../../../../src/gateways/imap/view/mirrored-folder.js';
import test from '../../../support/test.js';
import { ACCOUNT, FOLDER, FolderOwner, turns } from './folder-owner.js';

const QUIET = 50;

const uidsOf = ({ uids, count }: MirroredFolder): number[] => [...uids.subarray(0, count)];

/** Keeps the process alive, which back-off does not. */
function stayAlive(t: ExecutionContext): void {
  const timer = setInterval(() => {}, 60_000);
  t.teardown(() => clearInterval(timer));
}

function changed(mirror: MirroredFolder): Promise<void> {
  return new Promise((resolve) => {
    const unwatch = mirror.watch(() => {
      unwatch();
      resolve();
    });
  });
}

test('a folder is read page by page, and what changed meanwhile is asked afterwards', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(10);
  owner.onQuestion = ({ fromUid = 1 }) => {
    if (fromUid !== 4) return;
    owner.store(new Set([1, 9]), { mode: 'add', flags: ['\\Deleted'] });
    owner.expunge(new Set([1]));
    owner.deliver(1);
  };
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes, pageSize: 3 });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  t.deepEqual(uidsOf(mirror), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  t.true(mirror.isDeletedAt(mirror.indexOf(9)));
  t.is(mirror.modseq, owner.modseq);
  t.is(mirror.uidNext, 12);
});

test('pages of two kinds are read again', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(6);
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes, pageSize: 2 });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  owner.store(new Set([1, 2, 3, 4, 5, 6]), { mode: 'add', flags: ['\\Deleted', 'work'] });
  owner.expunge(new Set([2]));
  owner.onQuestion = ({ since, fromUid = 1 }) => {
    if (since !== null && fromUid === 4) owner.takeOver();
  };
  await mirror.sync();
  t.deepEqual(uidsOf(mirror), [1, 3, 4, 5, 6]);
  t.deepEqual(mirror.keywordsAt(4), ['work']);
});

test('what was changed before a sync is asked for is there after it, though another sync runs', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(1);
  owner.delays = () => 3;
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  for (let wait = 0; wait < 12; wait++) {
    const first = mirror.sync();
    await turns(wait);
    owner.deliver(1);
    await mirror.sync();
    t.is(mirror.count, owner.messages.length);
    await first;
  }
});

test('events of other folders and those that are known do not make a mirror stale', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(5);
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  await turns(QUIET);
  t.true(mirror.isStale, 'events may have been missed before the subscription was ready');
  await mirror.sync();
  t.false(mirror.isStale);
  owner.deliver(1);
  await mirror.sync();
  await turns(QUIET);
  t.false(mirror.isStale, 'the event tells what the owner has said already');
  owner.publish('EmailPlaced', { folderId: 'another', uid: 1, emailId: 'e' });
  await turns(QUIET);
  t.false(mirror.isStale);
  owner.deliver(1);
  await turns(QUIET);
  t.true(mirror.isStale);
  t.is(mirror.count, 6);
});

test('a change that is known before its event makes a mirror stale once', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(1);
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  await turns(QUIET);
  await mirror.sync();
  mirror.changedAt(mirror.modseq);
  t.false(mirror.isStale, 'the mirror has the change');
  owner.delays = () => QUIET;
  owner.deliver(1);
  t.false(mirror.isStale, 'the event is on its way');
  mirror.changedAt(owner.modseq);
  t.true(mirror.isStale);
  await mirror.sync();
  t.is(mirror.count, 2);
  t.false(mirror.isStale);
  await turns(2 * QUIET);
  t.false(mirror.isStale, 'the event tells what the mirror has');
});

test('whoever watches hears of a change that is known before its event', async (t) => {
  stayAlive(t);
  const owner = new FolderOwner();
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  await turns(QUIET);
  await mirror.sync();
  owner.delays = () => QUIET;
  const told = changed(mirror);
  owner.deliver(1);
  mirror.changedAt(owner.modseq);
  await told;
  t.is(mirror.count, 1);
});

test('a mirror that is watched follows the owner by itself', async (t) => {
  stayAlive(t);
  const owner = new FolderOwner();
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  const first = changed(mirror);
  owner.deliver(3);
  await first;
  t.is(mirror.count, 3);
  owner.isUnreachable = true;
  const second = changed(mirror);
  owner.deliver(1);
  await turns(QUIET);
  owner.isUnreachable = false;
  await second;
  t.is(mirror.count, 4, 'a sync that failed is tried again');
});

test('a mirror is stale while events are missed, and follows again after', async (t) => {
  stayAlive(t);
  const owner = new FolderOwner();
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  await turns(QUIET);
  await mirror.sync();
  owner.interrupt();
  t.true(mirror.isStale);
  await mirror.sync();
  t.true(mirror.isStale, 'the next event will be missed too');
  await new Promise<void>((resolve) => {
    owner.onSubscription = resolve;
  });
  await turns(QUIET);
  t.true(mirror.isStale, 'events were missed');
  await mirror.sync();
  t.false(mirror.isStale);
});

test('a subscription that is interrupted while nobody has a folder open begins again with the next one', async (t) => {
  stayAlive(t);
  const owner = new FolderOwner();
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  (await mirrors.open(ACCOUNT, FOLDER))!.mirror.close();
  await turns(QUIET);
  owner.interrupt();
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  await new Promise<void>((resolve) => {
    owner.onSubscription = resolve;
  });
  await turns(QUIET);
  await mirror.sync();
  t.false(mirror.isStale);
});

test('a folder that is deleted, or whose UIDs are others, is gone', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(3);
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  owner.uidValidity++;
  await mirror.sync();
  t.true(mirror.isGone);
  const next = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  t.is(next.uidValidity, owner.uidValidity);
  t.is(next.count, 3);
  owner.isDeleted = true;
  await next.sync();
  t.true(next.isGone);
  t.is(await mirrors.open(ACCOUNT, FOLDER), undefined);
});

test('a message that appears below the last UID means that the folder is another one', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(3);
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  const [, second] = owner.messages;
  owner.store(new Set([2]), { mode: 'add', flags: ['\\Deleted'] });
  owner.expunge();
  await mirror.sync();
  owner.messages.splice(1, 0, { ...second!, modseq: owner.modseq + 1 });
  owner.deliver(1);
  await mirror.sync();
  t.true(mirror.isGone);
  t.is((await mirrors.open(ACCOUNT, FOLDER))!.mirror.count, 4);
});

test('keywords are of the messages that have them, and names are kept once', async (t) => {
  const owner = new FolderOwner();
  owner.deliver(4);
  owner.store(new Set([2]), { mode: 'add', flags: ['work', 'Home'] });
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  owner.store(new Set([1, 4]), { mode: 'add', flags: ['later', '\\Deleted'] });
  owner.expunge(new Set([1]));
  await mirror.sync();
  t.deepEqual(
    [0, 1, 2].map((index) => mirror.keywordsAt(index)),
    [['Home', 'work'], [], ['later']],
  );
  t.deepEqual([...mirror.keywords].sort(), ['Home', 'later', 'work']);
});

const ADD_SEEN = { mode: 'add', flags: ['\\Seen'] } as const;

async function openedMirror(count: number) {
  const owner = new FolderOwner();
  owner.deliver(count);
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes });
  const mirror = (await mirrors.open(ACCOUNT, FOLDER))!.mirror;
  await turns(QUIET);
  await mirror.sync();
  owner.questions.length = 0;
  return { owner, mirror };
}

test('flags that a command of a session has stored are taken in without a question', async (t) => {
  const { owner, mirror } = await openedMirror(5);
  owner.store(new Set([2]), { mode: 'add', flags: ['Zoë'] });
  await mirror.sync();
  owner.questions.length = 0;
  let told = 0;
  const unwatch = mirror.watch(() => void told++);
  unwatch();
  mirror.watch(() => void told++);
  await turns(QUIET);
  owner.questions.length = 0;
  const change = { mode: 'add', flags: ['\\Seen', '\\Deleted'] } as const;
  const before = mirror.modseq;
  t.true(mirror.takeFlags([1, 2, 4, 9], change, { before, after: before + 3 }));
  t.is(mirror.modseq, before + 3);
  const modseqs = [0, 1, 2, 3, 4].map((index) => mirror.modseqAt(index) === before + 3);
  t.deepEqual(modseqs, [true, true, false, true, false]);
  t.deepEqual([mirror.flagsAt(1), mirror.isDeletedAt(1), mirror.keywordsAt(1)], [1, true, ['Zoë']]);
  t.false(mirror.isStale);
  t.is(told, 1);
  t.true(mirror.takeFlags([1, 2], ADD_SEEN, { before: before + 3, after: before + 3 }));
  const tag = { mode: 'add', flags: ['work', '\\Flagged'], keywords: ['Work'] } as const;
  t.true(mirror.takeFlags([1, 2, 3], tag, { before: before + 3, after: before + 4 }));
  t.deepEqual(
    [0, 1, 2, 3].map((index) => [...mirror.keywordsAt(index)]),
    [['Work'], ['Work', 'Zoë'], ['Work'], []],
  );
  t.deepEqual([mirror.flagsAt(0), mirror.modseqAt(0), mirror.modseqAt(3)], [5, before + 4, before + 3]);
  const untag = { mode: 'remove', flags: ['WORK'], keywords: ['Work'] } as const;
  t.true(mirror.takeFlags([2, 3, 4], untag, { before: before + 4, after: before + 5 }));
  t.deepEqual(
    [0, 1, 2, 3].map((index) => [...mirror.keywordsAt(index)]),
    [['Work'], ['Zoë'], [], []],
  );
  t.is(mirror.modseqAt(3), before + 3);
  t.is(told, 3);
  t.deepEqual(owner.questions, []);
});

test('flags are not taken in where something from before is missing, or is under way', async (t) => {
  const { owner, mirror } = await openedMirror(3);
  const { modseq } = mirror;
  t.false(mirror.takeFlags([1], ADD_SEEN, { before: modseq + 1, after: modseq + 2 }));
  t.false(mirror.takeFlags([1], ADD_SEEN, undefined));
  t.false(mirror.takeFlags([1], { mode: 'add', flags: ['Zoë'] }, { before: modseq, after: modseq + 1 }));
  const syncing = mirror.sync();
  const modseqs = owner.store(new Set([1]), ADD_SEEN);
  t.false(mirror.takeFlags([1], ADD_SEEN, modseqs));
  await syncing;
  await mirror.sync();
  t.is(mirror.flagsAt(0), 1);
  owner.store(new Set([3]), { mode: 'add', flags: ['Zoë'] });
  await mirror.sync();
  t.false(mirror.takeFlags([3], { ...ADD_SEEN, mode: 'replace' }, { before: mirror.modseq, after: mirror.modseq + 1 }));
  t.deepEqual(mirror.keywordsAt(2), ['Zoë']);
});

test('on the node of the owner nobody is asked while the account has not changed', async (t) => {
  const { owner, mirror } = await openedMirror(3);
  t.false(mirror.isCurrent, 'the owner is elsewhere');
  owner.isHere = true;
  t.true(mirror.isCurrent);
  const modseqs = owner.store(new Set([1, 3]), ADD_SEEN);
  t.false(mirror.isCurrent);
  t.true(mirror.takeFlags([1, 3], ADD_SEEN, modseqs));
  t.true(mirror.isCurrent);
  owner.modseq++;
  t.false(mirror.isCurrent, 'of a change without an event');
  await mirror.sync();
  t.true(mirror.isCurrent);
});
