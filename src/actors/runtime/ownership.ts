// Which shards this node owns and since which epoch. Alone on its store a node owns all of them: it takes every lease
// at start, keeps renewing, and gives them back when it stops. A second node on the same store is told so.
import type { Logger } from 'pino';
import type { LeaseStore } from '../../store/leases.js';
import { shardOf } from '../../store/shard.js';

/** Another node holds the leases of this store. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse';
}

export interface Ownership {
  readonly shards: number;
  readonly owned: readonly number[];
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
  const acquire = async () => {
    for (const lease of await store.acquire(nodeId, ttlMs)) epochs.set(lease.shard, lease.epoch);
  };

  const patience = Date.now() + ttlMs * 1.5;
  await acquire();
  while (epochs.size < shards) {
    if (Date.now() > patience) {
      throw new StoreInUse('another node is running on this database; several nodes need a NATS server between them');
    }
    await new Promise((resolve) => setTimeout(resolve, ttlMs / 4));
    await acquire();
  }

  let renewing = false;
  const heartbeat = setInterval(async () => {
    if (renewing) return;
    renewing = true;
    try {
      const held = await store.renew(nodeId, ttlMs);
      if (held < shards) {
        log.error({ held, shards }, 'shard leases were taken by another node');
        epochs.clear();
        await acquire();
      }
    } catch (error) {
      log.warn({ err: error }, 'shard leases could not be renewed');
    } finally {
      renewing = false;
    }
  }, ttlMs / 3);

  return {
    shards,
    get owned() {
      return [...epochs.keys()];
    },
    epochOf: (accountId) => epochs.get(shardOf(accountId, shards)),
    async release() {
      clearInterval(heartbeat);
      epochs.clear();
      await store.release(nodeId);
    },
  };
}
