// The first attempts of an email: they begin in the commit that makes it due, because it is queued or released. Recipients in hosted
// domains get the message in that commit. For the others a delivery begins if a slot is reserved; otherwise the queue is woken.
import type { Step } from '../../../machines/outbound-email/step.js';
import type { OutboundEmailEvent } from '../../../machines/outbound-email/types.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { OutboundRecipientRow, OutboundRow } from '../../../store/outbound.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { keepAttempts, noted, recordLocalDeliveries, startedOf, takersOf } from './deliveries.js';
import { type HostedRecipients, hostedRecipients, NO_HOSTED } from './hosted-recipients.js';
import { advance, type WrittenWith } from './step.js';
import { suppressedAmong } from './suppressions.js';

export interface FirstAttempts {
  readonly hosted: HostedRecipients;
  /** The delivery that begins with the commit; null when there is none. */
  readonly attempt: OutboundRow['attempt'];
  /** True when attempts begin with the event that makes the email due. */
  readonly begins: boolean;
  /** Events for the machine, after that event. */
  readonly events: readonly OutboundEmailEvent[];
}

export const NO_ATTEMPTS: FirstAttempts = { hosted: NO_HOSTED, attempt: null, begins: false, events: [] };

/** `payload`: the command's payload, the key under which outcomes of hosted recipients were read. */
export function firstAttempts(
  tx: MailboxTransaction,
  payload: unknown,
  recipients: readonly OutboundRecipientRow[],
): FirstAttempts {
  const hosted = answeredAtOnce(tx, payload, recipients);
  const by = hosted.outcomes.length === recipients.length ? undefined : tx.outbound.deliverer;
  const attempt = by === undefined ? null : { id: tx.otherId(), by };
  if (attempt === null && hosted.events.length === 0) return { ...NO_ATTEMPTS, hosted };
  const events = [...hosted.events];
  // Without a delivery, the other recipients become due at once.
  if (attempt === null) events.push(endOfAttempts(tx));
  return { hosted, attempt, begins: true, events };
}

/** Recipients that have no outcome become due at once. */
export const endOfAttempts = ({ now, retryPolicy: policy }: MailboxTransaction): OutboundEmailEvent => {
  return { type: 'end', now, random: 0, policy, isInterrupted: true };
};

/** The outcomes of recipients in hosted domains, and of those whose addresses are suppressed. */
function answeredAtOnce(
  tx: MailboxTransaction,
  payload: unknown,
  recipients: readonly OutboundRecipientRow[],
): HostedRecipients {
  const hosted = hostedRecipients(tx, payload, recipients);
  const known = new Set(hosted.outcomes.map(({ recipientId }) => recipientId));
  const suppressed = suppressedAmong(
    tx,
    recipients.filter(({ id }) => !known.has(id)),
  );
  if (suppressed.outcomes.length === 0) return hosted;
  return {
    outcomes: [...hosted.outcomes, ...suppressed.outcomes],
    attempts: [...hosted.attempts, ...suppressed.attempts],
    events: [...hosted.events, ...suppressed.events],
  };
}

/** Writes `row` after the step, with its first attempts. `summary` returns that of its message; it is called only when needed. */
export function advanceFirst(
  tx: MailboxTransaction,
  row: OutboundRow,
  next: Step,
  { hosted, attempt }: FirstAttempts,
  { summary, parts }: { readonly summary: () => MessageSummary; readonly parts?: WrittenWith },
): void {
  keepAttempts(tx, row.id, hosted.attempts);
  const takers = takersOf(row, next, hosted.outcomes);
  const advanced = advance(tx, { ...row, attempt }, noted(next, takers), parts);
  if (attempt !== null) tx.outbound.begin(advanced, attempt, startedOf(tx, advanced, next));
  if (takers.length > 0) recordLocalDeliveries(tx, row, summary(), takers);
}
