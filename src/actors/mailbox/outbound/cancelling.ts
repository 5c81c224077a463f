// Cancels, retries or releases emails in the queue, for their sender, for an operator, or when a held email becomes due. The mailbox runs
// one command at a time: a cancelled email is not delivered afterwards, and an email whose delivery has begun is not cancelled.
import { step } from '../../../machines/outbound-email/step.js';
import type { OutboundEmailEvent } from '../../../machines/outbound-email/types.js';
import { isUuid } from '../../../mail-format/ids.js';
import type { OutboundRow, OutboundStatus } from '../../../store/outbound.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { DeliveryProtocol } from './delivery-protocol.js';
import { advanceFirst, firstAttempts } from './first-attempts.js';
import { placeInSent, returnToDrafts, takeOut } from './sent-copies.js';
import { advance } from './step.js';
import { liftFailed } from './suppressions.js';

type Asked = Pick<MailboxHandlers<MailboxProtocol>, 'cancelOutbound' | 'retryOutbound'>;
type AskedByQueue = Pick<MailboxHandlers<DeliveryProtocol>, 'manageOutbound' | 'releaseOutbound'>;

const releaseToRead = ({ outboundId: id }: { readonly outboundId: string }) => ({
  outbound: { id, mayRelease: true },
  sending: {},
});

export const queuedCommands: Asked & AskedByQueue = {
  cancelOutbound: {
    reads: ({ outboundId: id }) => ({ outbound: { id, needsSummary: true } }),
    plan: cancelOutbound,
  },
  retryOutbound: { reads: releaseToRead, plan: retryOutbound },
  manageOutbound: {
    reads: ({ outboundId: id, action }) => ({ outbound: { id, mayRelease: action === 'retry' }, sending: {} }),
    plan: manageOutbound,
  },
  releaseOutbound: { reads: releaseToRead, plan: releaseOutbound },
};

function cancelOutbound(
  tx: MailboxTransaction,
  { outboundId }: Payload<MailboxProtocol, 'cancelOutbound'>,
): Outcome<MailboxProtocol, 'cancelOutbound'> {
  const row = rowOf(tx, outboundId);
  if (row === undefined) return { refusal: 'noSuchOutbound' };
  if (!isWaiting(row)) return { reply: { cancelled: false, status: row.status, draftId: null } };
  const next = step(row.machine, ...interruption(tx, row), { type: 'cancel', by: 'sender', now: tx.now });
  if (next.status === 'Draft') {
    const summary = tx.outbound.summary(row.id);
    tx.begin();
    returnToDrafts(tx, row, next, summary);
    return { reply: { cancelled: true, status: next.status, draftId: row.id } };
  }
  tx.begin();
  const { status } = advance(tx, row, next);
  return { reply: { cancelled: true, status, draftId: null } };
}

function retryOutbound(
  tx: MailboxTransaction,
  payload: Payload<MailboxProtocol, 'retryOutbound'>,
): Outcome<MailboxProtocol, 'retryOutbound'> {
  const row = rowOf(tx, payload.outboundId);
  if (row === undefined) return { refusal: 'noSuchOutbound' };
  if (!mayRetry(row)) return { reply: { retried: false, status: row.status } };
  if (tx.sending.isSuspended) return { refusal: 'sendingSuspended' };
  const { message } = payload;
  const isDated = message !== undefined && row.heldUntil === message.heldUntil;
  return { reply: { retried: true, status: retry(tx, row, payload, isDated ? message : undefined) } };
}

function manageOutbound(
  tx: MailboxTransaction,
  payload: Payload<DeliveryProtocol, 'manageOutbound'>,
): Outcome<DeliveryProtocol, 'manageOutbound'> {
  const { outboundId, action } = payload;
  const row = rowOf(tx, outboundId);
  if (row === undefined) return { refusal: 'noSuchOutbound' };
  if (action === 'retry') {
    if (!mayRetry(row) || tx.sending.isSuspended) return { refusal: 'notPossible' };
    return { reply: { status: retry(tx, row, payload) } };
  }
  if (!isWaiting(row) || (action === 'release' && !row.awaitsRelease)) return { refusal: 'notPossible' };
  tx.begin();
  if (action === 'release') return { reply: { status: release(tx, row) } };
  const cancel = { type: 'cancel', by: 'operator', now: tx.now } as const;
  const { status } = advance(tx, row, step(row.machine, ...interruption(tx, row), cancel));
  return { reply: { status } };
}

