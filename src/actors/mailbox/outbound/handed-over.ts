// Mail that a commit has handed to a mailbox of this store: the mailbox is asked to place it at once. The row is the promise:
// mail that is not placed now its owner delivers from the row.
import type { Logger } from 'pino';
import type { HandedOver } from '../../../store/mailboxes.js';
import type { Mailboxes } from '../protocol.js';

const PLACING_MS = 2_000;

export function placeHanded(mailboxes: Mailboxes, handed: HandedOver, log: Pick<Logger, 'info'>): void {
  const { accountId, id: inboundId, blob, envelope } = handed;
  const { receivedAt, summary } = envelope;
  const payload = { inboundId, blob, receivedAt, summary: { ...summary, references: [...summary.references] } };
  mailboxes
    .of(accountId)
    .ask('deliver', payload, { deadlineMs: PLACING_MS })
    .catch((err: unknown) =>
      log.info({ accountId, inboundId, err }, 'mail for a mailbox of this store is placed later'),
    );
}
