// Suppressed addresses (decision 0098): a far side that refuses an address for good is not asked again for 30 days. Mail to such an address
// fails at once, and goes out to its other recipients, until somebody retries the email. A suppression comes from the reply of a far side,
// or from a later bounce that is believed, and names the address that was refused.
import type { OutboundEmailEvent } from '../../../machines/outbound-email/types.js';
import { foldedAddress } from '../../../mail-format/address.js';
import { SUPPRESSED } from '../../../mail-format/outbound-status.js';
import { clock } from '../../../store/clock.js';
import type { DeliveryAttempt, OutboundRecipientRow, OutboundRow } from '../../../store/outbound.js';
import type { RecipientOutcome } from '../../delivery/delivery-transport.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxState } from '../state/state.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { DeliveryProtocol } from './delivery-protocol.js';
import type { HostedRecipients } from './hosted-recipients.js';

const SUPPRESSED_MS = 30 * 86_400_000;
/** Characters that are kept of a reply. */
const MOST_REASON = 300;
/** A code about the address of a recipient (RFC 3463 §3.2). 5.1.7 and 5.1.8 are about the sender. */
const BAD_ADDRESS = /^5\.1\.(?![078]$)\d+$/;
/** Another status of the address (RFC 3463 §3.2). */
const STATUS_CODE = '5.1.0';

/** Why a recipient fails; `reply` is what its attempt shows, the text by default. */
interface Refused {
  readonly text: string;
  readonly statusCode: string;
  readonly reply?: string;
}

/** The form in which the addresses of recipients are compared. */
export const addressOf = ({ address, domain }: OutboundRecipientRow): string => foldedAddress(address) ?? `@${domain}`;

/** Suppresses the address of a recipient when the code says that there is no such address. */
export function suppress(
  tx: MailboxTransaction,
  recipient: OutboundRecipientRow,
  { statusCode, text }: { readonly statusCode: string; readonly text: string },
): void {
  // A code that the far side has not said itself was made from a bare 5xx, which may be about anything.
  if (!BAD_ADDRESS.test(statusCode) || !text.includes(statusCode)) return;
  const since = tx.now;
  const reason = Buffer.from(text.slice(0, MOST_REASON)).toString().replaceAll('\0', '');
  tx.outbound.suppressions.add({ address: addressOf(recipient), reason, since, until: since + SUPPRESSED_MS });
}

/** Suppresses the recipients that a host elsewhere refused. `row`: before the report. */
export function suppressRefused(
  tx: MailboxTransaction,
  { recipients }: OutboundRow,
  outcomes: readonly Pick<RecipientOutcome, 'recipientId' | 'kind' | 'statusCode' | 'text'>[],
  attempts: readonly DeliveryAttempt[],
): void {
  for (const { recipientId, kind, ...said } of outcomes) {
    const recipient = recipients.find(({ id }) => id === recipientId);
    if (kind !== 'permanent' || recipient === undefined || recipient.status !== 'Pending') continue;
    if (attempts.some((attempt) => isRefusalOf(attempt, recipientId))) suppress(tx, recipient, said);
  }
}

/** Without an address of a host, nobody elsewhere has answered. */
const isRefusalOf = ({ remoteAddress, recipients }: DeliveryAttempt, recipientId: string): boolean =>
  remoteAddress !== null && recipients.some(({ id, outcome }) => id === recipientId && outcome === 'permanent');

/** Fails those of the recipients whose addresses are suppressed. */
export function suppressedAmong(tx: MailboxTransaction, recipients: readonly OutboundRecipientRow[]): HostedRecipients {
  return refusedAmong(tx, recipients, (recipient) => {
    const known = tx.outbound.suppressions.get(addressOf(recipient), tx.now);
    return known && { text: SUPPRESSED, statusCode: STATUS_CODE, reply: `${SUPPRESSED}: ${known.reason}` };
  });
}

/** The recipients that fail without an attempt, because of what `why` says. */
export function refusedAmong(
  tx: MailboxTransaction,
  recipients: readonly OutboundRecipientRow[],
  why: (recipient: OutboundRecipientRow) => Refused | undefined,
): HostedRecipients {
  const outcomes: RecipientOutcome[] = [];
  const attempts: DeliveryAttempt[] = [];
  const events: OutboundEmailEvent[] = [];
  for (const recipient of recipients) {
    const { id: recipientId, domain } = recipient;
    const refused = why(recipient);
    if (refused === undefined) continue;
    const { text, statusCode, reply = text } = refused;
    const said = { recipientId, kind: 'permanent', text, statusCode } as const;
    outcomes.push({ ...said, host: null });
    events.push({ ...said, type: 'answer', now: tx.now, random: 0, policy: tx.retryPolicy });
    attempts.push({
      id: tx.otherId(),
      at: tx.now,
      durationMs: 0,
      domain,
      host: null,
      remoteAddress: null,
      tls: null,
      reply,
      recipients: [{ id: recipientId, outcome: 'permanent', statusCode }],
    });
  }
  return { outcomes, attempts, events };
}

/** Lifts the suppressions of failed recipients that somebody has tried again. */
export function liftFailed(tx: MailboxTransaction, { recipients }: OutboundRow): void {
  for (const recipient of recipients) {
    const address = addressOf(recipient);
    if (recipient.status === 'Failed' && tx.outbound.suppressions.has(address))
      tx.outbound.suppressions.remove(address);
  }
}

export const suppressionCommands: Pick<MailboxHandlers<MailboxProtocol>, 'removeSuppression'> &
  Pick<MailboxHandlers<DeliveryProtocol>, 'liftSuppression'> = {
  removeSuppression(tx, { address }) {
    return lift(tx, address) ? { reply: {} } : { refusal: 'noSuchSuppression' };
  },
  liftSuppression(tx, { address }) {
    lift(tx, address);
    return { reply: {} };
  },
};

function lift(tx: MailboxTransaction, address: string): boolean {
  if (!tx.outbound.suppressions.has(address)) return false;
  tx.begin();
  tx.outbound.suppressions.remove(address);
  return true;
}

export const suppressionQueries: Pick<QueryHandlers<MailboxProtocol, MailboxState>, 'suppressions'> = {
  async suppressions({ outbound }) {
    const now = clock.now();
    return { reply: { suppressions: outbound.suppressions.values().filter(({ until }) => until > now) } };
  },
};
