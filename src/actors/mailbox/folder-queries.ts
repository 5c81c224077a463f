// Queries about folders and labels, and the emails of a label.
import type { MailboxStore } from '../../store/mailboxes.js';
import type { QueryHandlers } from '../runtime/behavior.js';
import { shownFolders } from './folders.js';
import { inLabelOrder, labelOf } from './labels.js';
import { listFolder } from './lists.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxState } from './state.js';

type Names = 'folders' | 'labels' | 'labelEmails';

export function folderQueries(store: MailboxStore): Pick<QueryHandlers<MailboxProtocol, MailboxState>, Names> {
  return {
    async labels(state) {
      const rows = [...state.folders.values()].map(({ row }) => row).filter(({ role }) => role === 'label');
      return { reply: { labels: inLabelOrder(rows).map(labelOf) } };
    },

    async labelEmails(state, { labelId, ...criteria }) {
      const folder = state.folders.get(labelId);
      if (folder?.row.role !== 'label') return { refusal: 'noSuchLabel' };
      return { reply: await listFolder(store, state, folder, criteria) };
    },

    async folders(state) {
      return { reply: { folders: shownFolders([...state.folders.values()].map(({ row }) => row)) } };
    },
  };
}
