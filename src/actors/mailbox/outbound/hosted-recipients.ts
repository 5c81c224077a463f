// Recipients in hosted domains of an email that becomes due: they get the message in the commit that queues or releases it, even when no
// node that delivers to other hosts is alive. Recipients with a temporary failure stay in the queue.
import type { OutboundEmailEvent } from '../../../machines/outbound-email/types.js';
import type { DeliveryAttempt, OutboundRecipientRow } from '../../../store/outbound.js';
import { placedOnce, type RecipientOutcome } from '../../delivery/delivery-transport.js';
import type { MailboxTransaction } from '../state/transaction.js';

export interface HostedRecipients {
  /** Outcomes by recipient id; a mailbox gets one copy, even if several of its addresses are named. */
  readonly outcomes: readonly RecipientOutcome[];
  readonly attempts: readonly DeliveryAttempt[];
  readonly events: readonly OutboundEmailEvent[];
}

export const NO_HOSTED: HostedRecipients = { outcomes: [], attempts: [], events: [] };

export function hostedRecipients(
  tx: MailboxTransaction,
  payload: unknown,
  recipients: readonly OutboundRecipientRow[],
): HostedRecipients {
  const reports = tx.outbound.hosted(payload);
  if (reports.length === 0) return NO_HOSTED;
  const idOf = (number: string) => recipients[Number(number)]!.id;
  const takers = new Set<string>();
  const outcomes = reports.flatMap((report) =>
    report.outcomes.map((outcome): RecipientOutcome => {
      const named = { ...outcome, recipientId: idOf(outcome.recipientId) };
      if (named.kind !== 'delivered' || named.localAccountIds === undefined) return named;
      return { ...named, ...placedOnce(named, takers) };
    }),
  );
  const attempts = reports.flatMap((report) =>
    report.attempts.map((attempt) => ({
      ...attempt,
      recipients: attempt.recipients.map((tried) => ({ ...tried, id: idOf(tried.id) })),
    })),
  );
  const planned = { now: tx.now, random: tx.random(), policy: tx.retryPolicy };
  const events = outcomes.map(({ recipientId, kind, text, statusCode }) => {
    return { type: 'answer', recipientId, kind, text, statusCode, ...planned } as const;
  });
  return { outcomes, attempts, events };
}
