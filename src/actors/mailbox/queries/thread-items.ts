// The list items of rows of threads: the newest email of the row, with what all of its emails show together.
import { FLAGGED, SEEN } from '../../../mail-format/flags.js';
import type { FolderRow } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import { inLabelOrder } from '../commands/labels.js';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';
import type { EmailListItem } from '../view-shapes.js';
import { listPage } from './email-views.js';
import { conversationsOf } from './folder-conversations.js';

/** Senders are those of the first email of a row and of this many newest ones. */
const NEWEST_SENDERS = 4;

/** A row names its first email and this many newest ones at most, so that a page of 100 rows names 2,000 emails at most. */
export const NEWEST_NAMED = 19;

type Thread = NonNullable<EmailListItem['thread']>;

/**
 * Items of rows, in their order. `made` is called for each in the state that the item shows. A row that has changed while its emails were
 * read is left out when another email is its newest one.
 */
export async function threadItems<T>(
  store: MailboxStore,
  state: MailboxState,
  folder: FolderColumns,
  rows: readonly (readonly number[])[],
  made: (item: EmailListItem, row: readonly number[]) => T,
): Promise<T[]> {
  const { modseq } = state;
  const read = [...new Set(rows.flatMap(spokesmen))];
  const items = new Map((await listPage(store, state, read)).map((item) => [item.id, item]));
  const newest = rows.map(([slot]) => slot!);
  const current = state.modseq === modseq ? undefined : conversationsOf(state, folder).of(newest);
  return newest.flatMap((slot, i) => {
    const row = current === undefined ? rows[i]! : current.get(slot);
    const item = row && rowItem(state, row, items);
    return item === undefined ? [] : [made(item, row!)];
  });
}

/** The emails whose senders the row shows, oldest first. */
function spokesmen(row: readonly number[]): readonly number[] {
  return firstAndNewest(row, NEWEST_SENDERS).reverse();
}

function firstAndNewest(row: readonly number[], most: number): number[] {
  const newest = row.slice(0, most);
  if (row.length > most) newest.push(row.at(-1)!);
  return newest;
}

/** Undefined when an email of the row was not read. */
function rowItem(
  state: MailboxState,
  row: readonly number[],
  items: ReadonlyMap<string, EmailListItem>,
): EmailListItem | undefined {
  const { emails } = state;
  const newest = items.get(emails.id(row[0]!));
  if (newest === undefined || row.length === 1) return newest;
  const senders = new Map<string, Thread['senders'][number]>();
  for (const slot of spokesmen(row)) {
    const item = items.get(emails.id(slot));
    if (item === undefined) return undefined;
    const { fromAddress: address, fromDisplayName: displayName } = item;
    senders.set(address.toLowerCase(), { address, displayName });
  }
  const flags = row.map((one) => emails.flags(one));
  const holders = [...state.folders.values()].filter((folder) => row.some((one) => folder.shows(one)));
  const labels = holders.flatMap((folder): FolderRow[] => (folder.row.role === 'label' ? [folder.row] : []));
  return {
    ...newest,
    isRead: flags.every((of) => (of & SEEN) !== 0),
    isFlagged: flags.some((of) => (of & FLAGGED) !== 0),
    hasAttachments: row.some((one) => emails.hasAttachments(one)),
    folderIds: holders.map((folder) => folder.row.id),
    labels: inLabelOrder(labels).map(({ id, name, color }) => ({ id, name, color: color ?? '' })),
    thread: {
      senders: [...senders.values()],
      count: row.length,
      emails: firstAndNewest(row, NEWEST_NAMED).map((one) => memberOf(state, one)),
    },
  };
}

function memberOf({ emails, folders }: MailboxState, slot: number): Thread['emails'][number] {
  const flags = emails.flags(slot);
  const holders = [...folders.values()].filter((folder) => folder.shows(slot));
  return {
    id: emails.id(slot),
    isRead: (flags & SEEN) !== 0,
    isFlagged: (flags & FLAGGED) !== 0,
    folderIds: holders.map(({ row }) => row.id),
  };
}
