// Local deliveries: a commit has delivered mail to another mailbox of this store, and that mailbox is asked to place it at once. If it does
// not, the mail is placed later from its inbound row.
import type { Logger } from 'pino';
import type { LocalDelivery } from '../../../store/mailboxes.js';
import type { Mailboxes } from '../protocol.js';

const DELIVER_MS = 2_000;

export function deliverLocally(mailboxes: Mailboxes, delivery: LocalDelivery, log: Pick<Logger, 'info'>): void {
  const { accountId, id: inboundId, blob, envelope, recipient, onward } = delivery;
  const { receivedAt, summary, sender } = envelope;
  const payload = {
    inboundId,
    blob,
    receivedAt,
    summary: { ...summary, references: [...summary.references] },
    ...(sender !== undefined && { sender }),
    ...(recipient !== undefined && { recipient }),
    ...(onward !== undefined && { onward: { ...onward, targets: [...onward.targets] } }),
  };
  mailboxes
    .of(accountId)
    .ask('deliver', payload, { deadlineMs: DELIVER_MS })
    .catch((err: unknown) =>
      log.info({ accountId, inboundId, err }, 'mail for a mailbox of this store is placed later'),
    );
}
