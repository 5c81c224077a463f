// Emails in folders: copied, moved, expunged. An email has one placement per folder (arriving.ts). A move into or out of Junk is the user's
// judgment of the email and sets `$Junk` or `$NotJunk` (RFC 9051 §2.3.2). Such a move, and a copy like it, teaches the junk filter.
import { JUNK, NOT_JUNK } from '../../../mail-format/flags.js';
import type { FolderRole, FolderRow } from '../../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import { ReplacedCopies } from '../outbound/submitted-copies.js';
import type { MailboxProtocol } from '../protocol.js';
import { grouped } from '../state/grouped.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { addedBy, arrivalOf, arrive } from './arriving.js';
import { quotaToRead } from './prefetch.js';
import { folderNamed, rangesOf, selected, type UidRange } from './selection.js';

/** The roles of the folders that an email leaves when it moves to a label. */
const LEFT_FOR_LABEL: ReadonlySet<FolderRole> = new Set(['inbox', 'trash', 'junk']);
/** The most placements that one command ends: it plans them one by one, and other accounts wait during that turn of the event loop. */
const MOST_EXPUNGED = 2_500;
/** The most emails of a command that teach the junk filter. */
const MOST_TAUGHT = 1_000;
export const ALL_UIDS: UidRange[] = [[1, 2 ** 32 - 1]];

export const copy = { reads: quotaToRead, plan: copyEmails };

function copyEmails(
  tx: MailboxTransaction,
  { selection, toFolderId }: Payload<MailboxProtocol, 'copy'>,
): Outcome<MailboxProtocol, 'copy'> {
  const target = folderNamed(tx, toFolderId);
  if (target === undefined) return { refusal: 'noSuchFolder' };
  const chosen = selected(tx, selection);
  if ('refusal' in chosen) return chosen;
  const { slots, folderId } = chosen;
  const arrival = arrivalOf(tx, slots, target.id, folderId === undefined ? 'stays' : 'duplicated');
  // All of them are copied, or none (RFC 9051 §6.4.7).
  if (!arrival.isComplete) return { refusal: 'tooManyEmails' };
  if (tx.exceedsQuota(addedBy(arrival))) return { refusal: 'overQuota' };
  const { highestModseq: before } = target;
  const from = folderId === undefined ? [] : slots.map((slot) => tx.folders.uid(folderId, slot));
  const arriving = slots.filter((slot) => !arrival.staying.has(slot));
  const copies = replacedCopies(tx, target, chosen);
  let arrived: readonly number[] = slots;
  changing(tx, arriving, () => {
    arrived = arrive(tx, arrival);
    if (target.role === 'junk') teach(tx, arrived, true);
    else if (target.role !== 'trash' && isJunkFolder(tx, folderId)) teach(tx, arrived, false);
    copies.replace(arrived);
  });
  return {
    reply: {
      count: arriving.length,
      ...uidsFromTo(tx, from, arrived, target),
      folderModseqs: modseqsOf(tx, target.id, before),
    },
  };
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
  const { folderId } = chosen;
  const sourceId = source?.id ?? folderId;
  const all = chosen.slots.filter((slot) => sourceId === undefined || tx.folders.uid(sourceId, slot) !== 0);
  const isWithin = sourceId === target.id;
  const met = isWithin ? 'placedAgain' : 'duplicated';
  const arrival = arrivalOf(tx, all, target.id, folderId === undefined ? 'stays' : met, sourceId);
  const { slots, isComplete } = arrival;
  const { highestModseq: before } = target;
  const from = folderId === undefined ? [] : slots.map((slot) => tx.folders.uid(folderId, slot));
  const leftBy = (slot: number) => (sourceId === undefined ? leftFor(tx, slot, target) : [sourceId]);
  const left = new Map(isWithin ? [] : slots.map((slot) => [slot, leftBy(slot)]));
  const isMoving = (slot: number) => !arrival.staying.has(slot) || (left.get(slot)?.length ?? 0) > 0;
  const moving = slots.filter(isMoving);
  const copies = replacedCopies(tx, target, { slots: isWithin ? [] : slots, folderId });
  let arrived: readonly number[] = slots;
  changing(tx, moving, () => {
    arrived = arrive(tx, arrival);
    for (const id of new Set([...left.values()].flat())) {
      tx.unplace(
        slots.filter((slot) => left.get(slot)!.includes(id)),
        id,
      );
    }
    if (!isWithin) judgeJunk(tx, target, slots, arrived, left);
    copies.replace(arrived);
  });
  return {
    reply: {
      count: moving.length,
      isComplete,
      ...uidsFromTo(tx, from, arrived, target),
      folderModseqs: modseqsOf(tx, target.id, before),
    },
  };
}

