// What people do with folders and labels themselves: each change says that it is done, and offers to undo it where it can be undone. The
// forms show why one was refused.
import type { Folder, Label, LabelInput } from '../../../src/client/index.js';
import { sayFailed } from '../app/failure.js';
import { go, route } from '../app/router.js';
import type { Store } from '../app/store.js';
import { type Put, undo } from '../app/undo.js';
import { t } from '../i18n/t.js';
import { type LabelChange, moved, shownLabels, siblingsOf } from './label-order.js';

export interface LabelDraft {
  readonly name: string;
  readonly color: string;
}

export interface FolderDraft {
  readonly name: string;
  readonly parentId: string | null;
}

/** The label stands below the others. @throws Refusal, NetworkFault */
export async function makeLabel(store: Store, { name, color }: LabelDraft): Promise<Label> {
  const numbers = store.labels.peek().map(({ sortOrder }) => sortOrder);
  const sortOrder = Math.max(-1, ...numbers) + 1;
  const label = await store.client.request('POST', '/api/labels', { body: { name, color, sortOrder } });
  undo.say(t('organise.labelMade', { name: label.name }));
  return label;
}

/** @throws Refusal, NetworkFault */
export async function changeLabel(store: Store, label: Label, draft: LabelDraft): Promise<void> {
  const { id, name, color, sortOrder } = label;
  if (draft.name === name && draft.color === color) return;
  const put = (body: LabelInput) => store.client.request('PUT', '/api/labels/{id}', { params: { id }, body });
  await put({ ...draft, sortOrder });
  undo.offer({
    text: t('organise.labelChanged', { name: draft.name }),
    undo: () => put({ name, color, sortOrder }),
    kept: keptPuts({ path: LABEL, id, body: { name, color, sortOrder } }),
  });
}

const LABEL = '/api/labels/{id}' as const;
const keptPuts =
  (...puts: readonly Put[]) =>
  () => ({ puts });

/** Whether a label has neighbours to move to, above and below. */
export function canMove(store: Store, id: string): { readonly up: boolean; readonly down: boolean } {
  const siblings = siblingsOf(shownLabels(store.folders.value, store.labels.value), id);
  const at = siblings.findIndex((label) => label.id === id);
  return { up: at > 0, down: at !== -1 && at < siblings.length - 1 };
}

export function moveLabelBy(store: Store, id: string, by: 1 | -1): void {
  const siblings = siblingsOf(shownLabels(store.folders.peek(), store.labels.peek()), id);
  move(store, id, moved(siblings, id, siblings.findIndex((label) => label.id === id) + by));
}

/** Moves a label directly before or after another one of the same parent. */
export function moveLabelTo(store: Store, id: string, target: string, isAfter: boolean): void {
  const siblings = siblingsOf(shownLabels(store.folders.peek(), store.labels.peek()), id);
  const others = siblings.filter((label) => label.id !== id);
  const at = others.findIndex((label) => label.id === target);
  if (at !== -1) move(store, id, moved(siblings, id, isAfter ? at + 1 : at));
}

function move(store: Store, id: string, changes: readonly LabelChange[]): void {
  if (changes.length === 0) return;
  const before = store.labels.peek();
  const name = before.find((label) => label.id === id)?.name ?? '';
  const put = async (side: 'before' | 'after') => {
    await Promise.all(
      changes.map((change) =>
        store.client.request('PUT', '/api/labels/{id}', { params: { id: change.id }, body: change[side] }),
      ),
    );
  };
  // Each side is shown at once; the labels that the events make the client read have the same order.
  const show = (side: 'before' | 'after') => {
    const shown = store.labels.peek();
    store.labels.value = shown
      .map((label) => ({ ...label, ...changes.find((change) => change.id === label.id)?.[side] }))
      .sort((a, b) => a.sortOrder - b.sortOrder || shown.indexOf(a) - shown.indexOf(b));
  };
  show('after');
  const stored = put('after');
  const undoMove = () => {
    show('before');
    // What restores the order must not overtake what changes it.
    return stored.then(() => put('before'));
  };
  const kept = keptPuts(...changes.map((change) => ({ path: LABEL, id: change.id, body: change.before })));
  undo.offer({ text: t('organise.labelMoved', { name }), undo: undoMove, kept });
  stored.catch((error: unknown) => {
    store.labels.value = before;
    sayFailed(error);
  });
}

/** @throws Refusal, NetworkFault */
export async function makeFolder(store: Store, draft: FolderDraft): Promise<Folder> {
  const folder = await store.client.request('POST', '/api/folders', { body: draft });
  undo.say(t('organise.folderMade', { name: draft.name }));
  return folder;
}

/** @throws Refusal, NetworkFault */
export async function changeFolder(store: Store, folder: Folder, draft: FolderDraft): Promise<void> {
  const { id, name, parentId } = folder;
  if (draft.name === name && draft.parentId === parentId) return;
  const put = (body: FolderDraft) => store.client.request('PUT', '/api/folders/{id}', { params: { id }, body });
  await put(draft);
  undo.offer({
    text: t('organise.folderChanged', { name: draft.name }),
    undo: () => put({ name, parentId }),
    kept: keptPuts({ path: '/api/folders/{id}', id, body: { name, parentId } }),
  });
}

/** @throws Refusal, NetworkFault */
export async function deleteFolder(store: Store, { id, name, role }: Folder): Promise<void> {
  const path = role === 'label' ? '/api/labels/{id}' : '/api/folders/{id}';
  await store.client.request('DELETE', path, { params: { id } });
  undo.say(t('organise.deleted', { name }));
  const shown = route.peek();
  if ((shown.view === 'label' || shown.view === 'folder') && shown.id === id) go({ view: 'place', place: 'inbox' });
}
