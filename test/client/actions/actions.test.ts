// Tests the actions: each shows at once in lists and counts, is sent in its turn with those that are equal, waits for rates and the network,
// goes when it is refused, and can be taken back.
import type { Actions } from '../../../src/client/client-types.js';
import { NetworkFault, NotFound, Refusal } from '../../../src/client/refusal.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { emailItem } from '../lists/list-server.js';
import { idsOf, three, world } from './action-world.js';

test('what is marked, flagged and moved shows at once, with its counts', async (t) => {
  const { act, view } = world(three());
  const { done } = act.markRead(['a', 'c'], true);
  t.deepEqual(
    view().items.map(({ isRead }) => isRead),
    [true, false, true],
  );
  t.is(view().unread, 1);
  t.deepEqual(idsOf(view({ folder: 'inbox', isRead: false })), ['b', 'c'], 'what the action has not changed stays');
  act.flag(['b'], true);
  t.true(view().items[1]!.isFlagged);
  act.move(['b'], { to: 'archive' });
  t.like(view(), { total: 2, unread: 0 });
  t.deepEqual(idsOf(view()), ['a', 'c']);
  t.deepEqual(idsOf(view({ q: '' })), ['a', 'b', 'c'], 'a search of everything has it still');
  act.move(['c'], { to: 'trash' });
  t.deepEqual(idsOf(view({ q: '' })), ['a', 'b']);
  act.label(['a'], 'label-id');
  t.deepEqual(view().items[0]!.labels, [{ id: 'label-id', name: 'label-id', color: '#aabbcc' }]);
  act.delete(['a']);
  t.deepEqual(idsOf(view({ threadId: 'x' })), ['b', 'c']);
  await done;
});

test('a row of a thread shows what an action has left of its emails', async (t) => {
  const member = (id: string, isRead: boolean) => ({ id, isRead, isFlagged: false, folderIds: ['inbox-id'] });
  const thread = { senders: [], count: 3, emails: [member('c', false), member('b', true), member('a', false)] };
  const { act, view } = world([
    emailItem({ id: 'c', isRead: false }, { thread }),
    emailItem({ id: 'z', isRead: false }),
  ]);
  const inbox = { folder: 'inbox', groupByThread: true };
  t.is(view(inbox).items[0]!.thread, thread, 'it is as the server says');
  act.markRead(['a'], true);
  t.false(view(inbox).items[0]!.isRead);
  act.markRead(['c'], true);
  t.true(view(inbox).items[0]!.isRead);
  t.is(view(inbox).unread, 0, 'the server has counted two unread rows here, of which two emails are read now');
  act.move(['c'], { to: 'archive' });
  t.deepEqual(idsOf(view(inbox)), ['b', 'z']);
  t.like(view(inbox), { total: 2, items: [{ thread: { count: 2 } }] });
  const moved = act.move(['a', 'b'], { to: 'trash' });
  t.deepEqual(idsOf(view(inbox)), ['z']);
  t.is(view(inbox).total, 1);
  await moved.done;
});

test('a row that does not name all of its emails shows what the others are', (t) => {
  const member = (id: string, isRead: boolean) => ({ id, isRead, isFlagged: false, folderIds: ['inbox-id'] });
  const thread = { senders: [], count: 5, emails: [member('c', true), member('a', true)] };
  const { act, view } = world([emailItem({ id: 'c', isRead: false }, { isFlagged: true, thread })]);
  const row = () => view({ folder: 'inbox', groupByThread: true }).items[0]!;
  act.markRead(['c'], false);
  act.markRead(['c', 'a'], true);
  t.like(row(), { isRead: false, isFlagged: true });
  act.flag(['a'], true);
  act.move(['c'], { to: 'archive' });
  t.like(row(), { id: 'a', isRead: false, isFlagged: true, thread: { count: 4 } });
});

