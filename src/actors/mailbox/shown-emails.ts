// Emails as lists and details show them: flags and places from memory, texts from the store by primary key.
import { ANSWERED, FLAGGED, SEEN } from '../../mail/flags.js';
import type { EmailSummaryRow } from '../../store/mailbox-rows.js';
import type { MailboxStore } from '../../store/mailboxes.js';
import type { AnyStruct } from '../runtime/protocol.js';
import { type EmailDetail, type EmailListItem, emailDetail, emailListItem } from './email-view.js';
import { inLabelOrder } from './labels.js';
import type { MailboxState } from './state.js';

/** The list items of these slots, in their order. */
export async function listPage(
  store: MailboxStore,
  state: MailboxState,
  slots: readonly number[],
): Promise<EmailListItem[]> {
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
    return row === undefined ? [] : [listItem(state, slot, row, outbound.get(row.id))];
  });
}

type Shape = typeof emailListItem | typeof emailDetail;
type FromRow<S extends Shape> = Pick<EmailSummaryRow, keyof EmailSummaryRow & keyof S['schema']>;

/** Takes from a row the fields that a shape has under the same name; an optional field that is null or false is left out. */
function fieldsOf<S extends Shape>({ schema }: S): (row: EmailSummaryRow) => FromRow<S> {
  const fields = Object.entries<AnyStruct>(schema).map(([name, struct]) => [name, struct.is(undefined)] as const);
  return (row) => {
    const values = row as unknown as Readonly<Record<string, unknown>>;
    const taken: Record<string, unknown> = {};
    for (const [name, isOptional] of fields) {
      const value = values[name];
      if (value === undefined || (isOptional && (value === null || value === false))) continue;
      taken[name] = value;
    }
    return taken as FromRow<S>;
  };
}

const listFields = fieldsOf(emailListItem);
const detailFields = fieldsOf(emailDetail);

/** The fields of lists and details that have another name in the row, or are not in it. */
function headOf(state: MailboxState, slot: number, row: EmailSummaryRow) {
  const flags = state.emails.flags(slot);
  const folders = [...state.folders.values()].filter((folder) => folder.uidOf(slot) !== 0).map(({ row }) => row);
  const labels = inLabelOrder(folders.filter(({ role }) => role === 'label'));
  return {
    fromDisplayName: row.fromName,
    isRead: (flags & SEEN) !== 0,
    isFlagged: (flags & FLAGGED) !== 0,
    isAnswered: (flags & ANSWERED) !== 0,
    sizeBytes: row.size,
    folderIds: folders.map(({ id }) => id),
    labels: labels.map(({ id, name, color }) => ({ id, name, color: color ?? '' })),
  };
}

function listItem(
  state: MailboxState,
  slot: number,
  row: EmailSummaryRow,
  outboundId: string | undefined,
): EmailListItem {
  return {
    ...listFields(row),
    ...headOf(state, slot, row),
    previewText: row.preview,
    ...(outboundId !== undefined && { outboundId }),
  };
}

export function detailOf(state: MailboxState, slot: number, row: EmailSummaryRow): EmailDetail {
  return { ...detailFields(row), ...headOf(state, slot, row) };
}
