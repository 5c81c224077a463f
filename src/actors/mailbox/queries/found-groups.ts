// The emails that a search finds, in groups that are alike in what actions change: with them, whoever acts on a whole search knows what takes
// it back.
import { FLAGGED, SEEN } from '../../../mail-format/flags.js';
import type { Reply } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { FoundPage } from '../search/search-memory.js';
import type { MailboxState } from '../state/state.js';

/** The most emails: a reply must fit into a packet. */
export const MOST_FOUND = 20_000;
/** The most groups; emails that are older than the first one that does not fit into them are left out. */
const MOST_GROUPS = 2_000;

interface Group {
  readonly slots: number[];
  readonly flags: number;
  readonly folderIds: string[];
}

export function foundGroups(state: MailboxState, found: FoundPage): Reply<MailboxProtocol, 'foundEmails'> {
  const { emails } = state;
  const folders = [...state.folders.values()].filter(({ count }) => count > 0);
  const groups = new Map<string, Group>();
  for (const slot of found.slots) {
    if (!state.isShown(slot)) continue;
    const flags = emails.flags(slot) & (SEEN | FLAGGED);
    const holders = folders.filter((folder) => folder.shows(slot));
    const key = [flags, ...holders.map(({ row }) => row.id)].join();
    const group = groups.get(key) ?? { slots: [], flags, folderIds: holders.map(({ row }) => row.id) };
    if (groups.size === MOST_GROUPS && group.slots.length === 0) break;
    group.slots.push(slot);
    groups.set(key, group);
  }
  return {
    totalCount: found.totalCount,
    groups: [...groups.values()].map(({ slots, flags, folderIds }) => ({
      ids: Buffer.from(emails.packedIds(slots)).toString('base64'),
      isRead: (flags & SEEN) !== 0,
      isFlagged: (flags & FLAGGED) !== 0,
      folderIds,
    })),
  };
}
