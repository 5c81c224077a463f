// Labels: folders with a colour, made, changed and removed by the user, put on emails and taken off again. An email that
// would be left without any place goes to Archive: taking labels away loses nothing.
import { caseFolded } from '../../mail/case-fold.js';
import { isUuid } from '../../mail/ids.js';
import type { FolderDefinition, FolderRow } from '../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { Label, MailboxProtocol } from './protocol.js';
import type { MailboxTransaction } from './transaction.js';

const MOST_LABELS = 500;

export function createLabel(
  tx: MailboxTransaction,
  { name, color, sortOrder }: Payload<MailboxProtocol, 'createLabel'>,
): Outcome<MailboxProtocol, 'createLabel'> {
  if (isTaken(tx, name)) return { refusal: 'nameTaken' };
  if (tx.folders.rows().filter(({ role }) => role === 'label').length >= MOST_LABELS) return { refusal: 'tooMany' };
  const modseq = tx.begin();
  const folder: FolderDefinition = {
    id: tx.otherId(),
    role: 'label',
    name,
    color,
    sortOrder,
    // Another one for every label an account ever had (RFC 9051 §2.3.1.1), whatever the clock does.
    uidValidity: tx.folders.rowOf('inbox').uidValidity + modseq,
    isSubscribed: true,
    createdAt: tx.now,
  };
  tx.createFolder(folder);
  return { reply: labelOf(tx.folders.row(folder.id)!) };
}

export function updateLabel(
  tx: MailboxTransaction,
  { labelId, name, color, sortOrder }: Payload<MailboxProtocol, 'updateLabel'>,
): Outcome<MailboxProtocol, 'updateLabel'> {
  const label = tx.folders.label(labelId);
  if (label === undefined) return { refusal: 'noSuchLabel' };
  if (isTaken(tx, name, labelId)) return { refusal: 'nameTaken' };
  if (label.name === name && label.color === color && label.sortOrder === sortOrder) return { reply: {} };
  tx.begin();
  tx.changeFolder(labelId, { name, color, sortOrder });
  return { reply: {} };
}

export function deleteLabel(
  tx: MailboxTransaction,
  { labelId }: Payload<MailboxProtocol, 'deleteLabel'>,
): Outcome<MailboxProtocol, 'deleteLabel'> {
  if (tx.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  tx.begin();
  tx.deleteFolder(labelId, tx.folders.rowOf('archive').id);
  for (const filter of tx.filters.all()) {
    if (filter.assignLabelId === labelId) tx.filters.put({ ...filter, assignLabelId: null, updatedAt: tx.now });
  }
  return { reply: {} };
}

export function assignLabel(
  tx: MailboxTransaction,
  { emailId, labelId }: Payload<MailboxProtocol, 'assignLabel'>,
): Outcome<MailboxProtocol, 'assignLabel'> {
  const slot = isUuid(emailId) ? tx.find(emailId) : -1;
  if (slot < 0) return { refusal: 'noSuchEmail' };
  if (tx.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  if (tx.folders.uid(labelId, slot) !== 0) return { reply: {} };
  tx.begin();
  tx.place(slot, labelId);
  return { reply: {} };
}

export function unassignLabel(
  tx: MailboxTransaction,
  { emailId, labelId }: Payload<MailboxProtocol, 'unassignLabel'>,
): Outcome<MailboxProtocol, 'unassignLabel'> {
  const slot = isUuid(emailId) ? tx.find(emailId) : -1;
  if (slot < 0) return { refusal: 'noSuchEmail' };
  if (tx.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  if (tx.folders.uid(labelId, slot) === 0) return { reply: {} };
  tx.begin();
  tx.unplace(slot, labelId);
  if (tx.folders.holding(slot).length === 0) tx.place(slot, tx.folders.rowOf('archive').id);
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

function isTaken(tx: MailboxTransaction, name: string, except?: string): boolean {
  const folded = caseFolded(name);
  return tx.folders.rows().some((row) => row.id !== except && caseFolded(row.name) === folded);
}
