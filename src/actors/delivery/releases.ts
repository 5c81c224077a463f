// Releases held outbound mail at its time (decision 0052). Held emails are rows in the store: the owner of their shard periodically reads
// the next ones, and asks each mailbox at the email's time. So no timer is lost with a node, and only the mailbox decides whether an email
// is still held.
import type { Logger } from 'pino';
import { type WorkAttempt, WorkQueue } from '../../concurrency/work-queue.js';
import { clock } from '../../store/clock.js';
import type { HeldOutbound, OutboundStore } from '../../store/outbound.js';
import type { DeliveryMailboxes } from '../mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../runtime/errors.js';
import type { Ownership } from '../runtime/ownership/ownership.js';

export interface ReleasesOptions {
  readonly store: Pick<OutboundStore, 'held'>;
  readonly mailboxes: DeliveryMailboxes;
  readonly ownership: Pick<Ownership, 'owned'>;
  readonly log: Logger;
  /** How often the store is read, in ms; emails are read this long before their time. */
  readonly intervalMs: number;
}

export interface Releases {
  /** Emails released since the start. */
  readonly released: number;
  stop(): Promise<void>;
}

/** The most emails that wait at a time for their time or for their mailbox. */
const AT_ONCE = 200;
/** The key of the read. */
const READ = 'read';

export function startReleases({ store, mailboxes, ownership, log, intervalMs }: ReleasesOptions): Releases {
  /** The emails of `due`. */
  const taken = new Map<string, HeldOutbound>();
  let released = 0;
  let isMore = false;

  async function release({ accountId, outboundId, heldUntil }: HeldOutbound): Promise<void> {
    try {
      const { reply } = await mailboxes.of(accountId).ask('releaseOutbound', { outboundId, heldUntil });
      // Without a reply, the email was cancelled, or released before.
      if (reply === undefined) return;
      released++;
      const lateMs = Math.round(clock.now() - heldUntil);
      log.info({ accountId, outboundId, status: reply.status, lateMs }, 'a held email is released');
    } catch (error) {
      if (!(error instanceof ActorFault) || error.code !== 'no-such-account') throw error;
    }
  }

  /** Returns false when the email must wait for a later read. */
  function take(held: HeldOutbound): boolean {
    const { accountId, outboundId, heldUntil } = held;
    // The clock of the store may be a millisecond behind that of the queue.
    if (!due.addAfter(outboundId, heldUntil - clock.now() + 1, accountId)) return false;
    taken.set(outboundId, held);
    return true;
  }

  async function read(_: string, { signal }: WorkAttempt): Promise<number> {
    const limit = due.free;
    if (ownership.owned.length === 0 || limit <= 0) return intervalMs;
    isMore = false;
    const found = await store.held(ownership.owned, intervalMs, limit, due.keys);
    if (signal.aborted) return intervalMs;
    isMore = found.filter(take).length < found.length || found.length === limit;
    return intervalMs;
  }

  /** This process is responsible for these emails until their mailboxes have been asked. */
  const due = new WorkQueue({
    async work(outboundId) {
      const held = taken.get(outboundId)!;
      taken.delete(outboundId);
      await release(held);
      if (isMore) reads.add(READ);
      return undefined;
    },
    failed: (outboundId, err, accountId) =>
      log.warn({ accountId, outboundId, err }, 'a held email could not be released yet'),
    // A later read finds the email again.
    isTemporary: () => false,
    workers: AT_ONCE,
    most: AT_ONCE,
    backoff: { firstMs: intervalMs },
  });
  const reads = new WorkQueue({
    work: read,
    failed: (_, error) => log.warn({ err: error }, 'held emails could not be read'),
    most: 1,
    backoff: { firstMs: intervalMs },
  });
  reads.add(READ);
  return {
    get released() {
      return released;
    },
    async stop() {
      await Promise.all([reads.stop(), due.stop()]);
    },
  };
}
