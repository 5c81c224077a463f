// Handles the emails of folders and labels that are deleted. They are kept: emails in no other folder go to Archive, unless the deleted
// folder is below Trash or Junk. Many emails are moved first, by separate commands.
import { isBelow } from '../../../mail-format/folder-name.js';
import type { FolderRow } from '../../../store/mailbox-rows.js';
import { forgetFolders } from '../filters/filters.js';
import type { MailboxTransaction } from '../state/transaction.js';

/** The most emails that one command moves out of deleted folders: other accounts wait during that turn of the event loop. */
const MOST_MOVED = 2_500;

/**
 * Deletes folders. Mail that no other folder keeps goes to Archive; mail in folders below Trash or Junk that is in no other folder is
 * deleted. Filters stop assigning deleted labels, and filters that move mail to a deleted folder are disabled. Returns false when too many emails are in no other folder: some of them were moved or
 * deleted, and the command must be repeated.
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
  forgetFolders(tx, new Set(folders.map(({ id }) => id)));
  return true;
}

/** Returns true and does nothing if one command can move the emails that no other folder keeps; otherwise moves some to `archiveTo`. */
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

/** Returns true and does nothing if one command can remove the emails that are in no other folder; otherwise removes some. */
function removeFew(tx: MailboxTransaction, id: string): boolean {
  const slots = tx.folders.onlyIn(id);
  if (slots.length <= MOST_MOVED) return true;
  tx.begin();
  tx.remove(slots.slice(0, MOST_MOVED));
  return false;
}

/** Deletes a folder with its placements, and the emails that are in no other folder. */
function deleteWithEmails(tx: MailboxTransaction, id: string): void {
  tx.remove(tx.folders.onlyIn(id));
  tx.deleteFolder(id);
}

/** Deletes a folder with its placements; emails that no other folder keeps arrive in `archiveTo`. */
function deleteIntoArchive(tx: MailboxTransaction, id: string, archiveTo: string): void {
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
