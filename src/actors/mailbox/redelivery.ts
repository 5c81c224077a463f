// Second tries of deliveries: inbound rows that the gateway's own ask left behind (the owner was away, the node died)
// are delivered by the shards' owner. The row is the truth, so trying once too often does no harm.
import type { Logger } from 'pino';
import type { InboundStore, PendingInbound } from '../../store/inbound.js';
import type { Ownership } from '../runtime/ownership.js';
import type { Mailboxes } from './protocol.js';

const PAGE = 200;
/** Accounts passed over before a pass gives up. */
const MAX_WAITING = 1_000;

export interface RedeliveryOptions {
  readonly inbound: InboundStore;
  readonly mailboxes: Mailboxes;
  readonly ownership: Pick<Ownership, 'owned'>;
  readonly log: Logger;
  /** How often to look, in ms. */
  readonly intervalMs: number;
  /** Rows younger than this are still in the hands of the gateway that wrote them, in ms. */
  readonly minAgeMs: number;
}

export interface Redelivery {
  stop(): Promise<void>;
}

/** Delivers all that is waiting before it resolves, then keeps looking. */
export async function startRedelivery(options: RedeliveryOptions): Promise<Redelivery> {
  const { inbound, mailboxes, ownership, log } = options;

  async function deliver(pending: PendingInbound): Promise<boolean> {
    const { accountId, id: inboundId, blob, envelope } = pending;
    try {
      const { reply } = await mailboxes.of(accountId).ask('deliver', { inboundId, blob, ...open(envelope) });
      log.info({ accountId, inboundId, blob, emailId: reply?.emailId }, 'delivered after the fact');
      return true;
    } catch (error) {
      log.warn({ accountId, inboundId, err: error }, 'delivery is still waiting');
      return false;
    }
  }

  /** Accounts that cannot be delivered to now are passed over, so that they hold nobody up. */
  async function pass(minAgeMs: number): Promise<void> {
    const waiting = new Set<string>();
    while (waiting.size < MAX_WAITING) {
      const pending = await inbound.overdue(ownership.owned, minAgeMs, PAGE, [...waiting]);
      const done = await Promise.all(pending.map(deliver));
      pending.forEach(({ accountId }, i) => {
        if (!done[i]) waiting.add(accountId);
      });
      if (pending.length < PAGE) return;
    }
  }

  let passing: Promise<void> | undefined;
  const look = (minAgeMs: number) => {
    passing ??= pass(minAgeMs)
      .catch((error) => log.warn({ err: error }, 'waiting deliveries could not be read'))
      .finally(() => {
        passing = undefined;
      });
    return passing;
  };
  await look(0);
  const timer = setInterval(() => void look(options.minAgeMs), options.intervalMs);
  return {
    async stop() {
      clearInterval(timer);
      await passing;
    },
  };
}

function open(envelope: PendingInbound['envelope']) {
  return {
    receivedAt: envelope.receivedAt,
    summary: { ...envelope.summary, references: [...envelope.summary.references] },
  };
}
