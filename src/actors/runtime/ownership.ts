// Which shards this node owns and since which epoch. Alone on its store a node owns all of them: it takes every lease
// at start, keeps renewing, and gives them back when it stops. A second node on the same store is told so.
import type { Logger } from 'pino';
import type { LeaseStore, ShardLease } from '../../store/leases.js';
import { shardOf } from '../../store/shard.js';

/** Another node holds the leases of this store. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse';
}

export interface Ownership {
  readonly shards: number;
  readonly owned: readonly number[];
  /** Shards this node should own and does not: their accounts cannot be reached. */
  readonly missing: number;
  /** The epoch in which this node owns the account's shard; undefined when it does not. */
  epochOf(accountId: string): number | undefined;
  release(): Promise<void>;
}

export interface OwnershipOptions {
  readonly store: LeaseStore;
  readonly nodeId: string;
  readonly ttlMs: number;
  readonly shards: number;
  readonly log: Logger;
}

/** @throws StoreInUse when another node keeps renewing its leases. */
export async function ownAllShards(options: OwnershipOptions): Promise<Ownership> {
  const { store, nodeId, ttlMs, log } = options;
  const shards = await store.shardCount(options.shards);
  const epochs = new Map<number, number>();
  let released = false;
  const own = (leases: readonly ShardLease[]) => {
    if (!released) for (const lease of leases) epochs.set(lease.shard, lease.epoch);
  };

  const patience = Date.now() + ttlMs * 1.5;
  own(await store.acquire(nodeId, ttlMs));
  while (epochs.size < shards) {
    if (Date.now() > patience) {
      throw new StoreInUse('another node is running on this database; several nodes need a NATS server between them');
    }
    await new Promise((resolve) => setTimeout(resolve, ttlMs / 4));
    own(await store.acquire(nodeId, ttlMs));
  }

  // What the log was told last: a beat a second must not be a line a second.
  let toldMissing = 0;
  let toldFailing = false;

  async function beat(): Promise<void> {
    try {
      const held = await inTime(store.renew(nodeId, ttlMs), ttlMs);
      // Those of `held` may be more: leases taken by an acquire whose answer was lost.
      if (held < shards || epochs.size < shards) {
        epochs.clear();
        own(await inTime(store.acquire(nodeId, ttlMs), ttlMs));
      }
      if (toldFailing) log.info('shard leases are renewed again');
      toldFailing = false;
    } catch (error) {
      if (!toldFailing) log.warn({ err: error }, 'shard leases could not be renewed');
      toldFailing = true;
    }
    const missing = shards - epochs.size;
    if (missing === toldMissing || released) return;
    if (missing > 0) log.error({ missing, shards }, 'shard leases were taken by another node');
    else log.info({ shards }, 'all shard leases are held again');
    toldMissing = missing;
  }

  let beating: Promise<void> | undefined;
  const heartbeat = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
  }, ttlMs / 3);

  return {
    shards,
    get owned() {
      return [...epochs.keys()];
    },
    get missing() {
      return shards - epochs.size;
    },
    epochOf: (accountId) => epochs.get(shardOf(accountId, shards)),
    async release() {
      clearInterval(heartbeat);
      released = true;
      epochs.clear();
      // A beat under way could take the leases anew after they were given back.
      await beating;
      await store.release(nodeId);
    },
  };
}

/** A call the database never answers must not end the heartbeat. */
async function inTime<T>(call: Promise<T>, boundMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not answer within ${boundMs} ms`)), boundMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
