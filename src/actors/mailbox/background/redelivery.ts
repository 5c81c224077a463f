// Repeats deliveries: the shards' owner delivers inbound rows that a gateway could not deliver (the owner was away, the node died). A
// delivery consumes its row, so one attempt too many does no harm.
import type { Logger } from 'pino';
import { atMost } from '../../../concurrency/time-bounds.js';
import { WorkQueue } from '../../../concurrency/work-queue.js';
import type { InboundStore, PendingInbound } from '../../../store/inbound.js';
import type { Ownership } from '../../runtime/ownership/ownership.js';
import { NO_TRACER, spanned, type Tracer } from '../../runtime/tracing.js';
import type { Mailboxes } from '../protocol.js';

const PAGE = 200;
/** The number of skipped accounts after which a pass ends. */
const MAX_WAITING = 1_000;
/** The longest time that the first pass delays the start. */
const START_MS = 1_000;

export interface RedeliveryOptions {
  readonly inbound: InboundStore;
  readonly mailboxes: Mailboxes;
  readonly ownership: Pick<Ownership, 'owned'>;
  readonly log: Logger;
  /** How often the store is asked, in ms. */
  readonly intervalMs: number;
  /** Minimum age in ms: younger rows are still being delivered by the gateway that wrote them. */
  readonly minAgeMs: number;
  readonly tracer?: Tracer;
}

export interface Redelivery {
  /** The number of mails that were delivered since the start. */
  readonly delivered: number;
  /** The number of rows that the last poll found and could not deliver. */
  readonly waiting: number;
  stop(): Promise<void>;
}

/** Starts to poll for waiting rows; resolves when the first pass is done, or after a second. */
export async function startRedelivery(options: RedeliveryOptions): Promise<Redelivery> {
  const { inbound, mailboxes, ownership, log, intervalMs, tracer = NO_TRACER } = options;
  let delivered = 0;
  let waiting = 0;

  async function deliver(pending: PendingInbound): Promise<boolean> {
    const { accountId, id: inboundId, blob, envelope, isTried, recipient, onward } = pending;
    const mail = {
      inboundId,
      blob,
      ...open(envelope),
      ...(isTried === true && { isTried }),
      ...(recipient !== undefined && { recipient }),
      ...(onward !== undefined && { onward: { ...onward, targets: [...onward.targets] } }),
    };
    const ask = () => mailboxes.of(accountId).ask('deliver', mail);
    try {
      // Continues the message's own trace, even if it began long ago or on another node.
      const { reply, refusal } = await spanned(
        tracer.start('redeliver', { kind: 'consumer', parent: envelope.trace }),
        ask,
      );
      if (refusal !== undefined) return false;
      // The mailbox has carried the delivery out before, perhaps without a look at the store, or a filter has deleted the email.
      if (reply.emailId === null) await inbound.end(pending);
      delivered++;
      log.info({ accountId, inboundId, blob, emailId: reply.emailId }, 'delivered after the fact');
      return true;
    } catch (error) {
      log.warn({ accountId, inboundId, err: error }, 'delivery is still waiting');
      return false;
    }
  }

  /** Skips accounts that cannot be delivered to now, so that they do not delay others. */
  async function pass(minAgeMs: number, signal: AbortSignal): Promise<void> {
    const passed = new Set<string>();
    let left = 0;
    while (passed.size < MAX_WAITING && !signal.aborted) {
      const pending = await inbound.overdue(ownership.owned, minAgeMs, PAGE, [...passed]);
      const done = await Promise.all(pending.map(deliver));
      pending.forEach(({ accountId }, i) => {
        if (done[i]) return;
        passed.add(accountId);
        left++;
      });
      if (pending.length < PAGE) break;
    }
    waiting = left;
  }

  let minAgeMs = 0;
  let passed = () => {};
  const firstPass = new Promise<void>((resolve) => {
    passed = resolve;
  });
  const passes = new WorkQueue({
    async work(_, { signal }) {
      const age = minAgeMs;
      minAgeMs = options.minAgeMs;
      await pass(age, signal).finally(passed);
      return intervalMs;
    },
    failed: (_, error) => log.warn({ err: error }, 'waiting deliveries could not be read'),
    most: 1,
    backoff: { firstMs: intervalMs },
  });
  passes.add('pass');
  // Listeners wait for this call, but at most a second: a backlog must not prevent new mail.
  await atMost(firstPass, START_MS);
  return {
    get delivered() {
      return delivered;
    },
    get waiting() {
      return waiting;
    },
    stop: () => passes.stop(),
  };
}

function open(envelope: PendingInbound['envelope']) {
  const { receivedAt, summary, sender, isJunk, isContentJunk, isAuthorProven, bounce } = envelope;
  return {
    receivedAt,
    summary,
    ...(sender !== undefined && { sender }),
    ...(isJunk === true && { isJunk }),
    ...(isContentJunk === true && { isContentJunk }),
    ...(isAuthorProven === true && { isAuthorProven }),
    ...(bounce !== undefined && { bounce }),
  };
}
