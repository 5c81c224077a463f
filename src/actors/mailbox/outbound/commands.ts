// Commands of users about outbound mail: drafts with their emails in Drafts, and queued messages with their copy in Sent. Commands on
// emails in the queue are in cancelling.ts and deliveries.ts; the machine decides the state of an email.

import { step } from '../../../machines/outbound-email/step.js';
import { DRAFT, flagBit, SEEN } from '../../../mail-format/flags.js';
import { isUuid } from '../../../mail-format/ids.js';
import { NEVER } from '../../../mail-format/reports/dsn-request.js';
import type { OutboundDsn, OutboundRecipientRow, OutboundRow } from '../../../store/outbound.js';
import type { Outcome, Payload, Reply } from '../../runtime/protocol.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import { quotaToRead } from '../commands/prefetch.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { OpenedMessages } from '../state/transaction-messages.js';
import { MOST_DRAFTS } from './draft-emails.js';
import { newDraft } from './draft-rows.js';
import { advanceFirst, firstAttempts, NO_ATTEMPTS } from './first-attempts.js';
import { rowToRead } from './prefetch.js';
import type { Addressee } from './protocol.js';
import { labelsOfDraft, placeInSent, READ, takeOut } from './sent-copies.js';

type Queued = Payload<MailboxProtocol, 'enqueue' | 'holdOutbound'>;

type Names = 'createDraft' | 'updateDraft' | 'deleteDraft' | 'enqueue' | 'holdOutbound' | 'removeOutbound';

export const outboundCommands: Pick<MailboxHandlers<MailboxProtocol>, Names> = {
  createDraft: { reads: quotaToRead, plan: createDraft },
  updateDraft: { reads: (payload) => ({ ...rowToRead(payload), isAdding: true }), plan: updateDraft },
  deleteDraft: { reads: rowToRead, plan: deleteDraft },
  enqueue: {
    reads: (payload) => ({
      outbound: { id: payload.draft?.id, due: payload },
      isAdding: true,
      sending: sendingOf(payload),
    }),
    plan: enqueue,
  },
  holdOutbound: {
    reads: (payload) => ({
      ...(payload.draft !== null && { outbound: { id: payload.draft.id } }),
      isAdding: true,
      sending: sendingOf(payload),
    }),
    plan: holdOutbound,
  },
  removeOutbound: { reads: rowToRead, plan: removeOutbound },
};

/** What the server writes for an account does not count. */
const sendingOf = ({ isAutomatic, recipients }: Queued) => (isAutomatic === true ? {} : { recipients });

function createDraft(
  tx: MailboxTransaction,
  { draft: written }: Payload<MailboxProtocol, 'createDraft'>,
): Outcome<MailboxProtocol, 'createDraft'> {
  if (tx.outbound.drafts.size >= MOST_DRAFTS) return { refusal: 'tooMany' };
  if (isOverQuota(tx, written.message.size, undefined)) return { refusal: 'overQuota' };
  tx.begin();
  const id = tx.otherId();
  save(tx, newDraft(id, tx.now), undefined, written);
  return { reply: { id } };
}

function updateDraft(
  tx: MailboxTransaction,
  { outboundId, draft: written, ifMatch }: Payload<MailboxProtocol, 'updateDraft'>,
): Outcome<MailboxProtocol, 'updateDraft'> {
  const before = draftOf(tx, outboundId);
  if (before === undefined) return { refusal: 'noSuchOutbound' };
  if (!isAmong(before, ifMatch)) return { refusal: 'draftChanged' };
  if (isOverQuota(tx, written.message.size, before)) return { refusal: 'overQuota' };
  tx.begin();
  // `updatedAt` rises with every change, so that a message made from an earlier version can be recognized.
  const updatedAt = Math.max(tx.now, before.updatedAt + 1);
  save(tx, { ...before, updatedAt }, before, written);
  return { reply: { updatedAt } };
}

