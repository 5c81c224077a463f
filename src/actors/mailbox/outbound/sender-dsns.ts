// DSNs of outbound mail: a due one goes into the inbox, or to the sender of the mail that the email was sent because of.
import { step } from '../../../machines/outbound-email/step.js';
import { isUuid } from '../../../mail-format/ids.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import { newEmail } from '../commands/new-email.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { addressed, queueAutomatic } from './automatic.js';
import { owedBy } from './deliveries.js';
import type { DeliveryProtocol } from './delivery-protocol.js';
import { rowToRead } from './prefetch.js';
import { advance } from './step.js';

export const senderDsnCommands: Pick<MailboxHandlers<DeliveryProtocol>, 'giveDsn'> = {
  giveDsn: { reads: (payload) => ({ ...rowToRead(payload), sending: {} }), plan: giveDsn },
};

function giveDsn(
  tx: MailboxTransaction,
  { outboundId, kind, recipientIds, report }: Payload<DeliveryProtocol, 'giveDsn'>,
): Outcome<DeliveryProtocol, 'giveDsn'> {
  const row = isUuid(outboundId) ? tx.outbound.get(outboundId) : undefined;
  if (row === undefined) return { refusal: 'noSuchOutbound' };
  const owed = owedBy(row, kind);
  if (recipientIds.length === 0 || !recipientIds.every((id) => owed.includes(id))) return { refusal: 'notDue' };
  tx.begin();
  const { dsnAt } = advance(tx, row, step(row.machine, { type: 'reported', kind, recipientIds }));
  const { blob, summary } = report;
  const isMoreDue = dsnAt !== null && dsnAt <= tx.now;
  if (row.dsn?.reportTo !== undefined) {
    const id = tx.otherId();
    queueAutomatic(tx, id, { ...report, sender: '', recipients: addressed(row.dsn.reportTo), reportTo: null });
    return { reply: { emailId: id, isMoreDue } };
  }
  const emailId = tx.newId();
  // Filters do not apply: if a filter deleted a bounce, the sender would never learn of the failure.
  const email = newEmail(summary, { id: emailId, blob, receivedAt: tx.now, flags: 0, keywords: [] });
  tx.add(email, [tx.folders.rowOf('inbox').id], { isNew: true });
  tx.announceUnread();
  return { reply: { emailId, isMoreDue } };
}
