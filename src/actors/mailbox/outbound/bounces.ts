// Later bounces: a host that accepted a message reports that it could not deliver the message. The commit that places a credible bounce
// (src/mail-format/reports/bounce-source.ts) makes the recipients Failed that it names. No DSN of ours follows: the bounce is in the mailbox.
import { step } from '../../../machines/outbound-email/step.js';
import { sentSnapshot } from '../../../machines/outbound-email/stored-snapshot.js';
import { isBelieved, type TakenMessage } from '../../../mail-format/reports/bounce-source.js';
import type { DeliveryAttempt, OutboundRecipientRow, OutboundRow } from '../../../store/outbound.js';
import type { Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { keepAttempts } from './deliveries.js';
import { advance } from './step.js';
import { addressOf, suppress } from './suppressions.js';

type ReturnedMail = NonNullable<Payload<MailboxProtocol, 'deliver'>['bounce']>;

/** How long a bounce waits for the outcome of its recipients: a message may come back while it is still being sent to others. */
const OUTCOME_WAIT_MS = 600_000;

/**
 * True when a recipient that the bounce names has no outcome yet, or when its attempts were not committed when they were read. `payload`:
 * the command's payload, the key under which the emails were read.
 */
export function isBounceEarly(tx: MailboxTransaction, payload: Payload<MailboxProtocol, 'deliver'>): boolean {
  const { bounce, receivedAt } = payload;
  if (bounce === undefined || tx.now - receivedAt > OUTCOME_WAIT_MS) return false;
  return tx.outbound.bounced(payload).some(({ id, attempts }) => {
    const row = tx.outbound.get(id);
    if (row === undefined || row.status === 'Draft') return false;
    return namedBy(bounce, row).some(({ recipient }) =>
      recipient.status === 'Pending'
        ? row.status === 'Sending'
        : recipient.status === 'Delivered' && deliveringAttempts(recipient, attempts).length === 0,
    );
  });
}

/** `payload`: see `isBounceEarly`. */
export function takeBounce(tx: MailboxTransaction, payload: Payload<MailboxProtocol, 'deliver'>): void {
  const { bounce } = payload;
  if (bounce === undefined) return;
  for (const { id, attempts } of tx.outbound.bounced(payload)) {
    const row = tx.outbound.get(id);
    if (row === undefined || row.status === 'Draft') continue;
    failRecipients(tx, row, bounce, attempts, payload.sender === '');
  }
}

function failRecipients(
  tx: MailboxTransaction,
  row: OutboundRow,
  bounce: ReturnedMail,
  attempts: readonly DeliveryAttempt[],
  isFromServer: boolean,
): void {
  const failed = namedBy(bounce, row).flatMap(({ recipient, said }) => {
    if (recipient.status !== 'Delivered' || !isBelieved(bounce.source, takenBy(recipient, attempts))) return [];
    const { text, statusCode, finals = [] } = said;
    // A member of a list may be gone, and the list is not; users of a provider cannot send with the null sender.
    const isAddressGone = isFromServer && finals.includes(addressOf(recipient));
    return [{ recipient, id: recipient.id, domain: recipient.domain, text, statusCode, isAddressGone }];
  });
  const [first] = failed;
  if (first === undefined) return;
  const recipients = failed.map(({ id, text, statusCode }) => ({ id, text, statusCode }));
  const next = step(row.machine ?? sentSnapshot(row), { type: 'bounce', recipients });
  keepAttempts(tx, row.id, [
    {
      id: tx.otherId(),
      at: tx.now,
      durationMs: 0,
      domain: first.domain,
      host: null,
      remoteAddress: bounce.source.remoteAddress,
      tls: null,
      reply: `a later bounce: ${first.text}`,
      recipients: failed.map(({ id, statusCode }) => ({ id, outcome: 'permanent', statusCode })),
    },
  ]);
  advance(tx, row, next);
  for (const { recipient, isAddressGone, ...said } of failed) if (isAddressGone) suppress(tx, recipient, said);
}

/** The recipients that failed according to the bounce. */
function namedBy({ recipients: failed }: ReturnedMail, { recipients }: OutboundRow) {
  return recipients.flatMap((recipient) => {
    const named = failed.find(({ addresses }) => addresses.includes(addressOf(recipient)));
    // A server may know the only recipient by another address.
    const [only, ...others] = failed;
    const said = named ?? (recipients.length === 1 && others.length === 0 ? only : undefined);
    return said === undefined ? [] : [{ recipient, said }];
  });
}

function takenBy(recipient: OutboundRecipientRow, attempts: readonly DeliveryAttempt[]): TakenMessage {
  return {
    domain: recipient.domain,
    hosts: attempts
      .filter(({ recipients }) => recipients.some(({ id }) => id === recipient.id))
      .flatMap(({ host }) => host ?? []),
    takers: deliveringAttempts(recipient, attempts).flatMap(({ remoteAddress }) => remoteAddress ?? []),
  };
}

function deliveringAttempts({ id }: OutboundRecipientRow, attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] {
  return attempts.filter(({ recipients }) =>
    recipients.some((tried) => tried.id === id && tried.outcome === 'delivered'),
  );
}
