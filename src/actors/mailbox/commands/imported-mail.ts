// Imported mail becomes emails in the folders that the import names, with the flags and the date of the source. It is not announced as new
// mail, and filters do not apply.

import { flagBit, isDeletedFlag, isKeyword, MOST_KEYWORDS } from '../../../mail-format/flags.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { type FlagSet, flagsAmong, flagsNamed } from './flags.js';
import { addFolder, LABEL_COLOR } from './folders.js';
import { newEmail } from './new-email.js';

type Message = Payload<MailboxProtocol, 'placeImported'>['messages'][number];

export function placeImported(
  tx: MailboxTransaction,
  { messages }: Payload<MailboxProtocol, 'placeImported'>,
): Outcome<MailboxProtocol, 'placeImported'> {
  const waiting = messages.filter(({ inboundId }) => !tx.isConsumed(inboundId));
  if (waiting.length === 0) return { reply: { placed: 0 } };
  const all = keptFlags(tx, waiting);
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

/** Returns the flags of the messages, without the keywords that would exceed the account's limit. */
function keptFlags(tx: MailboxTransaction, messages: readonly Message[]): FlagSet {
  const names = [...new Set(messages.flatMap(({ flags }) => flags))];
  const known = new Set(tx.keywordNames().keys());
  const kept = names.filter((name) => {
    if (flagBit(name) !== 0 || isDeletedFlag(name)) return true;
    if (!isKeyword(name)) return false;
    const folded = name.toLowerCase();
    if (known.size < MOST_KEYWORDS) known.add(folded);
    return known.has(folded);
  });
  const flags = flagsNamed(tx, kept, true);
  if ('refusal' in flags) throw new Error(`flags of imported mail: ${flags.refusal}`);
  return flags;
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