function deleteDraft(
  tx: MailboxTransaction,
  { outboundId, ifMatch }: Payload<MailboxProtocol, 'deleteDraft'>,
): Outcome<MailboxProtocol, 'deleteDraft'> {
  const before = draftOf(tx, outboundId);
  if (before === undefined) return { refusal: 'noSuchOutbound' };
  if (!isAmong(before, ifMatch)) return { refusal: 'draftChanged' };
  tx.begin();
  tx.outbound.remove(outboundId);
  takeOut(tx, before, 'drafts');
  return { reply: {} };
}

function removeOutbound(
  tx: MailboxTransaction,
  { outboundId, changedBefore }: Payload<MailboxProtocol, 'removeOutbound'>,
): Outcome<MailboxProtocol, 'removeOutbound'> {
  const row = isUuid(outboundId) ? tx.outbound.get(outboundId) : undefined;
  if (row === undefined || row.status === 'Draft') return { refusal: 'noSuchOutbound' };
  if (row.status !== 'Sent' && row.status !== 'Failed') return { refusal: 'outboundUnderWay' };
  const isKept = changedBefore !== undefined && (row.updatedAt >= changedBefore || row.dsnDue !== null);
  if (isKept) return { reply: { isRemoved: false } };
  tx.begin();
  tx.outbound.removeFinal(outboundId);
  return { reply: { isRemoved: true } };
}

/** Messages are immutable: a new email replaces the draft's email and keeps its flags and labels. */
function save(
  tx: MailboxTransaction,
  row: ReturnType<typeof newDraft>,
  before: OutboundRow | undefined,
  { sender, subject, content, recipients, message }: Payload<MailboxProtocol, 'createDraft'>['draft'],
): void {
  const { blob, size, summary } = message;
  const { inReplyTo, references } = summary;
  const emailId = tx.newId();
  const text = { inReplyTo, references, blob, size, sender, subject };
  const written = { ...row, ...text, emailId, recipients: recipientsOf(tx, recipients) };
  // The draft must name its email before the email is placed (draft-rows.ts).
  tx.outbound.put(written, before, { recipients: 'all', content });
  const kept = before === undefined ? undefined : takeOut(tx, before, 'drafts');
  const { flags, keywords, labels } = kept ?? { flags: SEEN, keywords: [], labels: [] };
  const ids = { id: emailId, blob, threadId: emailId };
  const email = { ...summary, ...ids, receivedAt: tx.now, flags: flags | DRAFT, keywords };
  tx.add(email, [tx.folders.rowOf('drafts').id, ...labels], { isNew: false });
}

const isAmong = ({ updatedAt }: OutboundRow, ifMatch: readonly number[] | undefined): boolean =>
  ifMatch === undefined || ifMatch.includes(updatedAt);

function enqueue(
  tx: MailboxTransaction,
  payload: Payload<MailboxProtocol, 'enqueue'>,
): Outcome<MailboxProtocol, 'enqueue'> {
  const found = tx.messages.open<Reply<MailboxProtocol, 'enqueue'>>([payload]);
  if (!('opened' in found)) return found;
  const { opened } = found;
  const { reply, refusal } = queue(tx, payload, opened.messages[0]!, undefined);
  if (reply === undefined) return { refusal };
  tx.messages.accept(opened, reply);
  return { reply };
}

function holdOutbound(
  tx: MailboxTransaction,
  payload: Payload<MailboxProtocol, 'holdOutbound'>,
): Outcome<MailboxProtocol, 'holdOutbound'> {
  return queue(tx, payload, payload, payload.heldUntil);
}

