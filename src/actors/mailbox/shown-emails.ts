// Emails as lists and details show them: flags and places from memory, texts from the store by primary key.
import { ANSWERED, FLAGGED, SEEN } from '../../mail/flags.js';
import type { EmailSummaryRow, FolderRow } from '../../store/mailbox-rows.js';
import type { MailboxStore } from '../../store/mailboxes.js';
import type { EmailDetail, EmailListItem } from './email-view.js';
import { inLabelOrder } from './labels.js';
import type { MailboxState } from './state.js';

/** The list items of these slots, in their order. */
export function listPage(store: MailboxStore, state: MailboxState, slots: readonly number[]): Promise<EmailListItem[]> {
  return listItems(store, state, slots, (item) => item);
}

/** `made` is called for each item in the state of the mailbox that the item is of. */
export async function listItems<T>(
  store: MailboxStore,
  state: MailboxState,
  slots: readonly number[],
  made: (item: EmailListItem, slot: number) => T,
): Promise<T[]> {
  const ids = slots.map((slot) => state.emails.id(slot));
  const sent = state.folderOf('sent');
  const copies = slots.filter((slot) => sent.uidOf(slot) !== 0).map((slot) => state.emails.id(slot));
  const [found, outbound] = await Promise.all([
    store.summaries(state.accountId, ids),
    store.outboundOfCopies(state.accountId, copies),
  ]);
  const rows = new Map(found.map((row) => [row.id, row]));
  return slots.flatMap((slot, i) => {
    const row = rows.get(ids[i]!);
    return row === undefined ? [] : [made(listItem(state, slot, row, outbound.get(row.id)), slot)];
  });
}

/** Named one by one, because a page of a list makes twenty: taking them by the names of the struct costs twice as much. */
function headOf(state: MailboxState, slot: number, row: EmailSummaryRow) {
  const flags = state.emails.flags(slot);
  const folderIds: string[] = [];
  const labels: FolderRow[] = [];
  for (const folder of state.folders.values()) {
    if (folder.uidOf(slot) === 0) continue;
    folderIds.push(folder.row.id);
    if (folder.row.role === 'label') labels.push(folder.row);
  }
  return {
    id: row.id,
    fromAddress: row.fromAddress,
    ...(row.fromIsEnvelopeSender === true && { fromIsEnvelopeSender: true }),
    fromDisplayName: row.fromName,
    subject: row.subject,
    receivedAt: row.receivedAt,
    isRead: (flags & SEEN) !== 0,
    isFlagged: (flags & FLAGGED) !== 0,
    isAnswered: (flags & ANSWERED) !== 0,
    threadId: row.threadId,
    messageId: row.messageId,
    sizeBytes: row.size,
    folderIds,
    labels: inLabelOrder(labels).map(({ id, name, color }) => ({ id, name, color: color ?? '' })),
  };
}

function listItem(
  state: MailboxState,
  slot: number,
  row: EmailSummaryRow,
  outboundId: string | undefined,
): EmailListItem {
  return {
    ...headOf(state, slot, row),
    previewText: row.preview,
    hasAttachments: row.hasAttachments,
    attachmentCount: row.attachmentCount,
    ...(outboundId !== undefined && { outboundId }),
  };
}

export function detailOf(state: MailboxState, slot: number, row: EmailSummaryRow): EmailDetail {
  return {
    ...headOf(state, slot, row),
    blob: row.blob,
    inReplyTo: row.inReplyTo,
    references: [...row.references],
  };
}
