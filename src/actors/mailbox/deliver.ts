// Delivery: accepted mail becomes an email in the inbox, after the account's filters have had their say. Announcing does
// the same for an email that somebody else has stored.
import { SEEN } from '../../mail/flags.js';
import { isUuid } from '../../mail/ids.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { MailboxDraft } from './draft.js';
import { judge, type Verdict } from './filter-match.js';
import type { MailboxProtocol } from './protocol.js';
import { factsOf } from './readings.js';

export function deliver(
  draft: MailboxDraft,
  delivery: Payload<MailboxProtocol, 'deliver'>,
): Outcome<MailboxProtocol, 'deliver'> {
  const { inboundId, blob, receivedAt, summary } = delivery;
  if (draft.isConsumed(inboundId)) return { reply: { emailId: null } };
  if (delivery.isJunk === true) return deliverJunk(draft, delivery);
  const verdict = judge(draft.filters.all(), factsOf(summary, draft.readings.bodies.get(blob)));
  draft.begin();
  draft.consume(inboundId);
  countMatches(draft, verdict);
  if (verdict.remove) {
    draft.release(blob);
    return { reply: { emailId: null } };
  }
  const id = draft.newId();
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
  draft: MailboxDraft,
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
  draft: MailboxDraft,
  { emailId }: Payload<MailboxProtocol, 'announce'>,
): Outcome<MailboxProtocol, 'announce'> {
  const slot = isUuid(emailId) ? draft.find(emailId) : -1;
  if (slot < 0) return { refusal: 'noSuchEmail' };
  const row = draft.readings.rows.get(emailId);
  if (row === undefined) throw draft.readings.fault ?? new Error(`email ${emailId} was not read`);
  const verdict = judge(draft.filters.all(), factsOf(row, draft.readings.bodies.get(row.blob)));
  draft.begin();
  countMatches(draft, verdict);
  if (verdict.remove) {
    draft.remove(slot);
    draft.emitUnread();
    return { reply: { isKept: false } };
  }
  const wasRead = (draft.flags(slot) & SEEN) !== 0;
  const isRead = wasRead || verdict.markRead;
  if (isRead !== wasRead) draft.setFlags(slot, draft.flags(slot) | SEEN);
  for (const labelId of labelsOf(draft, verdict)) {
    if (draft.folders.uid(labelId, slot) === 0) draft.place(slot, labelId);
  }
  const { fromAddress, fromName: fromDisplayName, subject, receivedAt, hasAttachments } = row;
  const email = { emailId, fromAddress, fromDisplayName, subject, receivedAt, hasAttachments };
  draft.emit('EmailDelivered', { ...email, isRead, placements: [] });
  if (isRead !== wasRead) draft.emit('EmailReadChanged', { emailId, isRead });
  if (isRead) draft.emitUnread();
  else draft.emit('UnreadCountChanged', { unread: draft.folders.rowOf('inbox').unread });
  return { reply: { isKept: true } };
}

function labelsOf(draft: MailboxDraft, { labelIds }: Verdict): string[] {
  return [...labelIds].filter((id) => draft.folders.label(id) !== undefined);
}

function countMatches(draft: MailboxDraft, { matched }: Verdict): void {
  for (const filter of matched) {
    draft.filters.put({ ...filter, lastAppliedAt: draft.now, timesApplied: filter.timesApplied + 1 });
  }
}