export function expunge(
  tx: MailboxTransaction,
  { folderId, uids = ALL_UIDS }: Payload<MailboxProtocol, 'expunge'>,
): Outcome<MailboxProtocol, 'expunge'> {
  const folder = folderNamed(tx, folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  const slots: number[] = [];
  for (const slot of tx.folders.slotsOfUids(folder.id, uids)) {
    if (slots.length > MOST_EXPUNGED) break;
    if (tx.isDeleted(slot, folder.id)) slots.push(slot);
  }
  const isComplete = slots.length <= MOST_EXPUNGED;
  if (!isComplete) slots.pop();
  const expunged = slots.map((slot) => tx.folders.uid(folder.id, slot));
  removeFrom(tx, slots, folder.id);
  return { reply: { uids: rangesOf(expunged), isComplete } };
}

/** Ends placements as one change; does nothing when there are no emails. */
export function removeFrom(tx: MailboxTransaction, slots: readonly number[], folderId: string): void {
  changing(tx, slots, () => endPlacements(tx, slots, folderId));
}

/** Removes emails from a folder that holds them; an email in no other folder is deleted. */
export function endPlacements(tx: MailboxTransaction, slots: readonly number[], folderId: string): void {
  const placed = grouped(slots, (slot) => (tx.folders.holding(slot).length === 1 ? 'nowhere else' : 'elsewhere'));
  tx.unplace(placed.get('elsewhere') ?? [], folderId);
  tx.remove(placed.get('nowhere else') ?? []);
}

/** Chooses the copies in Sent that are replaced by emails that a client selects by UID. */
function replacedCopies(
  tx: MailboxTransaction,
  { role }: FolderRow,
  { slots, folderId }: { readonly slots: readonly number[]; readonly folderId?: string | undefined },
): ReplacedCopies {
  const copies = new ReplacedCopies(tx, slots);
  if (role === 'sent' && folderId !== undefined) copies.chooseFor(slots);
  return copies;
}

/** The folders that an email leaves when the command names no source folder. */
export function leftFor(tx: MailboxTransaction, slot: number, target: FolderRow): string[] {
  const takesAll = target.role === 'trash' || target.role === 'junk';
  return tx.folders.holding(slot).filter((id) => {
    if (id === target.id) return false;
    const role = tx.folders.row(id)!.role;
    return target.role === 'label' ? LEFT_FOR_LABEL.has(role) : takesAll || role !== 'label';
  });
}

/** `left`: the folders that each email has left; `arrived`: the emails in the target that correspond to `slots`. */
function judgeJunk(
  tx: MailboxTransaction,
  target: FolderRow,
  slots: readonly number[],
  arrived: readonly number[],
  left: ReadonlyMap<number, readonly string[]>,
): void {
  const junk = tx.folders.rowOf('junk').id;
  if (target.id === junk) {
    setJunk(tx, arrived, JUNK);
    teach(tx, arrived, true);
  } else if (target.role !== 'trash') {
    const taken = arrived.filter((_, i) => left.get(slots[i]!)!.includes(junk));
    setJunk(tx, taken, NOT_JUNK);
    teach(tx, taken, false);
  }
}

const isJunkFolder = (tx: MailboxTransaction, folderId: string | undefined) => folderId === tx.folders.rowOf('junk').id;

/** The commit notes the lessons; they are learnt after it (decision 0106). */
export function teach(tx: MailboxTransaction, slots: readonly number[], isJunk: boolean): void {
  for (const slot of slots.slice(0, MOST_TAUGHT)) tx.dueMail.lessons.push({ emailId: tx.id(slot), isJunk });
}

function setJunk(tx: MailboxTransaction, slots: readonly number[], bit: typeof JUNK | typeof NOT_JUNK): void {
  const groups = grouped(slots, (slot) => (tx.flags(slot) & ~(JUNK | NOT_JUNK)) | bit);
  for (const [flags, group] of groups) tx.setFlags(group, flags);
}

/** The modseqs of a folder before and after a command; `before`: its modseq when the command began. */
export function modseqsOf(tx: MailboxTransaction, folderId: string, before: number) {
  return { folderId, before, after: tx.folders.row(folderId)!.highestModseq };
}

function uidsFromTo(tx: MailboxTransaction, from: readonly number[], slots: readonly number[], target: FolderRow) {
  const to = slots.map((slot) => tx.folders.uid(target.id, slot));
  return { uidValidity: target.uidValidity, from: rangesOf(from), to: rangesOf(to) };
}

/** Changes emails as one change; does nothing when there are none. */
function changing(tx: MailboxTransaction, slots: readonly number[], change: () => void): void {
  if (slots.length === 0) return;
  tx.begin();
  change();
  tx.announceUnread();
}
