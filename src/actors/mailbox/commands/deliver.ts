// Delivery: accepted mail becomes an email in the inbox, after the account's filters have judged it. `announce` does the same for an email
// that another component has stored.
import { SEEN } from '../../../mail-format/flags.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { Placement } from '../../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import { type FilterResult, matchFilters, needsBody, resultOf } from '../filters/filter-match.js';
import { isBounceEarly, takeBounce } from '../outbound/bounces.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { isKept, put } from './arriving.js';
import type { MailboxHandlers } from './command-handlers.js';
import { newEmail } from './new-email.js';
import { factsOf } from './prefetch.js';

interface Mail {
  readonly blob: string;
  readonly receivedAt: number;
  readonly summary: MessageSummary;
  readonly isJunk?: boolean | undefined;
}

type Names = 'deliver' | 'announce' | 'applyBodyFilters';

export const deliverCommands: Pick<MailboxHandlers<MailboxProtocol>, Names> = {
  deliver: {
    reads(mail, state) {
      if ('inlineId' in mail) return undefined;
      const { inboundId, blob, summary, isJunk, bounce } = mail;
      const isFiltered = isJunk !== true && !state.isDelivered(inboundId);
      return {
        ...(isFiltered && { filtered: { blob, facts: factsOf(summary) } }),
        ...(bounce !== undefined && { outbound: { returned: bounce.messageId } }),
      };
    },
    plan: deliver,
  },
  announce: { reads: ({ emailId }) => ({ announced: emailId }), plan: announce },
  applyBodyFilters,
};

function deliver(
  tx: MailboxTransaction,
  mail: Payload<MailboxProtocol, 'deliver'>,
): Outcome<MailboxProtocol, 'deliver'> {
  const { inboundId, receivedAt, isJunk, isTried } = mail;
  const found = tx.messages.open<{ emailId: string | null }>([mail]);
  if (!('opened' in found)) return found;
  const { opened } = found;
  const [inlineMessage] = opened.inline;
  const isInline = inlineMessage !== undefined;
  // The message arrived twice at once: with a command of another node, and then from its inbound row.
  const placed = isInline ? undefined : tx.messages.placed.get(inboundId);
  if (placed !== undefined) {
    tx.consume(inboundId);
    return { reply: placed };
  }
  if (tx.isConsumed(inboundId)) return isInline ? { refusal: 'unstored' } : { reply: { emailId: null } };
  if (isBounceEarly(tx, mail)) return { refusal: 'attemptUnderWay' };
  const { blob, summary } = opened.messages[0]!;
  // Filters read bodies from the store.
  if (isInline && isJunk !== true && needsBody(tx.filters.all(), factsOf(summary))) return tx.messages.decline();
  const emailId = place(tx, { blob, receivedAt, summary, isJunk }, inboundId);
  takeBounce(tx, mail);
  const reply = { emailId };
  if (!isInline) tx.consume(inboundId);
  if (isTried === true) tx.remember(inboundId, reply);
  if (inlineMessage?.isCarried === true) tx.messages.placed.set(inboundId, reply);
  tx.messages.accept(opened, reply, emailId !== null);
  return { reply };
}

/** Returns the id of the email, or null when a filter has deleted it. */
function place(tx: MailboxTransaction, mail: Mail, deliveryId: string): string | null {
  if (mail.isJunk === true) return placeJunk(tx, mail);
  const { blob, receivedAt, summary } = mail;
  const result = matchFilters(tx.filters.all(), factsOf(summary, tx.prefetched.bodies.get(blob)));
  tx.begin();
  countMatches(tx, result);
  if (result.remove) {
    tx.discard(blob, deliveryId);
    return null;
  }
  const id = tx.newId();
  const flags = result.markRead ? SEEN : 0;
  const folderIds = [tx.folders.rowOf('inbox').id, ...labelsOf(tx, result)];
  const placed = tx.add(newEmail(summary, { id, blob, receivedAt, flags, keywords: [] }), folderIds, { isNew: true });
  deferUndecided(tx, id, result, placed);
  tx.announceUnread();
  return id;
}

/** Junk mail is announced to nobody, and no filter moves it: users find it in the Junk folder. */
function placeJunk(tx: MailboxTransaction, { blob, receivedAt, summary }: Mail): string {
  tx.begin();
  const id = tx.newId();
  const email = newEmail(summary, { id, blob, receivedAt, flags: 0, keywords: [] });
  tx.add(email, [tx.folders.rowOf('junk').id], { isNew: false });
  return id;
}

