// Port: which node owns which shards, and since which epoch (D2, D3).

export interface ShardLease {
  readonly shard: number;
  /** Rises with every change of owner; written into every commit. */
  readonly epoch: number;
}

export interface LeaseStore {
  /** How many shards this store has; `configured` is recorded when the store is new. */
  shardCount(configured: number): Promise<number>;
  /** Takes every shard that is free, expired or already this node's; returns all that the node then holds. */
  acquire(nodeId: string, ttlMs: number): Promise<readonly ShardLease[]>;
  /** Extends this node's leases; returns how many it still holds. */
  renew(nodeId: string, ttlMs: number): Promise<number>;
  release(nodeId: string): Promise<void>;
}