function releaseOutbound(
  tx: MailboxTransaction,
  payload: Payload<DeliveryProtocol, 'releaseOutbound'>,
): Outcome<DeliveryProtocol, 'releaseOutbound'> {
  const row = rowOf(tx, payload.outboundId);
  if (row === undefined) return { refusal: 'noSuchOutbound' };
  // The queue asks again when sending is resumed.
  if (row.heldUntil !== payload.heldUntil || row.awaitsRelease || tx.sending.isSuspended)
    return { refusal: 'released' };
  return { reply: { status: retry(tx, row, payload) } };
}

function rowOf(tx: MailboxTransaction, id: string): OutboundRow | undefined {
  return isUuid(id) ? tx.outbound.get(id) : undefined;
}

/** Whether no delivery of the email is under way, and none has ended it. */
const isWaiting = ({ status, awaitsRelease }: OutboundRow): boolean => status === 'Queued' || awaitsRelease;

const mayRetry = (row: OutboundRow): boolean => isWaiting(row) || row.status === 'Failed';

/** The delivery of an email that a restore brought back in Sending has ended, with the node that made it. */
function interruption(tx: MailboxTransaction, { status, awaitsRelease }: OutboundRow): readonly OutboundEmailEvent[] {
  if (!awaitsRelease || status !== 'Sending') return [];
  return [{ type: 'end', now: tx.now, random: 0, policy: tx.retryPolicy, isInterrupted: true }];
}

function release(tx: MailboxTransaction, row: OutboundRow): OutboundStatus {
  const released = advance(tx, { ...row, awaitsRelease: false }, step(row.machine, ...interruption(tx, row)));
  if (released.nextRetryAt !== null && released.nextRetryAt <= tx.now) tx.outbound.wakeQueue(row.id);
  return released.status;
}

type Message = Payload<MailboxProtocol, 'retryOutbound'>['message'];

/**
 * `payload`: the command's payload, the key under which outcomes of hosted recipients were read. `message`: replaces the message of a held
 * email.
 */
function retry(tx: MailboxTransaction, waiting: OutboundRow, payload: unknown, message?: Message): OutboundStatus {
  const row = { ...waiting, awaitsRelease: false };
  const event = { type: 'retry', now: tx.now } as const;
  if (row.heldUntil !== null) {
    const summary = () => tx.outbound.summary(row.id);
    tx.begin();
    const first = firstAttempts(tx, payload, row.recipients);
    const begin = first.begins ? [{ type: 'start', now: tx.now } as const] : [];
    const next = step(row.machine, event, ...begin, ...first.events);
    if (message === undefined) advanceFirst(tx, row, next, first, { summary });
    else advanceFirst(tx, dated(tx, row, message), next, first, writtenWith(row, message));
    return next.status;
  }
  tx.begin();
  if (row.status === 'Failed') liftFailed(tx, row);
  return advance(tx, row, step(row.machine, ...interruption(tx, waiting), event)).status;
}

/** Replaces the message of the email and its copy, if that is still in Sent. */
function dated(tx: MailboxTransaction, row: OutboundRow, { blob, summary }: NonNullable<Message>): OutboundRow {
  const kept = takeOut(tx, row, 'sent');
  const emailId = kept === undefined ? row.emailId : placeInSent(tx, blob, summary, kept, 'sent');
  return { ...row, blob, size: summary.size, emailId };
}

function writtenWith(before: OutboundRow, { summary }: NonNullable<Message>) {
  const parts = { before, recipients: 'all' as const, content: undefined, summary };
  return { summary: () => summary, parts };
}
