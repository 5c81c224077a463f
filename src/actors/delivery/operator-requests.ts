// What operators asked of emails in the queue (`mansio queue retry`, `cancel`): carried out by the mailboxes, then struck off.
// What cannot be done is struck off too: whoever asked looks at the email.
import type { Logger } from 'pino';
import type { OutboundRequest, OutboundStore } from '../../store/outbound.js';
import type { DeliveryMailboxes } from '../mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../runtime/errors.js';

export interface RequestPorts {
  readonly store: Pick<OutboundStore, 'settleRequest'>;
  readonly mailboxes: DeliveryMailboxes;
  readonly log: Logger;
}

/** Those that cannot be carried out now are found again. */
export async function carryOutRequests(ports: RequestPorts, requests: readonly OutboundRequest[]): Promise<void> {
  await Promise.all(requests.map((request) => carryOut(ports, request)));
}

async function carryOut({ store, mailboxes, log }: RequestPorts, request: OutboundRequest): Promise<void> {
  const { accountId, outboundId, action } = request;
  try {
    const outcome = await mailboxes.of(accountId).ask('manageOutbound', { outboundId, action });
    const result = outcome.refusal ?? outcome.reply.status;
    log.info({ accountId, outboundId, action, result }, 'an operator asked for it');
  } catch (error) {
    if (!(error instanceof ActorFault && error.code === 'no-such-account')) {
      log.warn({ accountId, outboundId, action, err: error }, 'what an operator asked for is not done yet');
      return;
    }
  }
  await store.settleRequest(request);
}
