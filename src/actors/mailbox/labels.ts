// Labels: folders with a colour, made, changed and removed by the user, put on emails and taken off again. An email that
// would be left without any place goes to Archive: taking labels away loses nothing.
import { caseFolded } from '../../mail/case-fold.js';
import { isUuid } from '../../mail/ids.js';
import type { FolderRow } from '../../store/mailboxes.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { Label, MailboxProtocol } from './protocol.js';
import type { MailboxTransaction } from './transaction.js';

const MOST_LABELS = 500;

export function createLabel(
  draft: MailboxTransaction,
  { name, color, sortOrder }: Payload<MailboxProtocol, 'createLabel'>,
): Outcome<MailboxProtocol, 'createLabel'> {
  if (isTaken(draft, name)) return { refusal: 'nameTaken' };
  if (draft.folders.rows().filter(({ role }) => role === 'label').length >= MOST_LABELS) return { refusal: 'tooMany' };
  const modseq = draft.begin();
  const row: FolderRow = {
    id: draft.otherId(),
    role: 'label',
    name,
    color,
    sortOrder,
    // Another one for every label an account ever had (RFC 9051 §2.3.1.1), whatever the clock does.
    uidValidity: draft.folders.rowOf('inbox').uidValidity + modseq,
    uidNext: 1,
    total: 0,
    unread: 0,
    highestModseq: modseq,
    createdAt: draft.now,
  };
  draft.folders.add(row);
  draft.emit('LabelCreated', { labelId: row.id, name, color, sortOrder });
  return { reply: labelOf(row) };
}

export function updateLabel(
  draft: MailboxTransaction,
  { labelId, name, color, sortOrder }: Payload<MailboxProtocol, 'updateLabel'>,
): Outcome<MailboxProtocol, 'updateLabel'> {
  const label = draft.folders.label(labelId);
  if (label === undefined) return { refusal: 'noSuchLabel' };
  if (isTaken(draft, name, labelId)) return { refusal: 'nameTaken' };
  if (label.name === name && label.color === color && label.sortOrder === sortOrder) return { reply: {} };
  draft.folders.rename(labelId, { name, color, sortOrder }, draft.begin());
  draft.emit('LabelChanged', { labelId, name, color, sortOrder });
  return { reply: {} };
}

export function deleteLabel(
  draft: MailboxTransaction,
  { labelId }: Payload<MailboxProtocol, 'deleteLabel'>,
): Outcome<MailboxProtocol, 'deleteLabel'> {
  if (draft.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  draft.begin();
  const homeless = draft.folders.remove(labelId);
  const archive = draft.folders.rowOf('archive').id;
  for (const slot of homeless) draft.placeSilently(slot, archive);
  for (const filter of draft.filters.all()) {
    if (filter.assignLabelId === labelId) draft.filters.put({ ...filter, assignLabelId: null, updatedAt: draft.now });
  }
  draft.emit('LabelDeleted', { labelId, archived: homeless.length });
  return { reply: {} };
}

export function assignLabel(
  draft: MailboxTransaction,
  { emailId, labelId }: Payload<MailboxProtocol, 'assignLabel'>,
): Outcome<MailboxProtocol, 'assignLabel'> {
  const slot = isUuid(emailId) ? draft.find(emailId) : -1;
  if (slot < 0) return { refusal: 'noSuchEmail' };
  if (draft.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  if (draft.folders.uid(labelId, slot) !== 0) return { reply: {} };
  draft.begin();
  draft.place(slot, labelId);
  return { reply: {} };
}

export function unassignLabel(
  draft: MailboxTransaction,
  { emailId, labelId }: Payload<MailboxProtocol, 'unassignLabel'>,
): Outcome<MailboxProtocol, 'unassignLabel'> {
  const slot = isUuid(emailId) ? draft.find(emailId) : -1;
  if (slot < 0) return { refusal: 'noSuchEmail' };
  if (draft.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  if (draft.folders.uid(labelId, slot) === 0) return { reply: {} };
  draft.begin();
  draft.unplace(slot, labelId);
  if (draft.folders.holding(slot).length === 0) draft.place(slot, draft.folders.rowOf('archive').id);
  return { reply: {} };
}

export function labelOf(row: FolderRow): Label {
  const { id, name, color, sortOrder, total: emailCount, createdAt } = row;
  return { id, name, color: color ?? '', sortOrder, emailCount, createdAt };
}

/** As users have put them: by sortOrder, then by name. */
export function inLabelOrder(rows: readonly FolderRow[]): FolderRow[] {
  if (rows.length < 2) return [...rows];
  return rows
    .map((row) => ({ row, folded: caseFolded(row.name) }))
    .sort((a, b) => a.row.sortOrder - b.row.sortOrder || (a.folded < b.folded ? -1 : 1))
    .map(({ row }) => row);
}

function isTaken(draft: MailboxTransaction, name: string, except?: string): boolean {
  const folded = caseFolded(name);
  return draft.folders.rows().some((row) => row.id !== except && caseFolded(row.name) === folded);
}
