// Emails in folders: copied, moved, expunged. An email has one placement a folder. Moving into Junk and out of it says what
// the user takes the email for, as `$Junk` and `$NotJunk` (RFC 9051 §2.3.2).
import { JUNK, NOT_JUNK } from '../../mail/flags.js';
import type { FolderRole, FolderRow } from '../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { MailboxProtocol } from './protocol.js';
import { folderNamed, MOST_EMAILS, rangesOf, selected, type UidRange } from './selection.js';
import type { MailboxTransaction } from './transaction.js';

/** What an email leaves for a label. */
const LEFT_FOR_LABEL: ReadonlySet<FolderRole> = new Set(['inbox', 'trash', 'junk']);
const ALL_UIDS: UidRange[] = [[1, 2 ** 32 - 1]];

export function copy(
  tx: MailboxTransaction,
  { selection, toFolderId }: Payload<MailboxProtocol, 'copy'>,
): Outcome<MailboxProtocol, 'copy'> {
  const target = folderNamed(tx, toFolderId);
  if (target === undefined) return { refusal: 'noSuchFolder' };
  const chosen = selected(tx, selection);
  if ('refusal' in chosen) return chosen;
  const { slots, folderId } = chosen;
  const from = folderId === undefined ? [] : slots.map((slot) => tx.folders.uid(folderId, slot));
  const count = changing(tx, (begin) => {
    for (const slot of slots) {
      if (tx.folders.uid(target.id, slot) !== 0) continue;
      begin();
      tx.place(slot, target.id);
    }
  });
  return { reply: { count, ...uidsFromTo(tx, from, slots, target) } };
}

export function move(
  tx: MailboxTransaction,
  { selection, toFolderId, fromFolderId }: Payload<MailboxProtocol, 'move'>,
): Outcome<MailboxProtocol, 'move'> {
  const target = folderNamed(tx, toFolderId);
  const source = fromFolderId === undefined ? undefined : folderNamed(tx, fromFolderId);
  if (target === undefined) return { refusal: 'noSuchFolder' };
  if (fromFolderId !== undefined && source === undefined) return { refusal: 'noSuchSource' };
  const chosen = selected(tx, selection);
  if ('refusal' in chosen) return chosen;
  const sourceId = source?.id ?? chosen.folderId;
  const slots = chosen.slots.filter((slot) => sourceId === undefined || tx.folders.uid(sourceId, slot) !== 0);
  const { folderId } = chosen;
  const from = folderId === undefined ? [] : slots.map((slot) => tx.folders.uid(folderId, slot));
  const junk = tx.folders.rowOf('junk').id;
  const count = changing(tx, (begin) => {
    for (const slot of slots) {
      const left = sourceId === undefined ? leftFor(tx, slot, target) : [sourceId];
      const isThere = tx.folders.uid(target.id, slot) !== 0;
      if (sourceId === target.id || (isThere && left.length === 0)) continue;
      begin();
      if (!isThere) tx.place(slot, target.id);
      for (const id of left) tx.unplace(slot, id);
      if (target.id === junk) setJunk(tx, slot, JUNK);
      else if (left.includes(junk) && target.role !== 'trash') setJunk(tx, slot, NOT_JUNK);
    }
  });
  return { reply: { count, ...uidsFromTo(tx, from, slots, target) } };
}

export function expunge(
  tx: MailboxTransaction,
  { folderId, uids = ALL_UIDS }: Payload<MailboxProtocol, 'expunge'>,
): Outcome<MailboxProtocol, 'expunge'> {
  const folder = folderNamed(tx, folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  const deleted = tx.folders.slotsOfUids(folder.id, uids).filter((slot) => tx.isDeleted(slot, folder.id));
  const slots = deleted.slice(0, MOST_EMAILS);
  const expunged = slots.map((slot) => tx.folders.uid(folder.id, slot));
  changing(tx, (begin) => {
    for (const slot of slots) {
      begin();
      if (tx.folders.holding(slot).length === 1) tx.remove(slot);
      else tx.unplace(slot, folder.id);
    }
  });
  return { reply: { uids: rangesOf(expunged), isComplete: slots.length === deleted.length } };
}

/** Folders that an email leaves when it moves to another and nobody said from where. */
function leftFor(tx: MailboxTransaction, slot: number, target: FolderRow): string[] {
  const takesAll = target.role === 'trash' || target.role === 'junk';
  return tx.folders.holding(slot).filter((id) => {
    if (id === target.id) return false;
    const role = tx.folders.row(id)!.role;
    return target.role === 'label' ? LEFT_FOR_LABEL.has(role) : takesAll || role !== 'label';
  });
}

function setJunk(tx: MailboxTransaction, slot: number, bit: typeof JUNK | typeof NOT_JUNK): void {
  const before = tx.flags(slot);
  const flags = (before & ~(JUNK | NOT_JUNK)) | bit;
  if (flags !== before) tx.setFlags(slot, flags);
}

function uidsFromTo(tx: MailboxTransaction, from: readonly number[], slots: readonly number[], target: FolderRow) {
  const to = slots.map((slot) => tx.folders.uid(target.id, slot));
  return { uidValidity: target.uidValidity, from: rangesOf(from), to: rangesOf(to) };
}

/** Changes emails, each after a call of `begin`; returns how many. */
function changing(tx: MailboxTransaction, change: (begin: () => void) => void): number {
  let count = 0;
  change(() => {
    if (count++ === 0) tx.begin();
  });
  if (count > 0) tx.announceUnread();
  return count;
}
