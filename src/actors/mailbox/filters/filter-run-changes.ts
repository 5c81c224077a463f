// What a run of a filter changes of an email, and how that is undone: what somebody has changed since stays as it is.
import type { FilterRow, Placement, RunEmail } from '../../../store/mailbox-rows.js';
import { isKept, put } from '../commands/arriving.js';
import { keptFlags } from '../commands/flags.js';
import { leftFor } from '../commands/placing.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { planOf } from './delivery-plan.js';

/** Applies the filter to an email; a filter that deletes moves to Trash. Undefined when nothing changes. */
export function applyRule(tx: MailboxTransaction, slot: number, rule: FilterRow): RunEmail | undefined {
  const emailId = tx.id(slot);
  const plan = planOf([rule]);
  const [target] = plan.remove ? [tx.folders.rowOf('trash').id] : plan.folderIds;
  const labels = [...plan.labelIds].filter((id) => tx.folders.label(id) !== undefined && !isKept(tx, slot, id));
  const given = labels.map((id) => placed(tx, slot, id));
  const moved = target === undefined ? null : moveTo(tx, slot, target);
  const { bits, keywords } = keptFlags(tx, plan.flags);
  const flags = bits & ~tx.flags(slot);
  const before = tx.keywords(slot);
  const added = keywords.filter((name) => !before.includes(name));
  tx.setFlags([slot], tx.flags(slot) | bits, added.length === 0 ? undefined : [...before, ...added]);
  const isChanged = given.length > 0 || moved !== null || flags !== 0 || added.length > 0;
  return isChanged ? { emailId, flags, keywords: added, labels: given, moved } : undefined;
}

function moveTo(tx: MailboxTransaction, slot: number, folderId: string): RunEmail['moved'] {
  const target = tx.folders.row(folderId);
  if (target === undefined) return null;
  const from = leftFor(tx, slot, target);
  const to = isKept(tx, slot, folderId) ? null : placed(tx, slot, folderId);
  if (to === null && from.length === 0) return null;
  for (const id of from) tx.unplace([slot], id);
  return { to, from };
}

function placed(tx: MailboxTransaction, slot: number, folderId: string): Placement {
  put(tx, slot, folderId);
  return { folderId, uid: tx.folders.uid(folderId, slot) };
}

export function undoEmail(tx: MailboxTransaction, { emailId, flags, keywords, labels, moved }: RunEmail): void {
  const slot = tx.findShown(emailId);
  if (slot < 0) return;
  if (moved !== null) moveBack(tx, slot, moved);
  for (const label of labels) if (isStill(tx, slot, label)) unplace(tx, slot, label.folderId);
  const before = tx.keywords(slot);
  const left = before.filter((name) => !keywords.includes(name));
  tx.setFlags([slot], tx.flags(slot) & ~flags, left.length === before.length ? undefined : left);
}

/** An email that somebody has moved since stays where it is. */
function moveBack(tx: MailboxTransaction, slot: number, { to, from }: NonNullable<RunEmail['moved']>): void {
  if (to !== null && !isStill(tx, slot, to)) return;
  const back = from.filter((id) => tx.folders.row(id) !== undefined);
  for (const id of back) put(tx, slot, id);
  if (to !== null && back.length > 0) unplace(tx, slot, to.folderId);
}

const isStill = (tx: MailboxTransaction, slot: number, { folderId, uid }: Placement): boolean =>
  tx.folders.row(folderId) !== undefined && tx.folders.uid(folderId, slot) === uid && !tx.isDeleted(slot, folderId);

/** The last placement of an email that a folder shows stays. */
function unplace(tx: MailboxTransaction, slot: number, folderId: string): void {
  if (tx.folders.isKeptElsewhere(slot, folderId)) tx.unplace([slot], folderId);
}
