// Lists of a folder's emails: a page in the requested order, and counts of all matches. Lists by time and flags come from memory; for
// others the store runs one statement.
import { FLAGGED, SEEN } from '../../../mail-format/flags.js';
import type { ListCriteria, MailboxStore } from '../../../store/mailboxes.js';
import type { Payload, Reply } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { FoundPage } from '../search/search-memory.js';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';
import { listPage } from './email-views.js';
import { conversationsOf } from './folder-conversations.js';
import { currentThreads } from './list-threads.js';
import { threadItems } from './thread-items.js';

export async function listFolder(
  store: MailboxStore,
  state: MailboxState,
  folder: FolderColumns,
  asked: Omit<Payload<MailboxProtocol, 'list'>, 'folder'>,
): Promise<Reply<MailboxProtocol, 'list'>> {
  const { totalCount, unreadCount, slots, rows } = await folderPage(store, state, folder, asked);
  const items =
    rows === undefined
      ? await listPage(store, state, slots)
      : await threadItems(store, state, folder, rows, (item) => item);
  return { items, totalCount, unreadCount };
}

export interface FolderPage extends FoundPage {
  /** Emails of each row of a list by threads, the newest first, which is the one in `slots`. */
  readonly rows?: readonly (readonly number[])[];
}

export async function folderPage(
  store: MailboxStore,
  state: MailboxState,
  folder: FolderColumns,
  asked: Omit<Payload<MailboxProtocol, 'list'>, 'folder'>,
): Promise<FolderPage> {
  const criteria = criteriaOf(asked);
  if (asked.groupByThread === true) {
    await currentThreads(store, state);
    const { page, pageSize, isDescending } = criteria;
    const { isRead, isFlagged } = asked;
    const found = conversationsOf(state, folder).page({ page, pageSize, isRead, isFlagged, isDescending });
    return { ...found, slots: found.rows.map(([newest]) => newest!) };
  }
  return criteria.order === 'date' && criteria.fromAddress === undefined
    ? pageByTime(state, folder, criteria)
    : pageOfStore(store, state, folder, criteria);
}

function criteriaOf({
  page,
  pageSize,
  isRead,
  isFlagged,
  sort = '-date',
  fromAddress,
}: Omit<Payload<MailboxProtocol, 'list'>, 'folder'>): ListCriteria {
  const mask = (isRead === undefined ? 0 : SEEN) | (isFlagged === undefined ? 0 : FLAGGED);
  const flags = (isRead === true ? SEEN : 0) | (isFlagged === true ? FLAGGED : 0);
  const isDescending = sort.startsWith('-');
  const order = (isDescending ? sort.slice(1) : sort) as ListCriteria['order'];
  return { page, pageSize, mask, flags, order, isDescending, fromAddress };
}

function pageByTime(
  { emails }: MailboxState,
  folder: FolderColumns,
  { page, pageSize, mask, flags, isDescending }: ListCriteria,
): FoundPage {
  const ordered = folder.slots();
  const first = (page - 1) * pageSize;
  if (mask === 0) {
    const { total: totalCount, unread: unreadCount } = folder.shownRow;
    return { totalCount, unreadCount, slots: folder.shown(first, pageSize, isDescending) };
  }
  const slots: number[] = [];
  let totalCount = 0;
  let unreadCount = 0;
  for (let i = 0; i < ordered.length; i++) {
    const slot = ordered[isDescending ? ordered.length - 1 - i : i]!;
    const has = emails.flags(slot);
    if ((has & mask) !== flags || folder.isDeleted(slot)) continue;
    if (totalCount >= first && slots.length < pageSize) slots.push(slot);
    totalCount++;
    if ((has & SEEN) === 0) unreadCount++;
  }
  return { totalCount, unreadCount, slots };
}

async function pageOfStore(
  store: MailboxStore,
  { accountId, emails }: MailboxState,
  folder: FolderColumns,
  criteria: ListCriteria,
): Promise<FoundPage> {
  const { ids, totalCount, unreadCount } = await store.listed(accountId, folder.row.id, criteria);
  return {
    totalCount,
    unreadCount,
    slots: ids.map((id) => emails.find(id)).filter((slot) => slot >= 0 && folder.shows(slot)),
  };
}
