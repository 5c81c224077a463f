// Commands of users about outbound mail: drafts, and messages that are queued with their copy in Sent. What the delivery queue
// asks is in deliveries.ts; the state of an email is decided by its machine.

import { step } from '../../../machines/outbound-email/step.js';
import type { OutboundEmailEvent } from '../../../machines/outbound-email/types.js';
import { flagBit, SEEN } from '../../../mail/flags.js';
import { isUuid } from '../../../mail/ids.js';
import type { OutboundRecipientRow, OutboundRow } from '../../../store/outbound.js';
import type { CommandHandlers } from '../../runtime/behavior.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../transaction.js';
import { handOver, keepAttempts, startedOf, takersOf } from './deliveries.js';
import { hostedRecipients } from './hosted-recipients.js';
import type { Addressee, outboundOperations } from './protocol.js';
import { advance } from './step.js';

const MOST_DRAFTS = 1_000;

const UNQUEUED = {
  queuedAt: null,
  sentAt: null,
  retryCount: 0,
  nextRetryAt: null,
  lastError: null,
  attempt: null,
  reportDue: null,
  delayReported: false,
  machine: null,
} as const;

type Names = {
  [N in keyof typeof outboundOperations]: (typeof outboundOperations)[N]['kind'] extends 'command' ? N : never;
}[keyof typeof outboundOperations];

export const outboundCommands: Pick<CommandHandlers<MailboxProtocol, MailboxTransaction>, Names> = {
  createDraft,
  updateDraft,
  deleteDraft,
  enqueue,
};

function createDraft(
  tx: MailboxTransaction,
  { draft: written }: Payload<MailboxProtocol, 'createDraft'>,
): Outcome<MailboxProtocol, 'createDraft'> {
  if (tx.outbound.drafts >= MOST_DRAFTS) return { refusal: 'tooMany' };
  tx.begin();
  const id = tx.otherId();
  const row: OutboundRow = {
    id,
    status: 'Draft',
    blob: written.message?.blob ?? null,
    sender: written.sender,
    subject: written.subject,
    messageId: null,
    inReplyTo: null,
    references: [],
    size: written.message?.size ?? 0,
    sentEmailId: null,
    createdAt: tx.now,
    updatedAt: tx.now,
    ...UNQUEUED,
    recipients: recipientsOf(tx, written.recipients),
  };
  tx.outbound.put(row, undefined, { recipients: 'all', content: written.content });
  return { reply: { id } };
}

function updateDraft(
  tx: MailboxTransaction,
  { outboundId, draft: written }: Payload<MailboxProtocol, 'updateDraft'>,
): Outcome<MailboxProtocol, 'updateDraft'> {
  const before = draftOf(tx, outboundId);
  if (before === undefined) return { refusal: 'noSuchOutbound' };
  tx.begin();
  const { sender, subject, content, recipients, message } = written;
  // Rises with every change: a message made of an earlier one can be told by it.
  const updatedAt = Math.max(tx.now, before.updatedAt + 1);
  const { blob = null, size = 0 } = message ?? {};
  const row = { ...before, blob, size, sender, subject, updatedAt, recipients: recipientsOf(tx, recipients) };
  tx.outbound.put(row, before, { recipients: 'all', content });
  return { reply: {} };
}

function deleteDraft(
  tx: MailboxTransaction,
  { outboundId }: Payload<MailboxProtocol, 'deleteDraft'>,
): Outcome<MailboxProtocol, 'deleteDraft'> {
  if (draftOf(tx, outboundId) === undefined) return { refusal: 'noSuchOutbound' };
  tx.begin();
  tx.outbound.remove(outboundId);
  return { reply: {} };
}

function enqueue(
  tx: MailboxTransaction,
  payload: Payload<MailboxProtocol, 'enqueue'>,
): Outcome<MailboxProtocol, 'enqueue'> {
  const { draft: from, sender, blob, summary, content, recipients: addressees } = payload;
  const before = from === null ? undefined : draftOf(tx, from.id);
  if (from !== null) {
    if (before === undefined) return { refusal: 'noSuchOutbound' };
    if (before.updatedAt !== from.updatedAt) return { refusal: 'draftChanged' };
  }
  const { now } = tx;
  tx.begin();
  const id = before?.id ?? tx.otherId();
  const recipients = recipientsOf(tx, addressees);
  const recipientIds = recipients.map((recipient) => recipient.id);
  const hosted = hostedRecipients(tx, payload, recipients);
  const by = hosted.outcomes.length === recipients.length ? undefined : tx.outbound.deliverer;
  const attempt = by === undefined ? null : { id: tx.otherId(), by };
  const events: OutboundEmailEvent[] = [{ type: 'enqueue', now, recipientIds, hasSender: sender !== '' }];
  if (attempt !== null || hosted.events.length > 0) events.push({ type: 'start', now }, ...hosted.events);
  if (attempt === null && hosted.events.length > 0) {
    // The others are due at once.
    events.push({ type: 'end', now, random: 0, policy: tx.retryPolicy, isInterrupted: true });
  }
  const next = step(null, ...events);
  const sentEmailId = tx.newId();
  const copy = { ...summary, id: sentEmailId, blob, threadId: sentEmailId, receivedAt: now, flags: SEEN, keywords: [] };
  tx.add(copy, [tx.folders.rowOf('sent').id], { isNew: false });
  flagOriginal(tx, payload.original);
  const { subject, messageId, inReplyTo, references, size } = summary;
  const createdAt = before?.createdAt ?? now;
  const row: OutboundRow = {
    id,
    status: 'Draft',
    blob,
    sender,
    subject,
    messageId,
    inReplyTo,
    references,
    size,
    sentEmailId,
    createdAt,
    updatedAt: Math.max(now, before?.updatedAt ?? 0),
    ...UNQUEUED,
    attempt,
    recipients,
  };
  keepAttempts(tx, id, hosted.attempts);
  const advanced = advance(tx, row, next, { before, recipients: 'all', content: content ?? undefined, summary });
  if (attempt !== null) tx.outbound.begin(advanced, attempt, startedOf(tx, advanced, next));
  handOver(tx, row, summary, takersOf(row, next, hosted.outcomes));
  return { reply: { id, createdAt, sentEmailId } };
}

/** It may have been deleted meanwhile. */
function flagOriginal(tx: MailboxTransaction, original: Payload<MailboxProtocol, 'enqueue'>['original']): void {
  if (original === undefined) return;
  const slot = isUuid(original.emailId) ? tx.find(original.emailId) : -1;
  if (slot >= 0) tx.setFlags(slot, tx.flags(slot) | flagBit(original.flag));
}

function draftOf(tx: MailboxTransaction, id: string): OutboundRow | undefined {
  const row = isUuid(id) ? tx.outbound.get(id) : undefined;
  return row?.status === 'Draft' ? row : undefined;
}

function recipientsOf(tx: MailboxTransaction, addressees: readonly Addressee[]): OutboundRecipientRow[] {
  return addressees.map(({ address, displayName, type, domain }) => ({
    id: tx.otherId(),
    address,
    displayName,
    type,
    status: 'Pending',
    domain,
    deliveredAt: null,
    lastError: null,
    statusCode: null,
  }));
}
