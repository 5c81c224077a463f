// Labels: folders with a colour. Users create, change and delete them, and assign them to emails. An email that would lose its last
// placement without `\Deleted` goes to Archive: removing labels loses no email.
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { FolderRow } from '../../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { Label, MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { isKept, put } from './arriving.js';
import { deleteFolders } from './folder-deletion.js';
import { addFolder, renameTree } from './folders.js';
import { found, MOST_EMAILS } from './selection.js';

export function createLabel(
  tx: MailboxTransaction,
  { name, color, sortOrder }: Payload<MailboxProtocol, 'createLabel'>,
): Outcome<MailboxProtocol, 'createLabel'> {
  const made = addFolder(tx, { role: 'label', name, color, sortOrder });
  return 'refusal' in made ? made : { reply: labelOf(made) };
}

export function updateLabel(
  tx: MailboxTransaction,
  { labelId, name, color, sortOrder }: Payload<MailboxProtocol, 'updateLabel'>,
): Outcome<MailboxProtocol, 'updateLabel'> {
  const label = tx.folders.label(labelId);
  if (label === undefined) return { refusal: 'noSuchLabel' };
  return renameTree(tx, label, name, { color, sortOrder }) ?? { reply: {} };
}

export function deleteLabel(
  tx: MailboxTransaction,
  { labelId }: Payload<MailboxProtocol, 'deleteLabel'>,
): Outcome<MailboxProtocol, 'deleteLabel'> {
  const label = tx.folders.label(labelId);
  if (label === undefined) return { refusal: 'noSuchLabel' };
  return { reply: deleteFolders(tx, [label]) ? {} : { isComplete: false } };
}

export function assignLabel(
  tx: MailboxTransaction,
  { emailId, labelId }: Payload<MailboxProtocol, 'assignLabel'>,
): Outcome<MailboxProtocol, 'assignLabel'> {
  const slot = tx.findShown(emailId);
  if (slot < 0) return { refusal: 'noSuchEmail' };
  if (tx.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  if (isKept(tx, slot, labelId)) return { reply: {} };
  tx.begin();
  put(tx, slot, labelId);
  return { reply: {} };
}

export function unassignLabel(
  tx: MailboxTransaction,
  { emailId, labelId }: Payload<MailboxProtocol, 'unassignLabel'>,
): Outcome<MailboxProtocol, 'unassignLabel'> {
  const slot = tx.findShown(emailId);
  if (slot < 0) return { refusal: 'noSuchEmail' };
  if (tx.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  if (!isKept(tx, slot, labelId)) return { reply: {} };
  tx.begin();
  if (!tx.folders.isKeptElsewhere(slot, labelId)) put(tx, slot, tx.folders.rowOf('archive').id);
  tx.unplace([slot], labelId);
  return { reply: {} };
}

export function storeLabel(
  tx: MailboxTransaction,
  { emailIds, labelId, isLabelled }: Payload<MailboxProtocol, 'storeLabel'>,
): Outcome<MailboxProtocol, 'storeLabel'> {
  if (tx.folders.label(labelId) === undefined) return { refusal: 'noSuchLabel' };
  const { slots } = found(tx, emailIds);
  if (slots.length > MOST_EMAILS) return { refusal: 'tooManyEmails' };
  const changing = slots.filter((slot) => isKept(tx, slot, labelId) !== isLabelled);
  if (changing.length === 0) return { reply: { changed: 0 } };
  tx.begin();
  const archiveId = tx.folders.rowOf('archive').id;
  for (const slot of changing) {
    if (isLabelled) put(tx, slot, labelId);
    else if (!tx.folders.isKeptElsewhere(slot, labelId)) put(tx, slot, archiveId);
  }
  if (!isLabelled) tx.unplace(changing, labelId);
  return { reply: { changed: changing.length } };
}

export function labelOf(row: FolderRow): Label {
  const { id, name, color, sortOrder, total: emailCount, createdAt } = row;
  return { id, name, color: color ?? '', sortOrder, emailCount, createdAt };
}

/** Sorts by the users' sortOrder, then by name. */
export function inLabelOrder(rows: readonly FolderRow[]): FolderRow[] {
  if (rows.length < 2) return [...rows];
  return rows
    .map((row) => ({ row, folded: caseFolded(row.name) }))
    .sort((a, b) => a.row.sortOrder - b.row.sortOrder || (a.folded < b.folded ? -1 : 1))
    .map(({ row }) => row);
}
