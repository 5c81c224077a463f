// Requests of operators about emails in the queue (`mansio queue retry`, `cancel`): the mailboxes process them, then they are deleted, even
// if the mailbox refuses: the command shows the email afterwards. The mailboxes also lift suppressions (`mansio suppression remove`), which
// ends such a request.
import type { Logger } from 'pino';
import type { OutboundRequest, OutboundStore, SuppressionRequest } from '../../store/outbound.js';
import type { DeliveryMailboxes } from '../mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../runtime/errors.js';

export interface RequestPorts {
  readonly store: Pick<OutboundStore, 'settleRequest'>;
  readonly mailboxes: DeliveryMailboxes;
  readonly log: Logger;
}

/** A request that cannot be processed now is read again later. */
export async function carryOutRequests(ports: RequestPorts, requests: readonly OutboundRequest[]): Promise<void> {
  await Promise.all(requests.map((request) => carryOut(ports, request)));
}

export async function liftSuppressions(
  { mailboxes, log }: Omit<RequestPorts, 'store'>,
  requests: readonly SuppressionRequest[],
): Promise<void> {
  await Promise.all(
    requests.map(async ({ accountId, address }) => {
      try {
        await mailboxes.of(accountId).ask('liftSuppression', { address });
        log.info({ accountId, address }, 'suppression lifted for an operator');
      } catch (error) {
        log.warn({ accountId, address, err: error }, 'suppression not lifted yet for an operator');
      }
    }),
  );
}

async function carryOut({ store, mailboxes, log }: RequestPorts, request: OutboundRequest): Promise<void> {
  const { accountId, outboundId, action } = request;
  try {
    const outcome = await mailboxes.of(accountId).ask('manageOutbound', { outboundId, action });
    const result = outcome.refusal ?? outcome.reply.status;
    log.info({ accountId, outboundId, action, result }, 'request of an operator carried out');
  } catch (error) {
    if (!(error instanceof ActorFault && error.code === 'no-such-account')) {
      log.warn({ accountId, outboundId, action, err: error }, 'request of an operator not carried out yet');
      return;
    }
  }
  await store.settleRequest(request);
}
