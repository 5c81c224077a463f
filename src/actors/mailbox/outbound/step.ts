// Applies a step of an outbound email's machine to a transaction: its row, the recipients that changed, the statuses that it passed
// through, and a wake-up of the queue after the commit when something is due.
import type { Step } from '../../../machines/outbound-email/step.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { OutboundContent, OutboundRecipientRow, OutboundRow } from '../../../store/outbound.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { endHeldCopy } from './held-copies.js';

export interface WrittenWith {
  /** The row before the step, when it differs from `row`. */
  readonly before: OutboundRow | undefined;
  readonly recipients: 'all';
  readonly content: OutboundContent | undefined;
  readonly summary: MessageSummary;
}

/** Writes and returns `row` after the step. */
export function advance(tx: MailboxTransaction, row: OutboundRow, next: Step, parts?: WrittenWith): OutboundRow {
  const changed: string[] = [];
  const recipients = row.recipients.map((recipient) => {
    const state = next.recipients.get(recipient.id);
    if (state === undefined || isSame(recipient, state)) return recipient;
    changed.push(recipient.id);
    const { status, deliveredAt, lastError, statusCode } = state;
    return { ...recipient, status, deliveredAt, lastError, statusCode };
  });
  const { status, queuedAt, sentAt, retryCount, nextRetryAt, heldUntil, lastError } = next;
  const { dsnDue, dsnAt, delayReported } = next;
  const updatedAt = Math.max(tx.now, row.updatedAt);
  const advanced: OutboundRow = {
    ...row,
    status,
    updatedAt,
    queuedAt,
    sentAt,
    retryCount,
    nextRetryAt,
    heldUntil,
    lastError,
    dsnDue,
    dsnAt,
    delayReported,
    attempt: status === 'Sending' ? row.attempt : null,
    awaitsRelease: row.awaitsRelease && (status === 'Queued' || status === 'Sending'),
    // The row alone describes a draft, and a sent email without a due DSN.
    machine: status === 'Draft' || (status === 'Sent' && dsnDue === null) ? null : next.snapshot,
    recipients,
  };
  const passed = next.effects.flatMap((effect) => (effect.type === 'announce' ? [effect.status] : []));
  if (parts === undefined) tx.outbound.put(advanced, row, { recipients: changed, passed });
  else tx.outbound.put(advanced, parts.before, { ...parts, passed });
  if (next.effects.some(({ type }) => type !== 'announce')) tx.outbound.wakeQueue(row.id);
  if (status === 'Sent' || status === 'Failed') endHeldCopy(tx, row.id, status);
  return advanced;
}

type State = Pick<OutboundRecipientRow, 'status' | 'deliveredAt' | 'lastError' | 'statusCode'>;

function isSame(a: State, b: State): boolean {
  return (
    a.status === b.status &&
    a.deliveredAt === b.deliveredAt &&
    a.lastError === b.lastError &&
    a.statusCode === b.statusCode
  );
}
