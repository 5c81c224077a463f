// Imported mail becomes emails in the folders that the import names, with the flags and the date of the source. It is not announced as new
// mail, and filters do not apply.
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { type FlagSet, flagsAmong, keptFlags } from './flags.js';
import { addFolder, LABEL_COLOR } from './folders.js';
import { newEmail } from './new-email.js';

type Message = Payload<MailboxProtocol, 'placeImported'>['messages'][number];

export function placeImported(
  tx: MailboxTransaction,
  { messages }: Payload<MailboxProtocol, 'placeImported'>,
): Outcome<MailboxProtocol, 'placeImported'> {
  const waiting = messages.filter(({ inboundId }) => !tx.isConsumed(inboundId));
  if (waiting.length === 0) return { reply: { placed: 0 } };
  const all = keptFlags(
    tx,
    waiting.flatMap(({ flags }) => flags),
  );
  const folderIds = placesOf(tx, waiting);
  tx.begin();
  waiting.forEach((message, i) => {
    add(tx, message, folderIds[i]!, flagsAmong(all, message.flags));
  });
  tx.announceUnread();
  return { reply: { placed: waiting.length } };
}

function add(
  tx: MailboxTransaction,
  { inboundId, blob, summary, receivedAt }: Message,
  folderIds: readonly string[],
  { bits: flags, keywords, isDeleted }: FlagSet,
): void {
  tx.consume(inboundId);
  const id = tx.newId();
  tx.add(newEmail(summary, { id, blob, receivedAt, flags, keywords }), folderIds, { isNew: false });
  if (isDeleted) tx.setDeleted([tx.find(id)], folderIds[0]!, true);
}

/** Returns the ids of the folders of each message; missing folders are created. */
function placesOf(tx: MailboxTransaction, messages: readonly Message[]): readonly (readonly string[])[] {
  const ids = new Map<string, string | undefined>(tx.folders.rows().map(({ id, name }) => [caseFolded(name), id]));
  const idOf = (role: 'folder' | 'label', name: string): string | undefined => {
    const folded = caseFolded(name);
    if (!ids.has(folded)) {
      const made = addFolder(tx, { role, name, color: role === 'label' ? LABEL_COLOR : null, sortOrder: 0 });
      ids.set(folded, 'refusal' in made ? undefined : made.id);
    }
    return ids.get(folded);
  };
  return messages.map(({ folder, label }) => {
    const folderId = idOf('folder', folder) ?? tx.folders.rowOf('archive').id;
    const labelId = label === undefined ? undefined : idOf('label', label);
    return labelId === undefined || labelId === folderId ? [folderId] : [folderId, labelId];
  });
}