test('equal actions go together, in order', async (t) => {
  const { act, sent } = world(three());
  const all = [
    act.markRead(['a'], true),
    act.markRead(['b'], true),
    act.markRead(['a'], false),
    act.move(['a', 'b'], { to: 'archive', from: 'inbox' }),
  ];
  await Promise.all(all.map(({ done }) => done));
  t.deepEqual(
    sent.map(({ body }) => body),
    [
      { emailIds: ['a', 'b'], isRead: true },
      { emailIds: ['a'], isRead: false },
      { emailIds: ['a', 'b'], folderId: 'archive-id', fromFolderId: 'inbox-id' },
    ],
  );
});

test('more than a thousand emails are several requests', async (t) => {
  const { act, sent } = world([]);
  await act.markRead(
    Array.from({ length: 2_500 }, (_, i) => String(i)),
    true,
  ).done;
  t.deepEqual(
    sent.map(({ body }) => (body as { readonly emailIds: readonly string[] }).emailIds.length),
    [1_000, 1_000, 500],
  );
});

test('rates, a node without the account and a broken network are waited for', async (t) => {
  const { act, sent, replies, view } = world(three());
  replies.push(
    () => Promise.reject(new NetworkFault('')),
    () => Promise.reject(new Refusal(429, {}, 1)),
    () => Promise.reject(new Refusal(503, {}, 1)),
  );
  const { done } = act.markRead(['a'], true);
  t.is(view().unread, 1);
  await done;
  t.is(sent.length, 4);
  t.is(view().unread, 1);
});

test('a refused action is taken off, and no other one with it', async (t) => {
  const { act, sent, replies, view } = world(three());
  const refused = () => Promise.reject(new Refusal(400, { title: 'no' }));
  replies.push(refused, refused);
  const [bad, good] = [act.move(['a'], { to: 'archive' }), act.move(['b'], { to: 'archive' })];
  t.is(view().total, 1);
  await t.throwsAsync(bad.done, { instanceOf: Refusal, message: 'no' });
  await good.done;
  t.is(sent.length, 3, 'together, then each alone');
  t.deepEqual(idsOf(view()), ['a', 'c']);
  await bad.undo();
  t.is(sent.length, 3, 'there is nothing to take back');
});

test('undo restores what was, of the emails that were changed', async (t) => {
  const { act, sent, view } = world([
    emailItem(
      { id: 'a', isRead: false },
      { folderIds: ['folder-id', 'label-id'], labels: [{ id: 'label-id', name: 'x', color: '' }] },
    ),
    emailItem({ id: 'b', isRead: true }),
  ]);
  const undone = async (action: ReturnType<Actions['markRead']>) => {
    await action.done;
    sent.length = 0;
    await action.undo();
    return sent.map(({ method, path, body }) => [method, path.replace('/api/', ''), body]);
  };
  t.deepEqual(await undone(act.markRead(['a', 'b'], true)), [
    ['POST', 'emails/bulk/mark-read', { emailIds: ['a'], isRead: false }],
  ]);
  t.deepEqual(await undone(act.move(['a', 'b'], { to: 'trash' })), [
    ['POST', 'emails/bulk/move', { emailIds: ['a'], folderId: 'folder-id', fromFolderId: 'trash-id' }],
    ['POST', 'emails/bulk/label', { emailIds: ['a'], labelId: 'label-id', isLabelled: true }],
    ['POST', 'emails/bulk/move', { emailIds: ['b'], folderId: 'inbox-id', fromFolderId: 'trash-id' }],
  ]);
  t.deepEqual(await undone(act.label(['a', 'b'], 'label-id')), [
    ['POST', 'emails/bulk/label', { emailIds: ['b'], labelId: 'label-id', isLabelled: false }],
  ]);
  t.deepEqual(await undone(act.flag(['a'], true)), [
    ['POST', 'emails/bulk/flag', { emailIds: ['a'], isFlagged: false }],
  ]);
  t.deepEqual(view({ folder: 'folder' }).unread, 1);
  const deleted = act.delete(['a'], { from: ['trash'] });
  await deleted.done;
  t.deepEqual(sent.at(-1), {
    method: 'POST',
    path: '/api/emails/bulk/delete',
    body: { emailIds: ['a'], folderIds: ['trash'] },
  });
  await t.throwsAsync(deleted.undo(), { message: /deleted for good/ });
});

