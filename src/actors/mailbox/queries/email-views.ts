// The values of emails in lists and details: flags and folders come from memory, texts from the store by primary key.
import { ANSWERED, FLAGGED, SEEN } from '../../../mail-format/flags.js';
import type { EmailSummaryRow, FolderRow } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import { inLabelOrder } from '../commands/labels.js';
import type { MailboxState } from '../state/state.js';
import { type EmailDetail, type EmailListItem, shared } from '../view-shapes.js';

/** The most mailboxes of a To field that a list item shows. */
const MOST_SHOWN_RECIPIENTS = 20;

/** The list items of these slots, in their order. An item that has not changed is reused from an earlier list. */
export function listPage(store: MailboxStore, state: MailboxState, slots: readonly number[]): Promise<EmailListItem[]> {
  return listItems(store, state, slots, (item) => item);
}

/** `made` is called for each item while the mailbox is in the state that the item shows. */
export async function listItems<T>(
  store: MailboxStore,
  state: MailboxState,
  slots: readonly number[],
  made: (item: EmailListItem, slot: number) => T,
): Promise<T[]> {
  const reading = rowsOf(store, state, slots);
  const own = await ownMail(store, state, slots);
  const rows = reading instanceof Promise ? await reading : reading;
  return slots.flatMap((slot, i) => {
    const row = rows[i];
    if (row === undefined || !state.isShown(slot)) return [];
    const more = own?.get(row.id);
    return [made(more === undefined ? sharedItem(state, slot, row) : listItem(state, slot, row, more), slot)];
  });
}

type OwnMail = Pick<EmailListItem, 'outboundId' | 'draftId' | 'to'>;

/** Additional fields of the account's own mail, in Sent and Drafts, by email id; undefined when there is none. */
async function ownMail(
  store: MailboxStore,
  state: MailboxState,
  slots: readonly number[],
): Promise<ReadonlyMap<string, OwnMail> | undefined> {
  const [sent, drafts] = [state.folderOf('sent'), state.folderOf('drafts')];
  const idsOf = (of: readonly number[]) => of.map((slot) => state.emails.id(slot));
  const copies = slots.filter((slot) => sent.shows(slot));
  const ids = idsOf(slots.filter((slot) => sent.shows(slot) || drafts.shows(slot)));
  if (ids.length === 0) return undefined;
  const [outbound, recipients] = await Promise.all([
    store.outboundOfCopies(state.accountId, idsOf(copies)),
    store.recipientsOf(state.accountId, ids, MOST_SHOWN_RECIPIENTS),
  ]);
  const shown = ids.map((id): [string, OwnMail] => {
    const outboundId = outbound.get(id);
    const draftId = state.outbound.drafts.draftOf(id);
    const to = (recipients.get(id) ?? []).map(({ name, address }) => ({ address, displayName: name }));
    return [id, { ...(outboundId !== undefined && { outboundId }), ...(draftId !== undefined && { draftId }), to }];
  });
  return new Map(shown);
}

/**
 * The rows of these emails, in their order; undefined for emails that the store does not have. A promise when rows must be read: emails may
 * be gone when it resolves.
 */
function rowsOf(
  store: MailboxStore,
  state: MailboxState,
  slots: readonly number[],
): readonly (EmailSummaryRow | undefined)[] | Promise<readonly (EmailSummaryRow | undefined)[]> {
  const { summaries, emails } = state;
  const rows = slots.map((slot) => summaries.row(slot));
  const missing = slots.filter((_, i) => rows[i] === undefined);
  summaries.budget.use(summaries);
  if (missing.length === 0) return rows;
  const { version } = summaries;
  const ids = missing.map((slot) => emails.id(slot));
  return store.summaries(state.accountId, ids).then((found) => {
    const read = new Map(found.map((row) => [row.id, row]));
    missing.forEach((slot, i) => {
      const row = read.get(ids[i]!);
      if (row !== undefined && emails.isAlive(slot)) summaries.keep(slot, row, version);
    });
    summaries.budget.use(summaries);
    return slots.map((slot, i) => rows[i] ?? read.get(emails.id(slot)));
  });
}

function sharedItem(state: MailboxState, slot: number, row: EmailSummaryRow): EmailListItem {
  const { summaries } = state;
  const modseq = state.emails.modseq(slot);
  const known = summaries.item(slot, row, modseq);
  if (known !== undefined) return known;
  const item = shared(listItem(state, slot, row));
  summaries.keepItem(slot, row, modseq, item);
  return item;
}

/**
 * The fields are listed one by one, because a page of a list makes twenty items: a loop over the names of the struct costs twice as much.
 * Callers add fields with `Object.assign`: a literal that spreads this object costs 5 µs more, because V8 keeps no shapes for additions to
 * a clone.
 */
function headOf(state: MailboxState, slot: number, row: EmailSummaryRow) {
  const flags = state.emails.flags(slot);
  const folderIds: string[] = [];
  const labels: FolderRow[] = [];
  for (const folder of state.folders.values()) {
    if (!folder.shows(slot)) continue;
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

function listItem(state: MailboxState, slot: number, row: EmailSummaryRow, own: OwnMail = {}): EmailListItem {
  return Object.assign(headOf(state, slot, row), {
    previewText: row.preview,
    hasAttachments: row.hasAttachments,
    attachmentCount: row.attachmentCount,
    ...own,
  });
}

/** Emails in full, in the order of the slots, without those that are gone or hidden. */
export async function details(
  store: MailboxStore,
  state: MailboxState,
  slots: readonly number[],
): Promise<EmailDetail[]> {
  const reading = rowsOf(store, state, slots);
  const rows = reading instanceof Promise ? await reading : reading;
  return detailsOf(
    store,
    state,
    slots.flatMap((slot, i) => (rows[i] === undefined ? [] : [{ slot, row: rows[i] }])),
  );
}

/** Details of the emails that are shown, including recipients of sent emails whom the message itself need not name. */
export async function detailsOf(
  store: MailboxStore,
  state: MailboxState,
  emails: readonly { readonly slot: number; readonly row: EmailSummaryRow }[],
): Promise<EmailDetail[]> {
  const shown = emails.filter(({ slot }) => state.isShown(slot));
  const items = shown.map(({ slot, row }) => detailOf(state, slot, row));
  const sent = shown.filter(({ row }) => mayBeSent(row)).map(({ row }) => row.id);
  if (sent.length === 0) return items;
  const found = await store.blindRecipients(state.accountId, sent);
  return items.map((item) => {
    const blind = found.get(item.id);
    return blind === undefined ? item : { ...item, blindRecipients: [...blind] };
  });
}

/** An appended email may have replaced the copy that submission made. */
const mayBeSent = ({ origin = null }: EmailSummaryRow): boolean => origin !== null;

function detailOf(state: MailboxState, slot: number, row: EmailSummaryRow): EmailDetail {
  return Object.assign(headOf(state, slot, row), {
    blob: row.blob,
    inReplyTo: row.inReplyTo,
    references: [...row.references],
    ...(row.hasAuthenticationResults && { hasAuthenticationResults: true }),
  });
}
