// What becomes of the emails of folders and labels that are deleted. Nothing is lost with a folder, unless it is below Trash or
// Junk: emails without another place go to Archive. Many emails go first, in commands of their own.
import { isBelow } from '../../mail/folder-name.js';
import type { FolderRow } from '../../store/mailbox-rows.js';
import type { MailboxTransaction } from './transaction.js';

/** Emails that one command takes out of folders that are deleted: other accounts wait for that turn of the event loop. */
const MOST_MOVED = 2_500;

/**
 * Mail that no other folder keeps goes to Archive; below Trash and Junk mail that is in no other folder is deleted. Filters no longer
 * assign those that are labels. False: many emails are in no other folder, some of them are in Archive now, or deleted, and the
 * command is to be given again.
 */
export function deleteFolders(tx: MailboxTransaction, folders: readonly FolderRow[]): boolean {
  const archive = tx.folders.rowOf('archive').id;
  const bins = [tx.folders.rowOf('trash').name, tx.folders.rowOf('junk').name];
  const isInBin = ({ name }: FolderRow) => bins.some((bin) => isBelow(name, bin));
  for (const folder of folders) {
    const { id } = folder;
    const isFew = isInBin(folder) ? removeFew(tx, id) : archiveFew(tx, id, archive);
    if (!isFew) return false;
  }
  tx.begin();
  for (const folder of folders) {
    if (isInBin(folder)) deleteWithEmails(tx, folder.id);
    else deleteIntoArchive(tx, folder.id, archive);
  }
  const gone = new Set(folders.map(({ id }) => id));
  for (const filter of tx.filters.all()) {
    if (filter.assignLabelId === null || !gone.has(filter.assignLabelId)) continue;
    tx.filters.put({ ...filter, assignLabelId: null, updatedAt: tx.now });
  }
  return true;
}

/** Moves emails that no other folder keeps into `archiveTo`, where there are too many for one command; false then, and else nothing happens. */
function archiveFew(tx: MailboxTransaction, id: string, archiveTo: string): boolean {
  const slots = tx.folders.keptOnlyIn(id, tx.slotsEnd);
  if (slots.length <= MOST_MOVED) return true;
  const moving = slots.slice(0, MOST_MOVED);
  tx.begin();
  displaceFrom(tx, moving, archiveTo);
  tx.place(moving, archiveTo);
  tx.unplace(moving, id);
  return false;
}

/** Removes emails that are in no other folder, where there are too many for one command; false then, and else nothing happens. */
function removeFew(tx: MailboxTransaction, id: string): boolean {
  const slots = tx.folders.onlyIn(id);
  if (slots.length <= MOST_MOVED) return true;
  tx.begin();
  tx.remove(slots.slice(0, MOST_MOVED));
  return false;
}

/** Deletes a folder with its placements, and the emails that are in no other. */
function deleteWithEmails(tx: MailboxTransaction, id: string): void {
  tx.remove(tx.folders.onlyIn(id));
  tx.deleteFolder(id);
}

/** Deletes a folder with its placements; emails that no other folder keeps arrive in `archiveTo`. */
export function deleteIntoArchive(tx: MailboxTransaction, id: string, archiveTo: string): void {
  const slots = tx.folders.keptOnlyIn(id, tx.slotsEnd);
  displaceFrom(tx, slots, archiveTo);
  tx.deleteFolder(id, { folderId: archiveTo, slots });
}

function displaceFrom(tx: MailboxTransaction, slots: readonly number[], folderId: string): void {
  tx.displace(
    slots.filter((slot) => tx.folders.uid(folderId, slot) !== 0),
    folderId,
  );
}