test('many emails are sent in parts; undo ends the sending, and restores those that no list shows', async (t) => {
  const { act, sent, replies } = world([]);
  const ids = Array.from({ length: 2_500 }, (_, i) => `${i}`);
  const known = { isRead: false, isFlagged: false, folderIds: ['folder-id', 'label-id'] };
  const found = { find: (id: string) => ({ ...known, isRead: id === '7' }) };
  const marked = act.markRead(ids, true, found);
  const progress: number[] = [];
  marked.progress$.subscribe((count) => progress.push(count));
  await marked.done;
  t.deepEqual(progress, [1_000, 2_000, 2_500]);
  t.deepEqual(
    sent.map(({ body }) => (body as { emailIds: string[] }).emailIds.length),
    [1_000, 1_000, 500],
  );
  await marked.undo();
  t.is(sent.slice(3).flatMap(({ body }) => (body as { emailIds: string[] }).emailIds).length, 2_499);

  sent.length = 0;
  let answer = () => {};
  replies.push(() => new Promise<void>((resolve) => (answer = resolve)));
  const moved = act.move(ids, { to: 'trash' }, found);
  await until(() => sent.length === 1);
  const undone = moved.undo();
  answer();
  await undone;
  t.deepEqual(
    sent.map(({ path, body }) => [path.replace('/api/emails/bulk/', ''), (body as { folderId?: string }).folderId]),
    [['move', 'trash-id'], ...Array(3).fill(['move', 'folder-id']), ...Array(3).fill(['label', undefined])],
  );
});

test('an action that has not been sent is only forgotten by its undo', async (t) => {
  const { act, sent, view } = world(three());
  const deleted = act.delete(['a']);
  t.is(view().total, 2);
  await deleted.undo();
  await deleted.done;
  t.is(view().total, 3);
  t.deepEqual(sent, []);
});

test('emails that are not shown are restored by what the log has told', async (t) => {
  const { act, sent, events$ } = world([]);
  const marked = act.markRead(['x', 'y'], true);
  events$.next({ type: 'EmailUpdated', payload: { id: 'x', isRead: true } });
  await marked.done;
  await marked.undo();
  const moved = act.move(['x', 'y'], { to: 'trash' });
  events$.next({ type: 'EmailUnplaced', payload: { id: 'y', folderId: 'folder-id' } });
  events$.next({ type: 'EmailPlaced', payload: { id: 'y', folderId: 'trash-id' } });
  await moved.done;
  await moved.undo();
  t.deepEqual(
    sent.map(({ body }) => body),
    [
      { emailIds: ['x', 'y'], isRead: true },
      { emailIds: ['x'], isRead: false },
      { emailIds: ['x', 'y'], folderId: 'trash-id' },
      { emailIds: ['y'], folderId: 'folder-id', fromFolderId: 'trash-id' },
    ],
  );
});

test('a change of somebody else shows although an action has just been carried out', async (t) => {
  const { act, view, events$ } = world(three());
  await act.markRead(['a', 'b'], true).done;
  t.is(view().unread, 0);
  events$.next({ type: 'EmailUpdated', payload: { id: 'a', isRead: true } });
  t.is(view().unread, 0);
  events$.next({ type: 'EmailUpdated', payload: { id: 'a', isRead: false } });
  t.is(view().unread, 1);
});

test('undo of an action that was refused half way restores what was carried out', async (t) => {
  const { act, sent, replies } = world([]);
  const ids = Array.from({ length: 2_500 }, (_, i) => `${i}`);
  const known = { isRead: false, isFlagged: false, folderIds: ['inbox-id'] };
  replies.push(
    async () => undefined,
    () => Promise.reject(new NotFound(404, { title: 'no such folder' })),
  );
  const moved = act.move(ids, { to: 'archive' }, { find: () => known });
  const progress: number[] = [];
  moved.progress$.subscribe((count) => progress.push(count));
  await t.throwsAsync(moved.done, { message: 'no such folder' });
  t.deepEqual(progress, [1_000]);
  sent.length = 0;
  await moved.undo();
  t.deepEqual(
    sent.map(({ body }) => body),
    [{ emailIds: ids.slice(0, 1_000), folderId: 'inbox-id', fromFolderId: 'archive-id' }],
  );
});