function announce(
  tx: MailboxTransaction,
  { emailId }: Payload<MailboxProtocol, 'announce'>,
): Outcome<MailboxProtocol, 'announce'> {
  const slot = tx.findShown(emailId);
  if (slot < 0) return { refusal: 'noSuchEmail' };
  const row = tx.prefetched.rows.get(emailId);
  if (row === undefined) throw tx.prefetched.fault ?? new Error(`email ${emailId} was not read`);
  const result = matchFilters(tx.filters.all(), factsOf(row, tx.prefetched.bodies.get(row.blob)));
  tx.begin();
  countMatches(tx, result);
  const placed = tx.prefetched.placedWithEmail.filter(({ folderId, uid }) => tx.folders.uid(folderId, slot) === uid);
  if (result.remove) {
    endDelivery(tx, slot, placed);
    tx.announceUnread();
    return { reply: { isKept: tx.findShown(emailId) >= 0 } };
  }
  const isRead = (tx.flags(slot) & SEEN) !== 0 || result.markRead;
  const given = assignLabels(tx, slot, result);
  deferUndecided(tx, emailId, result, [...placed, ...given]);
  const { fromAddress, fromName: fromDisplayName, subject, receivedAt, hasAttachments } = row;
  tx.announce({ emailId, fromAddress, fromDisplayName, subject, receivedAt, hasAttachments, isRead });
  if (isRead) tx.setFlags([slot], tx.flags(slot) | SEEN);
  tx.announceUnread({ always: !isRead });
  return { reply: { isKept: true } };
}

/** Applies the filters that waited for the body of an email and that its words match, as the delivery would have done. */
function applyBodyFilters(
  tx: MailboxTransaction,
  { emailId, filterIds }: Payload<MailboxProtocol, 'applyBodyFilters'>,
): Outcome<MailboxProtocol, 'applyBodyFilters'> {
  const awaitingBody = tx.filters.bodyFiltersOf(emailId);
  if (awaitingBody === undefined) return { reply: { applied: 0 } };
  tx.begin();
  tx.filters.endBodyFilters(emailId);
  const slot = tx.find(emailId);
  if (slot < 0) return { reply: { applied: 0 } };
  const matching = tx.filters
    .all()
    .filter(({ id, isEnabled }) => isEnabled && awaitingBody.filterIds.includes(id) && filterIds.includes(id));
  const deleting = matching.findIndex((filter) => filter.delete === true);
  const result = resultOf(deleting < 0 ? matching : matching.slice(0, deleting + 1));
  countMatches(tx, result);
  if (result.remove) endDelivery(tx, slot, awaitingBody.placed);
  else {
    assignLabels(tx, slot, result);
    if (result.markRead) tx.setFlags([slot], tx.flags(slot) | SEEN);
  }
  tx.announceUnread();
  return { reply: { applied: result.matched.length } };
}

/** Ends the placements that the delivery made and nobody has changed since; copies that clients made stay. */
function endDelivery(tx: MailboxTransaction, slot: number, placed: readonly Placement[]): void {
  const still = placed.filter(({ folderId, uid }) => tx.folders.uid(folderId, slot) === uid);
  if (still.length === tx.folders.holding(slot).length) tx.remove([slot]);
  else for (const { folderId } of still) tx.unplace([slot], folderId);
}

/** Returns the placements that the labels create. */
function assignLabels(
  tx: MailboxTransaction,
  slot: number,
  result: Pick<FilterResult, 'labelIds'>,
): readonly Placement[] {
  const given = labelsOf(tx, result).filter((labelId) => !isKept(tx, slot, labelId));
  for (const labelId of given) put(tx, slot, labelId);
  return given.map((folderId) => ({ folderId, uid: tx.folders.uid(folderId, slot) }));
}

/** Filters that look at an unread body are applied later: mail does not wait for its body. */
function deferUndecided(
  tx: MailboxTransaction,
  emailId: string,
  { undecided }: FilterResult,
  placed: readonly Placement[],
): void {
  if (undecided.length === 0) return;
  tx.filters.defer({ emailId, filterIds: undecided.map(({ id }) => id), placed });
}

function labelsOf(tx: MailboxTransaction, { labelIds }: Pick<FilterResult, 'labelIds'>): string[] {
  return [...labelIds].filter((id) => tx.folders.label(id) !== undefined);
}

function countMatches(tx: MailboxTransaction, { matched }: Pick<FilterResult, 'matched'>): void {
  for (const filter of matched) {
    tx.filters.put({ ...filter, lastAppliedAt: tx.now, timesApplied: filter.timesApplied + 1 });
  }
}
