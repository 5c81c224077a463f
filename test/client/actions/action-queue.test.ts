// Tests the queue of actions between clients: what one has left is sent by the next in the order of time, and nothing is sent for another
// account.
import type { Profile } from '../../../src/client/generated/rest.js';
import { KeptAccount } from '../../../src/client/offline/kept-account.js';
import { NetworkFault, NotFound, Refusal } from '../../../src/client/refusal.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { MemoryStorage } from '../offline/memory-storage.js';
import { three, type World, world } from './action-world.js';

const profile = { email: 'ann@example.test' } as Profile;
/** A reply that never comes. */
const silence = () => new Promise<never>(() => {});
/** What the storage was asked for is done. */
const stored = ({ storage }: World) => storage.value('actions', 'none');

test('actions that wait are sent by the next client, in their order and before its own', async (t) => {
  const window = new MemoryStorage();
  const first = world(three(), new KeptAccount(window));
  first.replies.push(silence);
  first.act.markRead(['a'], true);
  await first.storage.confirm(profile);
  first.act.move(['b'], { to: 'archive' });
  const withdrawn = first.act.flag(['b'], true);
  await withdrawn.undo();
  await stored(first);
  t.is(window.keys('actions').length, 2, 'also what was done before it was known whose it is');
  window.end();

  const next = world(three(), new KeptAccount(new MemoryStorage(window)));
  t.like(next.view(), { total: 3, unread: 2 });
  await next.storage.assume();
  const own = next.act.flag(['c'], true);
  t.like(next.view(), { total: 2, unread: 0 }, 'they show at once');
  await own.done;
  await stored(next);
  t.deepEqual(
    next.sent.map(({ path }) => path),
    ['/api/emails/bulk/mark-read', '/api/emails/bulk/move', '/api/emails/bulk/flag'],
  );
  t.deepEqual(window.keys('actions'), []);
  t.deepEqual(next.lateRefusals, []);
});

test('what earlier clients have left goes in the order of time, also with what was done before it was known', async (t) => {
  const window = new MemoryStorage();
  const first = world(three(), new KeptAccount(window));
  first.replies.push(silence);
  await first.storage.confirm(profile);
  first.act.markRead(['a'], true);
  await stored(first);
  window.end();

  const next = world(three(), new KeptAccount(new MemoryStorage(window)));
  const own = next.act.markRead(['a'], false);
  await new Promise(setImmediate);
  t.deepEqual(next.sent, [], 'nothing is sent before the storage has told what was left');
  await next.storage.confirm(profile);
  await own.done;
  t.deepEqual(
    next.sent.map(({ body }) => body),
    [
      { emailIds: ['a'], isRead: true },
      { emailIds: ['a'], isRead: false },
    ],
  );

  // Another window ends while the first action is under way.
  next.sent.length = 0;
  let answer = () => {};
  next.replies.push(() => new Promise<void>((resolve) => (answer = resolve)));
  next.act.flag(['a'], true);
  await until(() => next.sent.length === 1);
  const waiting = next.act.flag(['b'], false);
  const left = (key: string, isRead: boolean) => ({ key, value: { ids: ['c'], change: { kind: 'mark', isRead } } });
  next.storage.taken$.next([left('0', true), left('zzzzzzzzz', false)]);
  answer();
  await waiting.done;
  await until(() => next.sent.length === 4);
  t.deepEqual(
    next.sent.map(({ body }) => body),
    [
      { emailIds: ['a'], isFlagged: true },
      { emailIds: ['c'], isRead: true },
      { emailIds: ['b'], isFlagged: false },
      { emailIds: ['c'], isRead: false },
    ],
  );
});

test('a storage that tells nothing holds up the actions for a while alone', async (t) => {
  const broken = new MemoryStorage();
  broken.isBroken = true;
  const { act, sent } = world(three(), new KeptAccount(broken));
  await act.markRead(['a'], true).done;
  t.is(sent.length, 1);
});

test('for another account nothing more is sent, neither what waits nor the rest of what is under way', async (t) => {
  const { act, sent, replies, storage, view } = world(three());
  await storage.confirm(profile);
  replies.push(() => Promise.reject(new Refusal(503, {}, 3_600_000)));
  const [repeated, waiting] = [act.markRead(['a'], true), act.flag(['b'], true)];
  await until(() => sent.length === 1);
  await storage.confirm({ email: 'bob@example.test' } as Profile);
  for (const { done } of [repeated, waiting]) await t.throwsAsync(done, { message: /Somebody else/ });
  t.is(view().unread, 2);
  await act.flag(['c'], true).done;
  t.is(sent.length, 2);

  let answer = () => {};
  replies.push(() => new Promise<void>((resolve) => (answer = resolve)));
  const ids = Array.from({ length: 1_500 }, (_, i) => `${i}`);
  const known = { isRead: false, isFlagged: false, folderIds: ['inbox-id'] };
  const long = act.markRead(ids, true, { find: () => known });
  await until(() => sent.length === 3);
  await storage.confirm(profile);
  await t.throwsAsync(long.done, { message: /Somebody else/ });
  answer();
  await long.undo();
  await act.flag(['c'], false).done;
  t.deepEqual(
    sent.slice(3).map(({ body }) => body),
    [{ emailIds: ['c'], isFlagged: false }],
  );
});