test('while the server has not answered, what takes an action back shows at once and goes behind it', async (t) => {
  const { act, sent, replies, view } = world(three());
  let answer = () => {};
  replies.push(() => new Promise<void>((resolve) => (answer = resolve)));
  const action = act.move(['a'], { to: 'archive' });
  await until(() => sent.length === 1);
  t.is(view({ folder: 'inbox' }).total, 2);
  const undone = action.undo();
  t.deepEqual(idsOf(view({ folder: 'inbox' })), ['a', 'b', 'c']);
  t.is(sent.length, 1);
  answer();
  await undone;
  t.deepEqual(sent.at(-1)!.body, { emailIds: ['a'], folderId: 'inbox-id', fromFolderId: 'archive-id' });
  t.deepEqual(idsOf(view({ folder: 'inbox' })), ['a', 'b', 'c']);
});

test('undo brings an email back to all of its folders, by steps that a later run of the client carries out as well', async (t) => {
  const placed = (id: string, ...folderIds: string[]) => emailItem({ id, isRead: false }, { folderIds });
  const mail = () => [placed('a', 'inbox-id', 'folder-id'), placed('b', 'inbox-id', 'archive-id', 'label-id')];
  const { act, sent, view } = world(mail());
  const action = act.move(['a', 'b'], { to: 'archive' });
  const steps = action.steps()!;
  await action.done;
  t.deepEqual(action.steps(), steps);
  sent.length = 0;
  await action.undo();
  const requests = [
    ['move', { emailIds: ['a'], folderId: 'inbox-id', fromFolderId: 'archive-id' }],
    ['copy', { emailIds: ['a'], folderId: 'folder-id' }],
    ['copy', { emailIds: ['b'], folderId: 'inbox-id' }],
  ];
  const told = (all: typeof sent) => all.map(({ path, body }) => [path.replace('/api/emails/bulk/', ''), body]);
  t.deepEqual(told(sent), requests);
  t.deepEqual(view().items[0]!.folderIds.toSorted(), ['folder-id', 'inbox-id']);

  const later = world([]);
  await later.act.carryOut(JSON.parse(JSON.stringify(steps)));
  t.deepEqual(told(later.sent), requests);

  // A move to a label leaves the inbox alone.
  sent.length = 0;
  const labelled = act.move(['a'], { to: 'label' });
  await labelled.done;
  await labelled.undo();
  t.deepEqual(told(sent.slice(1)), [['move', { emailIds: ['a'], folderId: 'inbox-id', fromFolderId: 'label-id' }]]);
  t.is(act.delete(['a']).steps(), undefined);
  t.is(act.move(['unknown'], { to: 'archive' }).steps(), undefined);
});

test('what is stopped stays as it is, and undo takes back what was carried out', async (t) => {
  const { act, sent, replies } = world([]);
  const ids = Array.from({ length: 2_500 }, (_, i) => `${i}`);
  const known = { isRead: false, isFlagged: false, folderIds: ['inbox-id'] };
  let answer = () => {};
  replies.push(() => new Promise<void>((resolve) => (answer = resolve)));
  const action = act.markRead(ids, true, { find: () => known });
  // It goes with the other one, and goes on.
  const other = act.markRead(['2400', 'more'], true);
  await until(() => sent.length === 1);
  action.stop();
  answer();
  await Promise.all([action.done, other.done]);
  const idsIn = (body: unknown) => (body as { readonly emailIds: readonly string[] }).emailIds;
  t.deepEqual(idsIn(sent[1]!.body), ['2400', 'more']);
  t.is(sent.length, 2);
  const handled = [...ids.slice(0, 1_000), '2400'];
  t.deepEqual(action.steps(), [{ change: { kind: 'mark', isRead: false }, ids: handled }]);
  await action.undo();
  t.deepEqual(
    sent.slice(2).flatMap(({ body }) => idsIn(body)),
    handled,
  );

  const unsent = act.markRead(['x'], true);
  unsent.stop();
  await unsent.done;
  await unsent.undo();
  t.is(sent.length, 4);
});
