// The attempts that begin with the commit that makes an email due for the first time: the commit that queues the email, or the
// one that releases it. Recipients in hosted domains have the message with that commit; a delivery to the others begins when a
// slot is reserved for it, else the queue is notified.
import type { Step } from '../../../machines/outbound-email/step.js';
import type { OutboundEmailEvent } from '../../../machines/outbound-email/types.js';
import type { MessageSummary } from '../../../mail/summary.js';
import type { OutboundRecipientRow, OutboundRow } from '../../../store/outbound.js';
import type { MailboxTransaction } from '../transaction.js';
import { keepAttempts, recordLocalDeliveries, startedOf, takersOf } from './deliveries.js';
import { type HostedRecipients, hostedRecipients, NO_HOSTED } from './hosted-recipients.js';
import { advance, type WrittenWith } from './step.js';

export interface FirstAttempts {
  readonly hosted: HostedRecipients;
  /** The delivery that begins with the commit; null when none does. */
  readonly attempt: OutboundRow['attempt'];
  /** Attempts begin with the event that makes the email due. */
  readonly begins: boolean;
  /** For the machine, after that event. */
  readonly events: readonly OutboundEmailEvent[];
}

export const NO_ATTEMPTS: FirstAttempts = { hosted: NO_HOSTED, attempt: null, begins: false, events: [] };

/** `payload`: of the command, by which outcomes of hosted recipients were read. */
export function firstAttempts(
  tx: MailboxTransaction,
  payload: unknown,
  recipients: readonly OutboundRecipientRow[],
): FirstAttempts {
  const { now } = tx;
  const hosted = hostedRecipients(tx, payload, recipients);
  const by = hosted.outcomes.length === recipients.length ? undefined : tx.outbound.deliverer;
  const attempt = by === undefined ? null : { id: tx.otherId(), by };
  if (attempt === null && hosted.events.length === 0) return { ...NO_ATTEMPTS, hosted };
  const events = [...hosted.events];
  // Without a delivery the others are due at once.
  if (attempt === null) events.push({ type: 'end', now, random: 0, policy: tx.retryPolicy, isInterrupted: true });
  return { hosted, attempt, begins: true, events };
}

/** Writes `row` as the step leaves it, with its first attempts. `summary` gives that of its message when it is needed. */
export function advanceFirst(
  tx: MailboxTransaction,
  row: OutboundRow,
  next: Step,
  { hosted, attempt }: FirstAttempts,
  { summary, parts }: { readonly summary: () => MessageSummary; readonly parts?: WrittenWith },
): void {
  keepAttempts(tx, row.id, hosted.attempts);
  const advanced = advance(tx, { ...row, attempt }, next, parts);
  if (attempt !== null) tx.outbound.begin(advanced, attempt, startedOf(tx, advanced, next));
  const takers = takersOf(row, next, hosted.outcomes);
  if (takers.length > 0) recordLocalDeliveries(tx, row, summary(), takers);
}
