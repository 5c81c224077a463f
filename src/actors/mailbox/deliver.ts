// Delivery: accepted mail becomes an email in the inbox, after the account's filters have had their say. Announcing does
// the same for an email that somebody else has stored.
import { SEEN } from '../../mail/flags.js';
import { isUuid } from '../../mail/ids.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import { judge, type Verdict, verdictOf } from './filter-match.js';
import { factsOf } from './prefetch.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxTransaction } from './transaction.js';

export function deliver(
  draft: MailboxTransaction,
  delivery: Payload<MailboxProtocol, 'deliver'>,
): Outcome<MailboxProtocol, 'deliver'> {
  const { inboundId, blob, receivedAt, summary } = delivery;
  if (draft.isConsumed(inboundId)) return { reply: { emailId: null } };
  if (delivery.isJunk === true) return deliverJunk(draft, delivery);
  const verdict = judge(draft.filters.all(), factsOf(summary, draft.prefetched.bodies.get(blob)));
  draft.begin();
  draft.consume(inboundId);
  countMatches(draft, verdict);
  if (verdict.remove) {
    draft.release(blob);
    return { reply: { emailId: null } };
  }
  const id = draft.newId();
  deferUndecided(draft, id, verdict);
  const flags = verdict.markRead ? SEEN : 0;
  const folderIds = [draft.folders.rowOf('inbox').id, ...labelsOf(draft, verdict)];
  // A thread is named after its first email.
  const placements = draft.add({ ...summary, id, blob, threadId: id, receivedAt, flags, keywords: [] }, folderIds);
  draft.emit('EmailDelivered', {
    emailId: id,
    fromAddress: summary.fromAddress,
    fromDisplayName: summary.fromName,
    subject: summary.subject,
    receivedAt,
    hasAttachments: summary.hasAttachments,
    isRead: verdict.markRead,
    placements,
  });
  draft.emitUnread();
  return { reply: { emailId: id } };
}

/** Nobody is told of suspect mail: it is there to be found, and no filter brings it out. */
function deliverJunk(
  draft: MailboxTransaction,
  { inboundId, blob, receivedAt, summary }: Payload<MailboxProtocol, 'deliver'>,
): Outcome<MailboxProtocol, 'deliver'> {
  draft.begin();
  draft.consume(inboundId);
  const emailId = draft.newId();
  const [placement] = draft.add(
    { ...summary, id: emailId, blob, threadId: emailId, receivedAt, flags: 0, keywords: [] },
    [draft.folders.rowOf('junk').id],
  );
  draft.emit('EmailPlaced', { emailId, ...placement! });
  return { reply: { emailId } };
}

export function announce(
  draft: MailboxTransaction,
  { emailId }: Payload<MailboxProtocol, 'announce'>,
): Outcome<MailboxProtocol, 'announce'> {
  const slot = isUuid(emailId) ? draft.find(emailId) : -1;
  if (slot < 0) return { refusal: 'noSuchEmail' };
  const row = draft.prefetched.rows.get(emailId);
  if (row === undefined) throw draft.prefetched.fault ?? new Error(`email ${emailId} was not read`);
  const verdict = judge(draft.filters.all(), factsOf(row, draft.prefetched.bodies.get(row.blob)));
  draft.begin();
  countMatches(draft, verdict);
  if (verdict.remove) {
    draft.remove(slot);
    draft.emitUnread();
    return { reply: { isKept: false } };
  }
  deferUndecided(draft, emailId, verdict);
  const wasRead = (draft.flags(slot) & SEEN) !== 0;
  const isRead = wasRead || verdict.markRead;
  markAndLabel(draft, slot, verdict);
  const { fromAddress, fromName: fromDisplayName, subject, receivedAt, hasAttachments } = row;
  const email = { emailId, fromAddress, fromDisplayName, subject, receivedAt, hasAttachments };
  draft.emit('EmailDelivered', { ...email, isRead, placements: [] });
  if (isRead !== wasRead) draft.emit('EmailReadChanged', { emailId, isRead });
  if (isRead) draft.emitUnread();
  else draft.emit('UnreadCountChanged', { unread: draft.folders.rowOf('inbox').unread });
  return { reply: { isKept: true } };
}

/** Of the filters that waited for the body of an email, those whose words it has do now what they would have done then. */
export function applyDeferred(
  draft: MailboxTransaction,
  { emailId, filterIds }: Payload<MailboxProtocol, 'applyDeferred'>,
): Outcome<MailboxProtocol, 'applyDeferred'> {
  const deferred = draft.filters.deferredOf(emailId);
  if (deferred === undefined) return { reply: { applied: 0 } };
  draft.begin();
  draft.filters.endDeferral(emailId);
  const slot = draft.find(emailId);
  if (slot < 0) return { reply: { applied: 0 } };
  const matching = draft.filters
    .all()
    .filter(({ id, isEnabled }) => isEnabled && deferred.includes(id) && filterIds.includes(id));
  const deleting = matching.findIndex((filter) => filter.delete === true);
  const verdict = verdictOf(deleting < 0 ? matching : matching.slice(0, deleting + 1));
  countMatches(draft, verdict);
  if (verdict.remove) draft.remove(slot);
  else {
    const wasRead = (draft.flags(slot) & SEEN) !== 0;
    markAndLabel(draft, slot, verdict);
    if (verdict.markRead && !wasRead) draft.emit('EmailReadChanged', { emailId, isRead: true });
  }
  draft.emitUnread();
  return { reply: { applied: verdict.matched.length } };
}

function markAndLabel(draft: MailboxTransaction, slot: number, verdict: Pick<Verdict, 'markRead' | 'labelIds'>): void {
  const flags = draft.flags(slot);
  if (verdict.markRead && (flags & SEEN) === 0) draft.setFlags(slot, flags | SEEN);
  for (const labelId of labelsOf(draft, verdict)) {
    if (draft.folders.uid(labelId, slot) === 0) draft.place(slot, labelId);
  }
}

/** Mail is not kept waiting for its body: filters that look at it follow. */
function deferUndecided(draft: MailboxTransaction, emailId: string, { undecided }: Verdict): void {
  if (undecided.length === 0) return;
  draft.filters.defer(
    emailId,
    undecided.map(({ id }) => id),
  );
}

function labelsOf(draft: MailboxTransaction, { labelIds }: Pick<Verdict, 'labelIds'>): string[] {
  return [...labelIds].filter((id) => draft.folders.label(id) !== undefined);
}

function countMatches(draft: MailboxTransaction, { matched }: Pick<Verdict, 'matched'>): void {
  for (const filter of matched) {
    draft.filters.put({ ...filter, lastAppliedAt: draft.now, timesApplied: filter.timesApplied + 1 });
  }
}
