// What people do with emails, those of whole threads where rows are threads: each action shows its result at once, offers to undo it, and
// says so when the server refuses it.
import { signal } from '@preact/signals';
import { type Action, type EmailDetail, type Folder, Refusal } from '../../../src/client/index.js';
import { makeFolder, makeLabel } from '../folders/folder-changes.js';
import { folderName } from '../folders/folder-name.js';
import { nextColor } from '../folders/label-colors.js';
import { t } from '../i18n/t.js';
import { failed, sayFailed } from './failure.js';
import { withEmail } from './route.js';
import { go } from './router.js';
import type { Store } from './store.js';
import { type KeptUndo, undo } from './undo.js';

/** The emails whose deletion for good waits for an answer (delete-question.tsx asks). */
export const inQuestion = signal<readonly string[]>([]);

/** An action on more emails takes a while, and says how far it is. */
const ONE_REQUEST = 1_000;

/**
 * Calls `act` with what keys and buttons act on: with what is selected, else with all emails of the row of the open email, else of the row
 * that the keys are at.
 */
export function withTargets(store: Store, act: (ids: readonly string[]) => void): void {
  const { list, openId } = store;
  const selected = list.selected.peek();
  const id = openId.peek() ?? list.cursorId.peek();
  if (selected.size > 0) act([...selected]);
  else if (id !== undefined) withRows(store, [id], act);
}

/** Calls `act` with all emails of the rows of these emails: at once, unless the server has to give those that the list does not name. */
export function withRows({ list }: Store, rows: readonly string[], act: (ids: readonly string[]) => void): void {
  if (list.areCut(rows)) list.wholeRows(rows).then(act).catch(sayFailed);
  else act(list.emailsOfRows(rows));
}

/** The role of the folder that is shown, when it is one of the system. */
export function shownRole(store: Store): string | undefined {
  return store.folderOf(store.list.route.value)?.role;
}

export function archive(store: Store, ids: readonly string[]): void {
  if (shownRole(store) !== 'archive') moveTo(store, 'archive', ids);
}

export function junk(store: Store, ids: readonly string[]): void {
  moveTo(store, shownRole(store) === 'junk' ? 'inbox' : 'junk', ids);
}

/** In Trash it deletes for good, after a question. */
export function trash(store: Store, ids: readonly string[]): void {
  if (shownRole(store) !== 'trash') moveTo(store, 'trash', ids);
  else if (ids.length > 0) inQuestion.value = ids;
}

/** `name`: of a folder that has just been made. */
export function moveTo(store: Store, to: string, ids: readonly string[], name?: string): void {
  if (ids.length === 0) return;
  const folder = store.folder(to);
  const found = store.list.forAction(ids);
  const count = store.list.countOf(ids);
  leaveRows(store, ids);
  const text = t('list.moved', { count, folder: folder ? folderName(folder) : (name ?? to) });
  settle(store, store.client.act.move(ids, { to }, found), ids, text);
}

export function deleteForGood(store: Store, ids: readonly string[]): void {
  const found = store.list.forAction(ids);
  const count = store.list.countOf(ids);
  leaveRows(store, ids);
  // Without a connection it is sent later, when somebody may have taken an email out again.
  const action = store.client.act.delete(ids, { from: ['trash', 'junk'] }, found);
  const said = t('list.deleted', { count });
  const isLong = count > ONE_REQUEST;
  if (isLong) undo.during({ text: said }, runOf(action, count));
  action.done.then(() => isLong || undo.say(said), sayFailed);
}

export function setRead(store: Store, isRead: boolean, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const { client, list } = store;
  const text = t(isRead ? 'list.markedRead' : 'list.markedUnread', { count: list.countOf(ids) });
  settle(store, client.act.markRead(ids, isRead, list.forAction(ids)), ids, text);
}

/** Marks an email that is opened as read, with all emails of its row. */
export function readRow(store: Store, { id, isRead }: Pick<EmailDetail, 'id' | 'isRead'>): void {
  const { client, list } = store;
  const mark = (ids: readonly string[]) => {
    const found = list.forAction(ids);
    // Those without a name may be unread.
    const isUnnamed = found.unnamed !== undefined && list.row(id)?.isRead === false;
    const unread = ids.filter((one) => isUnnamed || (one === id ? !isRead : list.known(one)?.isRead === false));
    if (unread.length > 0) client.act.markRead(unread, true, found).done.catch(() => {});
  };
  if (list.areCut([id])) list.wholeRows([id]).then(mark, () => mark(list.emailsOfRows([id])));
  else mark(list.emailsOfRows([id]));
}

/** Whether each row of these emails has one of them that is flagged. */
export function areFlagged({ list }: Store, ids: readonly string[]): boolean {
  return ids.length > 0 && list.byRows(ids).every((row) => isOneFlagged(list, row));
}

const isOneFlagged = (list: Store['list'], row: readonly string[]): boolean =>
  row.some((id) => list.known(id)?.isFlagged === true);

