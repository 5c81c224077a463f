// Shard leases (D2, D3). The database's clock alone decides what has expired. Epochs rise when a shard changes hands and
// when a node takes its own shards again after a start, so that nothing it wrote before can be taken for its writes now.
import type { LeaseStore, ShardLease } from '../leases.js';
import { type Sql, storeFault } from './client.js';
import { postgresSettings } from './settings.js';

/** One instance a process: what it acquires first, it takes anew even when an earlier process had the same node id. */
export function postgresLeases(sql: Sql): LeaseStore {
  const started = new Set<string>();
  return {
    async shardCount(configured) {
      const stored = await postgresSettings(sql).getOrCreate('shards', () => String(configured));
      const shards = Number(stored);
      await insertShards(sql, shards).catch(rethrow);
      return shards;
    },
    async acquire(nodeId, ttlMs) {
      const held = await takeShards(sql, nodeId, ttlMs, !started.has(nodeId)).catch(rethrow);
      started.add(nodeId);
      return held;
    },
    renew: (nodeId, ttlMs) => extendLeases(sql, nodeId, ttlMs).catch(rethrow),
    release: (nodeId) => freeShards(sql, nodeId).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

async function insertShards(sql: Sql, shards: number): Promise<void> {
  await sql`
    insert into shard_leases (shard) select generate_series(0, ${shards}::integer - 1) on conflict (shard) do nothing`;
}

/** Rows are locked in order of shard, so two nodes that take at once wait for each other instead of deadlocking. */
async function takeShards(sql: Sql, nodeId: string, ttlMs: number, anew: boolean): Promise<readonly ShardLease[]> {
  const rows = await sql<{ shard: number; epoch: string }[]>`
    update shard_leases as lease set
      node_id = ${nodeId},
      epoch = lease.epoch + case when lease.node_id = ${nodeId} and not ${anew}::boolean then 0 else 1 end,
      expires_at = now() + ${ttlMs}::double precision * interval '1 millisecond'
    from (
      select shard from shard_leases
      where node_id is null or node_id = ${nodeId} or expires_at <= now()
      order by shard for update
    ) as open
    where lease.shard = open.shard
    returning lease.shard, lease.epoch`;
  return rows.map((row) => ({ shard: row.shard, epoch: Number(row.epoch) })).sort((a, b) => a.shard - b.shard);
}

/** A lease that ran out but that nobody took is still this node's: taking it would have changed its node. */
async function extendLeases(sql: Sql, nodeId: string, ttlMs: number): Promise<number> {
  const { count } = await sql`
    update shard_leases as lease
    set expires_at = now() + ${ttlMs}::double precision * interval '1 millisecond'
    from (select shard from shard_leases where node_id = ${nodeId} order by shard for update) as own
    where lease.shard = own.shard`;
  return count;
}

async function freeShards(sql: Sql, nodeId: string): Promise<void> {
  await sql`
    update shard_leases as lease set node_id = null, expires_at = '-infinity'
    from (select shard from shard_leases where node_id = ${nodeId} order by shard for update) as own
    where lease.shard = own.shard`;
}
