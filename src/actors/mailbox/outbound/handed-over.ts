// Mail that a commit has handed to a mailbox of this store: the mailbox is asked to deliver it at once. Mail that is not
// delivered now is delivered later from its inbound row.
import type { Logger } from 'pino';
import type { HandedOver } from '../../../store/mailboxes.js';
import type { Mailboxes } from '../protocol.js';

const DELIVER_MS = 2_000;

export function deliverHandedOver(mailboxes: Mailboxes, handed: HandedOver, log: Pick<Logger, 'info'>): void {
  const { accountId, id: inboundId, blob, envelope } = handed;
  const { receivedAt, summary } = envelope;
  const payload = { inboundId, blob, receivedAt, summary: { ...summary, references: [...summary.references] } };
  mailboxes
    .of(accountId)
    .ask('deliver', payload, { deadlineMs: DELIVER_MS })
    .catch((err: unknown) =>
      log.info({ accountId, inboundId, err }, 'mail for a mailbox of this store is delivered later'),
    );
}
