// The emails that a search finds or a list by thread has, in groups that are alike in what actions change: with them, whoever acts on a
// whole search knows what takes it back.
import { FLAGGED, SEEN } from '../../../mail-format/flags.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { Reply } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import { folderNamed, slotAtPlace, type TimePlace } from '../search/search.js';
import type { MailboxState } from '../state/state.js';
import { conversationsOf } from './folder-conversations.js';
import { currentThreads } from './list-threads.js';

/** The most emails: a reply must fit into a packet. */
export const MOST_FOUND = 20_000;
/** The most groups; emails that are older than the first one that does not fit into them are left out. */
const MOST_GROUPS = 2_000;

interface Group {
  readonly slots: number[];
  readonly flags: number;
  readonly folderIds: string[];
}

interface Found {
  readonly totalCount: number;
  readonly slots: readonly number[];
  /** Emails of each row of a list by thread, the newest first. */
  readonly rows?: readonly (readonly number[])[];
  /** Older ones are left out. */
  readonly isCut: boolean;
}

interface RowCriteria {
  readonly folder?: string | undefined;
  readonly isRead?: boolean | undefined;
  readonly isFlagged?: boolean | undefined;
  /** Only rows whose newest email is older than this one. */
  readonly before?: TimePlace | undefined;
}

/** The emails of whole rows of a list by thread, the newest rows first. `rowsOf`: ids of emails; only the rows that have one of them. */
export async function foundRows(
  store: MailboxStore,
  state: MailboxState,
  { folder: name = '', isRead, isFlagged, before }: RowCriteria,
  rowsOf: readonly string[] | undefined,
): Promise<{ readonly reply: Reply<MailboxProtocol, 'foundEmails'> } | { readonly refusal: 'noSuchFolder' }> {
  await currentThreads(store, state);
  const folder = folderNamed(state, name);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  const conversations = conversationsOf(state, folder);
  if (rowsOf !== undefined) {
    const rows = conversations.with(new Set(rowsOf.map((id) => state.findShown(id)).filter((slot) => slot >= 0)));
    const slots = rows.flat();
    return { reply: foundGroups(state, { totalCount: slots.length, slots, rows, isCut: false }) };
  }
  const isWanted = before && isOlder(state, before);
  const found = conversations.page({ page: 1, pageSize: MOST_FOUND, isRead, isFlagged, isDescending: true, isWanted });
  const rows: (readonly number[])[] = [];
  const slots: number[] = [];
  for (const row of found.rows) {
    if (slots.length + row.length > MOST_FOUND) break;
    rows.push(row);
    slots.push(...row);
  }
  const isCut = rows.length < found.totalCount;
  return { reply: foundGroups(state, { totalCount: found.emailCount, slots, rows, isCut }) };
}

function isOlder(state: MailboxState, place: TimePlace): (slot: number) => boolean {
  const at = slotAtPlace(state, place);
  return (slot) => {
    const difference = state.emails.receivedAt(slot) - place.receivedAt;
    return difference < 0 || (difference === 0 && slot < at);
  };
}

export function foundGroups(state: MailboxState, found: Found): Reply<MailboxProtocol, 'foundEmails'> {
  const { emails } = state;
  const folders = [...state.folders.values()].filter(({ count }) => count > 0);
  const groups = new Map<string, Group>();
  let end = found.slots.length;
  for (const [i, slot] of found.slots.entries()) {
    if (!state.isShown(slot)) continue;
    const flags = emails.flags(slot) & (SEEN | FLAGGED);
    const holders = folders.filter((folder) => folder.shows(slot));
    const key = [flags, ...holders.map(({ row }) => row.id)].join();
    const group = groups.get(key) ?? { slots: [], flags, folderIds: holders.map(({ row }) => row.id) };
    if (groups.size === MOST_GROUPS && group.slots.length === 0) {
      end = i;
      break;
    }
    group.slots.push(slot);
    groups.set(key, group);
  }
  const all = [...groups.values()];
  return {
    totalCount: found.totalCount,
    groups: all.map(({ slots, flags, folderIds }) => ({
      ids: Buffer.from(emails.packedIds(slots)).toString('base64'),
      isRead: (flags & SEEN) !== 0,
      isFlagged: (flags & FLAGGED) !== 0,
      folderIds,
    })),
    ...(found.rows && { threads: threadsAmong(all, found.rows) }),
    ...(found.isCut || end < found.slots.length ? nextAfter(state, found, end) : {}),
  };
}

/** Goes on behind the emails up to `end`; where that is inside a row, with all of the row. */
function nextAfter({ emails }: MailboxState, { slots, rows }: Found, end: number): { readonly next?: TimePlace } {
  let last = slots[end - 1];
  if (rows !== undefined) {
    let count = 0;
    last = undefined;
    for (const row of rows) {
      count += row.length;
      if (count > end) break;
      last = row[0];
    }
  }
  return last === undefined ? {} : { next: { receivedAt: emails.receivedAt(last), id: emails.id(last) } };
}

/** The rows of several emails, by the positions of the emails in the groups. */
function threadsAmong(groups: readonly Group[], rows: readonly (readonly number[])[]): number[][] {
  const positions = new Map<number, number>();
  for (const { slots } of groups) for (const slot of slots) positions.set(slot, positions.size);
  return rows
    .filter(({ length }) => length > 1)
    .map((row) => row.flatMap((slot) => positions.get(slot) ?? []))
    .filter(({ length }) => length > 1);
}
