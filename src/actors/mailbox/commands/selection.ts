// Resolves the emails of a command, by id or by UIDs of a folder, after the batch so far; and folders, by id or by the role of a system
// folder.
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import { type FolderRow, SYSTEM_ROLES } from '../../../store/mailbox-rows.js';
import type { Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';

/** The most emails that one command selects. */
export const MOST_EMAILS = 10_000;

export type Selection = Payload<MailboxProtocol, 'copy'>['selection'];
export type UidRange = [first: number, last: number];

interface Selected {
  /** Sorted by UID when UIDs selected the emails. */
  readonly slots: readonly number[];
  /** Ids without an email. */
  readonly missing: string[];
  /** The folder whose UIDs selected them. */
  readonly folderId?: string;
}

/** Finds a folder by id or role; several folders share the roles `label` and `folder`, so these are not valid names. */
export function folderNamed(tx: MailboxTransaction, name: string): FolderRow | undefined {
  const role = SYSTEM_ROLES.find((candidate) => candidate === name);
  return role === undefined ? tx.folders.row(name) : tx.folders.rowOf(role);
}

export function folderAt(rows: readonly FolderRow[], path: string): FolderRow | undefined {
  const wanted = caseFolded(path);
  return rows.find(({ name }) => caseFolded(name) === wanted);
}

export function selected(
  tx: MailboxTransaction,
  selection: Selection,
): Selected | { readonly refusal: 'noSuchFolder' | 'tooManyEmails' } {
  if ('emailIds' in selection) {
    const chosen = found(tx, selection.emailIds);
    return chosen.slots.length > MOST_EMAILS ? { refusal: 'tooManyEmails' } : chosen;
  }
  const folder = folderNamed(tx, selection.folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  const slots = tx.folders.slotsOfUids(folder.id, selection.uids);
  return slots.length > MOST_EMAILS ? { refusal: 'tooManyEmails' } : { slots, missing: [], folderId: folder.id };
}

/** Returns the slots of emails that a folder shows, each once, and the ids without such an email. */
export function found(tx: MailboxTransaction, emailIds: readonly string[]): Selected {
  const missing: string[] = [];
  const slots = new Set<number>();
  for (const id of emailIds) {
    const slot = tx.findShown(id);
    if (slot < 0) missing.push(id);
    else slots.add(slot);
  }
  return { missing, slots: [...slots] };
}

/** Joins consecutive UIDs into ranges, keeping the order. */
export function rangesOf(uids: readonly number[]): UidRange[] {
  const ranges: UidRange[] = [];
  for (const uid of uids) {
    const last = ranges.at(-1);
    if (last !== undefined && uid === last[1] + 1) last[1] = uid;
    else ranges.push([uid, uid]);
  }
  return ranges;
}

/** An upper bound of the number of emails of a command, or the kilobytes of its annotations; 1 when the payload has neither. */
export function weightOf(payload: unknown): number {
  const { messages, entries, emailIds, selection } = payload as {
    readonly messages?: readonly unknown[];
    readonly entries?: Payload<MailboxProtocol, 'setMetadata'>['entries'];
    readonly emailIds?: readonly string[];
    readonly selection?: Selection;
  };
  if (messages !== undefined) return messages.length;
  if (entries !== undefined) return entries.reduce((weight, { value }) => weight + (value ?? '').length / 1_000, 1);
  if (emailIds !== undefined) return emailIds.length;
  if (selection === undefined) return 1;
  if ('emailIds' in selection) return selection.emailIds.length;
  return Math.min(
    MOST_EMAILS,
    selection.uids.reduce((count, [first, last]) => count + Math.max(0, last - first + 1), 0),
  );
}
