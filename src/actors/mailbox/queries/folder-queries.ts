// Queries about folders and labels: their rows, their emails and their changes.

import { packUids } from '../../../mail-format/packed-columns.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import { shownFolders } from '../commands/folders.js';
import { keptSubscriptions } from '../commands/kept-subscriptions.js';
import { inLabelOrder, labelOf } from '../commands/labels.js';
import { folderAt } from '../commands/selection.js';
import type { MailboxProtocol } from '../protocol.js';
import { folderNamed, type MailboxSearch, searchFolder, unlessTooLarge } from '../search/search.js';
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

    async folders(state) {
      const subscriptions = keptSubscriptions(state.annotations);
      return {
        reply: { folders: shownFolders(shownRowsOf(state)), ...(subscriptions.length > 0 && { subscriptions }) },
      };
    },

    async folderAt(state, { path }) {
      return { reply: { folderId: folderAt(shownRowsOf(state), path)?.id ?? null } };
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

    async folderStatus(state, { folderIds, withSizes = false }) {
      const ids = folderIds ?? shownFolders(shownRowsOf(state)).map(({ id }) => id);
      const folders = ids.flatMap((id) => folderNamed(state, id) ?? []);
      return { reply: { folders: folders.map((folder) => statusOf(folder, withSizes)) } };
    },
  };
}

const shownRowsOf = (state: MailboxState) => [...state.folders.values()].map(({ shownRow }) => shownRow);