function queue(
  tx: MailboxTransaction,
  payload: Queued,
  { blob, summary }: OpenedMessages['messages'][number],
  heldUntil: number | undefined,
): Outcome<MailboxProtocol, 'holdOutbound'> {
  const { draft: from, sender, content, recipients: addressees } = payload;
  const before = from === null ? undefined : draftOf(tx, from.id);
  if (from !== null) {
    if (before === undefined) return { refusal: 'noSuchOutbound' };
    if (before.updatedAt !== from.updatedAt) return { refusal: 'draftChanged' };
  }
  // An automatic message has no copy in Sent.
  if (payload.isAutomatic !== true && isOverQuota(tx, summary.size, before)) return { refusal: 'overQuota' };
  const refusal = payload.isAutomatic === true ? undefined : tx.sending.refusal(addressees);
  if (refusal !== undefined) return { refusal };
  const { now } = tx;
  tx.begin();
  if (payload.isAutomatic !== true) tx.sending.count(addressees);
  const id = before?.id ?? tx.otherId();
  const recipients = recipientsOf(tx, addressees);
  // What the server writes for a suspended account waits in the queue.
  const isDue = heldUntil === undefined && !tx.sending.isSuspended;
  const first = isDue ? firstAttempts(tx, payload, recipients) : NO_ATTEMPTS;
  const dsn = dsnOf(payload, recipients);
  const asked = recipients.map(({ id: of }) => ({
    id: of,
    notify: sender === '' ? NEVER : (dsn?.recipients[of]?.notify ?? null),
  }));
  const about = { now, recipients: asked, heldUntil, begins: first.begins };
  const next = step(null, { type: 'enqueue', ...about }, ...first.events);
  const origin = payload.isSubmission === true ? 'submitted' : 'sent';
  const labels = before === undefined ? [] : labelsOfDraft(tx, before);
  // An id of no email stands for the copy that an automatic message does not have.
  const sentEmailId =
    payload.isAutomatic === true ? tx.otherId() : placeInSent(tx, blob, summary, { ...READ, labels }, origin);
  flagOriginal(tx, payload.original);
  const { subject, messageId, inReplyTo, references, size } = summary;
  const createdAt = before?.createdAt ?? now;
  const row: OutboundRow = {
    ...newDraft(id, now),
    blob,
    sender,
    subject,
    messageId,
    inReplyTo,
    references,
    size,
    emailId: sentEmailId,
    createdAt,
    updatedAt: Math.max(now, before?.updatedAt ?? 0),
    dsn,
    recipients,
  };
  const parts = { before, recipients: 'all' as const, content: content ?? undefined, summary };
  advanceFirst(tx, row, next, first, { summary: () => summary, parts });
  if (before !== undefined) takeOut(tx, before, 'drafts');
  return { reply: { id, createdAt, sentEmailId } };
}

/** Whether the mailbox lacks room for a message that takes the place of the draft's. */
function isOverQuota(tx: MailboxTransaction, size: number, draft: OutboundRow | undefined): boolean {
  return tx.exceedsQuota({ bytes: size - (draft?.size ?? 0), messages: draft === undefined ? 1 : 0 });
}

/** The DSN request of the sender; null without one. `recipients`: those of the message, in the same order. */
function dsnOf(
  { dsn, recipients: addressees }: Queued,
  recipients: readonly OutboundRecipientRow[],
): OutboundDsn | null {
  const named = recipients.flatMap(({ id }, i) => {
    const asked = addressees[i]?.dsn;
    return asked === undefined ? [] : [[id, asked] as const];
  });
  if (dsn === undefined && named.length === 0) return null;
  return { ret: dsn?.ret ?? null, envid: dsn?.envid ?? null, recipients: Object.fromEntries(named) };
}

/** Does nothing when the original has been deleted meanwhile. */
function flagOriginal(tx: MailboxTransaction, original: Queued['original']): void {
  if (original === undefined) return;
  const slot = isUuid(original.emailId) ? tx.find(original.emailId) : -1;
  if (slot >= 0) tx.setFlags([slot], tx.flags(slot) | flagBit(original.flag));
}

/** Undefined also when the draft's email has `\Deleted` in Drafts: mail programs treat it as deleted. */
function draftOf(tx: MailboxTransaction, id: string): OutboundRow | undefined {
  const row = isUuid(id) ? tx.outbound.get(id) : undefined;
  if (row?.status !== 'Draft') return undefined;
  const slot = tx.find(row.emailId);
  return slot >= 0 && tx.isDeleted(slot, tx.folders.rowOf('drafts').id) ? undefined : row;
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
