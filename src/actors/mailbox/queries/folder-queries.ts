// Queries about folders and labels: their rows, their emails and their changes.

import { levelsOf } from '../../../mail-format/folder-name.js';
import { packUids } from '../../../mail-format/packed-columns.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { FolderRow } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import { shownFolders } from '../commands/folders.js';
import { keptSubscriptions } from '../commands/kept-subscriptions.js';
import { inLabelOrder, labelOf } from '../commands/labels.js';
import type { MailboxProtocol } from '../protocol.js';
import { folderNamed, type MailboxSearch, searchFolder, unlessTooLarge } from '../search/search.js';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';
import { changesOf, statusOf } from './folder-contents.js';
import { listFolder } from './lists.js';

type Names =
  | 'folders'
  | 'folderAt'
  | 'labels'
  | 'labelEmails'
  | 'folderChanges'
  | 'folderStatus'
  | 'searchFolder'
  | 'metadata';

export function folderQueries(
  store: MailboxStore,
  search: MailboxSearch,
): Pick<QueryHandlers<MailboxProtocol, MailboxState>, Names> {
  return {
    async labels(state) {
      const rows = shownRowsOf(state).filter(({ role }) => role === 'label');
      return { reply: { labels: inLabelOrder(rows).map(labelOf) } };
    },

    async labelEmails(state, { labelId, ...criteria }) {
      const folder = state.folders.get(labelId);
      if (folder?.row.role !== 'label') return { refusal: 'noSuchLabel' };
      return { reply: await listFolder(store, state, folder, criteria) };
    },

    async folders(state, { near }) {
      const subscriptions = keptSubscriptions(state.annotations);
      const rows = near === undefined ? shownRowsOf(state) : rowsNear(state, near);
      return { reply: { folders: shownFolders(rows), ...(subscriptions.length > 0 && { subscriptions }) } };
    },

    async folderAt(state, { path }) {
      return { reply: { folderId: folderAt(state, path)?.row.id ?? null } };
    },

    async folderChanges(state, { folderId, ...asked }) {
      const folder = folderNamed(state, folderId);
      return folder === undefined ? { refusal: 'noSuchFolder' } : { reply: changesOf(state, folder, asked) };
    },

    async searchFolder(state, { folderId, ...question }) {
      const folder = folderNamed(state, folderId);
      if (folder === undefined) return { refusal: 'noSuchFolder' };
      const uids = await unlessTooLarge(searchFolder(state, search, folder, question));
      return 'refusal' in uids ? uids : { reply: { uids: packUids(uids) } };
    },

    async metadata(state, { folderId }) {
      const id = folderId === null ? null : folderNamed(state, folderId)?.row.id;
      return id === undefined ? { refusal: 'noSuchFolder' } : { reply: { entries: state.annotations.of(id) } };
    },

    async folderStatus(state, { folderIds, path, withSizes = false }) {
      const ids = folderIds ?? shownFolders(shownRowsOf(state)).map(({ id }) => id);
      const named = () => ids.flatMap((id) => folderNamed(state, id) ?? []);
      const folders = path === undefined ? named() : [folderAt(state, path) ?? []].flat();
      return { reply: { folders: folders.map((folder) => statusOf(folder, withSizes)) } };
    },
  };
}

const shownRowsOf = (state: MailboxState) => [...state.folders.values()].map(({ shownRow }) => shownRow);

function folderAt({ folders }: MailboxState, path: string): FolderColumns | undefined {
  const wanted = caseFolded(path);
  for (const folder of folders.values()) if (caseFolded(folder.row.name) === wanted) return folder;
  return undefined;
}

/** Rows of the folders whose path has the same first level. */
function rowsNear({ folders }: MailboxState, path: string): FolderRow[] {
  const firstOf = (name: string) => levelsOf(caseFolded(name))[0];
  const first = firstOf(path);
  return [...folders.values()].flatMap(({ row, shownRow }) => (firstOf(row.name) === first ? [shownRow] : []));
}
