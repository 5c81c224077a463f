// Releases held outbound mail at its time (decision 0052). Held emails are rows in the store: the owner of their shard periodically reads
// the next ones, and asks each mailbox at the email's time. So no timer is lost with a node, and only the mailbox decides whether an email
// is still held.
import type { Logger } from 'pino';
import { DynamicShares } from '../../bounds/dynamic-shares.js';
import { clock } from '../../store/clock.js';
import type { HeldOutbound, OutboundStore } from '../../store/outbound.js';
import type { DeliveryMailboxes } from '../mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../runtime/errors.js';
import type { Ownership } from '../runtime/ownership.js';

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

export function startReleases({ store, mailboxes, ownership, log, intervalMs }: ReleasesOptions): Releases {
  const shares = new DynamicShares({ total: AT_ONCE });
  const timers = new Map<string, NodeJS.Timeout>();
  const asked = new Map<string, Promise<void>>();
  let released = 0;
  let isStopped = false;
  let isMore = false;
  let next: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;

  /** Resolves with false when the email must be tried again. */
  async function release({ accountId, outboundId, heldUntil }: HeldOutbound): Promise<boolean> {
    try {
      const { reply } = await mailboxes.of(accountId).ask('releaseOutbound', { outboundId, heldUntil });
      // Without a reply, the email was cancelled, or released before.
      if (reply === undefined) return true;
      released++;
      const lateMs = Math.round(clock.now() - heldUntil);
      log.info({ accountId, outboundId, status: reply.status, lateMs }, 'a held email is released');
      return true;
    } catch (error) {
      if (error instanceof ActorFault && error.code === 'no-such-account') return true;
      log.warn({ accountId, outboundId, err: error }, 'a held email could not be released yet');
      return false;
    }
  }

  /** This process is responsible for the email until the mailbox has been asked. */
  function take(held: HeldOutbound): void {
    const { accountId, outboundId, heldUntil } = held;
    shares.take(accountId);
    const due = () => {
      timers.delete(outboundId);
      const done = release(held).then((isDone) => {
        asked.delete(outboundId);
        shares.give(accountId);
        if (isMore && isDone) read();
      });
      asked.set(outboundId, done);
    };
    // Timers may fire a millisecond early.
    timers.set(outboundId, setTimeout(due, Math.max(0, heldUntil - clock.now() + 1)));
  }

  async function takeAll(): Promise<void> {
    isMore = false;
    const limit = shares.free;
    if (ownership.owned.length === 0 || limit <= 0) return;
    const found = await store.held(ownership.owned, intervalMs, limit, [...timers.keys(), ...asked.keys()]);
    if (isStopped) return;
    isMore = found.length === limit;
    for (const held of found) {
      if (shares.mayTake(held.accountId)) take(held);
      else isMore = true;
    }
  }

  function read(): void {
    if (isStopped || reading !== undefined) return;
    clearTimeout(next);
    reading = takeAll()
      .catch((error) => log.warn({ err: error }, 'held emails could not be read'))
      .finally(() => {
        reading = undefined;
        if (!isStopped) next = setTimeout(read, intervalMs);
      });
  }

  read();
  return {
    get released() {
      return released;
    },
    async stop() {
      isStopped = true;
      clearTimeout(next);
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all([reading, ...asked.values()]);
    },
  };
}