/** Flags one email of each row that has none, or takes the flags of all emails when each row has one. */
export function toggleFlag(store: Store, all: readonly string[]): void {
  if (all.length === 0) return;
  const { list } = store;
  const bare = list.byRows(all).filter((row) => !isOneFlagged(list, row));
  const isFlagged = bare.length > 0;
  const ids = isFlagged ? bare.map(([newest]) => newest!) : all;
  const text = t(isFlagged ? 'list.flagged' : 'list.unflagged', { count: isFlagged ? ids.length : list.countOf(ids) });
  // One email of each row gets the flag.
  const found = isFlagged ? { find: (id: string) => list.known(id) } : list.forAction(ids);
  settle(store, store.client.act.flag(ids, isFlagged, found), ids, text);
}

/** Puts the label on all, or takes it off when all have it. */
export function toggleLabel(store: Store, label: Pick<Folder, 'id' | 'name'>, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const { client, list } = store;
  const labelId = label.id;
  const haveAll = ids.every((id) => list.known(id)?.folderIds.includes(labelId));
  const found = list.forAction(ids);
  const values = { count: list.countOf(ids), label: label.name };
  if (haveAll) settle(store, client.act.unlabel(ids, labelId, found), ids, t('list.unlabelled', values));
  else settle(store, client.act.label(ids, labelId, found), ids, t('list.labelled', values));
}

/** Makes a label or a folder, and puts the emails there. */
export async function makeAndUse(
  store: Store,
  what: 'label' | 'move',
  name: string,
  ids: readonly string[],
): Promise<void> {
  try {
    if (what === 'label') {
      const color = nextColor(store.folders.peek().filter(({ role }) => role === 'label'));
      toggleLabel(store, await makeLabel(store, { name, color }), ids);
    } else {
      const { id } = await makeFolder(store, { name, parentId: null });
      moveTo(store, id, ids, name);
    }
  } catch (error) {
    sayFailed(error);
  }
}

/** Shows the offer to undo what was done before the page was loaded again. */
export function resumeUndo(store: Store): void {
  const kept = undo.resume((left) => takeBack(store, left));
  if (kept === undefined || !('key' in kept) || kept.steps !== undefined) return;
  // Emails of the action have no name yet; when it is carried out they have, and the page may be loaded once more.
  store.client.act
    .restored(kept.key)
    .then((action) => action && keepWhenDone(action))
    .catch(() => {});
}

/** @throws Refusal, NetworkFault */
async function takeBack({ client }: Store, kept: KeptUndo): Promise<void> {
  if ('puts' in kept) {
    await Promise.all(
      kept.puts.map((put) =>
        put.path === '/api/labels/{id}'
          ? client.request('PUT', put.path, { params: { id: put.id }, body: put.body })
          : client.request('PUT', put.path, { params: { id: put.id }, body: put.body }),
      ),
    );
    return;
  }
  const action = await client.act.restored(kept.key);
  if (action !== undefined) await action.undo();
  else if (kept.steps !== undefined) await client.act.carryOut(kept.steps);
  else throw new Refusal(409, { title: t('undo.tooLate') });
}

/** The keys go on at the row after those that leave the list, and an open email that leaves it is closed. */
function leaveRows(store: Store, ids: readonly string[]): void {
  const { list } = store;
  const gone = new Set(ids);
  const { start, items } = list.view.peek();
  const from = list.indexOf(list.cursorId.peek() ?? ids[0]);
  const after = from === undefined ? [] : items.slice(from - start);
  const before = from === undefined ? [] : items.slice(0, from - start).reverse();
  list.cursorId.value = [...after, ...before].find(({ id }) => !gone.has(id))?.id;
  list.clearSelection();
  const openId = store.openId.peek();
  if (openId !== undefined && gone.has(openId)) go(withEmail(list.route.peek(), undefined));
}

function settle({ list }: Store, action: Action, ids: readonly string[], text: string): void {
  const count = list.countOf(ids);
  const kept = () => keptOf(action);
  const offer = { text, undo: () => action.undo(), kept };
  if (count > ONE_REQUEST) undo.during(offer, runOf(action, count));
  else undo.offer(offer);
  // The server names emails that had no name.
  if (count > ids.length) void keepWhenDone(action);
  let handled = 0;
  action.progress$.subscribe((count) => {
    handled = count;
  });
  // What was carried out before the refusal can be taken back.
  action.done.catch((error) => (handled > 0 ? undo.offer({ ...offer, text: failed(error) }) : sayFailed(error)));
}

const keptOf = (action: Action): KeptUndo => ({ key: action.key, steps: action.steps() });

function keepWhenDone(action: Action): Promise<void> {
  return action.done.then(
    () => undo.keepAgain(action.key, () => keptOf(action)),
    () => {},
  );
}

const runOf = (action: Action, total: number) => ({
  total,
  progress$: action.progress$,
  done: action.done,
  stop: () => action.stop(),
});
