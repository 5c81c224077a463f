// What people do with emails, those of whole threads where rows are threads: each action shows its result at once, offers to undo it, and
// says so when the server refuses it.
import { signal } from '@preact/signals';
import type { Action, EmailDetail, Folder } from '../../../src/client/index.js';
import { makeFolder, makeLabel } from '../folders/folder-changes.js';
import { folderName } from '../folders/folder-name.js';
import { nextColor } from '../folders/label-colors.js';
import { t } from '../i18n/t.js';
import { failed, sayFailed } from './failure.js';
import { withEmail } from './route.js';
import { go } from './router.js';
import type { Store } from './store.js';
import { type Inverse, undo } from './undo.js';

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
  const inverses = movesBack(store, ids, folder);
  const found = store.list.forAction(ids);
  const count = store.list.countOf(ids);
  leaveRows(store, ids);
  const text = t('list.moved', { count, folder: folder ? folderName(folder) : (name ?? to) });
  settle(store, store.client.act.move(ids, { to }, found), ids, text, inverses);
}

export function deleteForGood(store: Store, ids: readonly string[]): void {
  const found = store.list.forAction(ids);
  const count = store.list.countOf(ids);
  leaveRows(store, ids);
  // Without a connection it is sent later, when somebody may have taken an email out again.
  const action = store.client.act.delete(ids, { from: ['trash', 'junk'] }, found);
  const said = t('list.deleted', { count });
  if (count > ONE_REQUEST) undo.during({ text: said }, { total: count, ...action });
  action.done.then(() => undo.say(said), sayFailed);
}

export function setRead(store: Store, isRead: boolean, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const { client, list } = store;
  const text = t(isRead ? 'list.markedRead' : 'list.markedUnread', { count: list.countOf(ids) });
  const changed = ids.filter((id) => list.known(id)?.isRead === !isRead);
  const action = client.act.markRead(ids, isRead, list.forAction(ids));
  settle(store, action, ids, text, [{ act: 'markRead', ids: changed, isRead: !isRead }]);
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
  const changed = ids.filter((id) => list.known(id)?.isFlagged === !isFlagged);
  // One email of each row gets the flag.
  const found = isFlagged ? { find: (id: string) => list.known(id) } : list.forAction(ids);
  const action = store.client.act.flag(ids, isFlagged, found);
  settle(store, action, ids, text, [{ act: 'flag', ids: changed, isFlagged: !isFlagged }]);
}

/** Puts the label on all, or takes it off when all have it. */
export function toggleLabel(store: Store, label: Pick<Folder, 'id' | 'name'>, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const { client, list } = store;
  const without = ids.filter((id) => !list.known(id)?.folderIds.includes(label.id));
  const labelId = label.id;
  const found = list.forAction(ids);
  const values = { count: list.countOf(ids), label: label.name };
  if (without.length === 0) {
    const inverses = [{ act: 'label', ids, labelId }] as const;
    settle(store, client.act.unlabel(ids, labelId, found), ids, t('list.unlabelled', values), inverses);
  } else {
    const inverses = [{ act: 'unlabel', ids: without, labelId }] as const;
    settle(store, client.act.label(ids, labelId, found), ids, t('list.labelled', values), inverses);
  }
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

/** Takes back what was done before the page was loaded again. */
export async function takeBack({ client: { act } }: Store, inverses: readonly Inverse[]): Promise<void> {
  const actions = inverses.map((inverse) => {
    switch (inverse.act) {
      case 'move':
        return act.move(inverse.ids, { to: inverse.to });
      case 'markRead':
        return act.markRead(inverse.ids, inverse.isRead);
      case 'flag':
        return act.flag(inverse.ids, inverse.isFlagged);
      default:
        return act[inverse.act](inverse.ids, inverse.labelId);
    }
  });
  await Promise.all(actions.map(({ done }) => done));
}

/** What brings emails back to their folders and labels; undefined when one has several folders, or is not known. */
function movesBack(store: Store, ids: readonly string[], to: Folder | undefined): readonly Inverse[] | undefined {
  const byFolder = new Map<string, string[]>();
  const byLabel = new Map<string, string[]>();
  const losesLabels = to?.role === 'trash' || to?.role === 'junk';
  for (const id of ids) {
    const folderIds = store.list.known(id)?.folderIds ?? [];
    const isLabel = (folderId: string) => store.folder(folderId)?.role === 'label';
    const own = folderIds.filter((folderId) => !isLabel(folderId));
    if (own.length !== 1) return undefined;
    addTo(byFolder, own[0]!, id);
    if (losesLabels) for (const labelId of folderIds.filter(isLabel)) addTo(byLabel, labelId, id);
  }
  return [
    ...[...byFolder].map(([folder, moved]) => ({ act: 'move', ids: moved, to: folder }) as const),
    ...[...byLabel].map(([labelId, labelled]) => ({ act: 'label', ids: labelled, labelId }) as const),
  ];
}

function addTo(groups: Map<string, string[]>, key: string, id: string): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [id]);
  else group.push(id);
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

function settle(
  { list }: Store,
  action: Action,
  ids: readonly string[],
  text: string,
  inverses?: readonly Inverse[],
): void {
  const count = list.countOf(ids);
  // A page that is loaded again does not know emails without a name.
  const isKept = inverses !== undefined && count === ids.length;
  const offer = { text, undo: () => action.undo(), ...(isKept && { inverses }) };
  if (count > ONE_REQUEST) undo.during(offer, { total: count, ...action });
  else undo.offer(offer);
  let handled = 0;
  action.progress$.subscribe((count) => {
    handled = count;
  });
  // What was carried out before the refusal can be taken back.
  action.done.catch((error) => (handled > 0 ? undo.offer({ ...offer, text: failed(error) }) : sayFailed(error)));
}