test('what is refused later is told and put right; for somebody else nothing is sent', async (t) => {
  const window = new MemoryStorage();
  const first = world(three(), new KeptAccount(window));
  first.replies.push(silence);
  await first.storage.confirm(profile);
  first.act.move(['a'], { to: 'archive' });
  await stored(first);
  window.end();

  const next = world(three(), new KeptAccount(new MemoryStorage(window)));
  let refuse = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = () => reject(new NotFound(404, { title: 'gone' }));
  });
  next.replies.push(() => refused);
  await next.storage.assume();
  t.is(next.view().total, 2);
  refuse();
  await new Promise(setImmediate);
  t.deepEqual(
    next.lateRefusals.map(({ ids, error }) => [ids, error.message]),
    [[['a'], 'gone']],
  );
  t.is(next.view().total, 3);

  next.replies.push(silence);
  next.act.markRead(['a'], true);
  const waiting = next.act.flag(['a'], true);
  await new Promise(setImmediate);
  next.queue.drop(new Refusal(401, {}));
  await t.throwsAsync(waiting.done, { instanceOf: Refusal });
  t.is(next.sent.length, 2);
});

test('the next client takes back what waits: unsent it is forgotten, else all emails come back, with those that had no name', async (t) => {
  const window = new MemoryStorage();
  const first = world(three(), new KeptAccount(window));
  await first.storage.confirm(profile);
  first.replies.push(silence);
  const unnamed = { query: { folder: 'inbox', groupByThread: true }, items: [['c', 'a']] };
  const moved = first.act.move(['a', 'b', 'c'], { to: 'archive' }, { find: () => undefined, unnamed });
  const flagged = first.act.flag(['a'], true);
  t.is(moved.steps(), undefined);
  await until(() => first.sent.length === 1);
  await stored(first);
  window.end();

  const of = { isRead: false, isFlagged: false, folderIds: ['inbox-id', 'folder-id'] };
  const found = { totalCount: 3, groups: [{ emailIds: ['c', 'hidden', 'a'], ...of }], threads: [[0, 1, 2]] };
  const next = world([], new KeptAccount(new MemoryStorage(window)));
  let answer = () => {};
  next.replies.push(() => new Promise((resolve) => (answer = () => resolve(found))));
  await next.storage.assume();
  await until(() => next.sent.length === 1);
  await (await next.act.restored(flagged.key))!.undo();
  t.is(await next.act.restored('another'), undefined);
  answer();
  const restored = (await next.act.restored(moved.key))!;
  await restored.done;
  const steps = [
    { change: { kind: 'move', to: 'inbox-id', from: 'archive-id' }, ids: ['a', 'b', 'c', 'hidden'] },
    { change: { kind: 'copy', to: 'folder-id' }, ids: ['hidden'] },
  ];
  t.deepEqual(restored.steps(), steps);
  await restored.undo();
  t.deepEqual(
    next.sent.slice(1).map(({ body }) => body),
    [
      { emailIds: ['a', 'b', 'c', 'hidden'], folderId: 'archive-id' },
      { emailIds: ['a', 'b', 'c', 'hidden'], folderId: 'inbox-id', fromFolderId: 'archive-id' },
      { emailIds: ['hidden'], folderId: 'folder-id' },
    ],
  );
});

test('emails that nobody could name are named by the server when the action is sent, and come back with the others', async (t) => {
  const window = new MemoryStorage();
  const first = world(three(), new KeptAccount(window));
  await first.storage.confirm(profile);
  first.replies.push(() => Promise.reject(new NetworkFault('No network')), silence);
  const query = { folder: 'inbox', groupByThread: true };
  const unnamed = { query, items: [['c', 'a']] };
  first.act.move(['a', 'b', 'c'], { to: 'archive' }, { find: () => undefined, unnamed });
  await until(() => first.sent.length === 1);
  await stored(first);
  window.end();

  // An email that has come since is the newest of its item.
  const of = { isRead: false, isFlagged: false, folderIds: ['inbox-id'] };
  const found = { totalCount: 4, groups: [{ emailIds: ['d', 'c', 'hidden', 'a'], ...of }], threads: [[0, 1, 2, 3]] };
  const second = new MemoryStorage(window);
  const next = world(three(), new KeptAccount(second));
  next.replies.push(
    () => Promise.resolve(found),
    () => Promise.reject(new NetworkFault('The node is killed')),
    silence,
  );
  await next.storage.assume();
  await until(() => next.sent.length === 2);
  t.deepEqual(next.sent[1]!.body, { emailIds: ['a', 'b', 'c', 'hidden'], folderId: 'archive-id' });
  await stored(next);
  second.end();

  // It goes on with the names, because the item may be gone.
  const last = world(three(), new KeptAccount(new MemoryStorage(window)));
  await last.storage.assume();
  await until(() => last.sent.length === 1);
  t.deepEqual(last.sent, [next.sent[1]]);

  const undone = world(three());
  undone.replies.push(() => Promise.resolve(found));
  const action = undone.act.move(['a', 'b', 'c'], { to: 'archive' }, { find: () => undefined, unnamed });
  await action.done;
  await action.undo();
  t.deepEqual(undone.sent.at(-1)!.body, {
    emailIds: ['a', 'b', 'c', 'hidden'],
    folderId: 'inbox-id',
    fromFolderId: 'archive-id',
  });
});
