// Nodes and shard leases (decisions 0002, 0003). Only the clock of the database decides what has expired. Every take raises the
// epoch, also when a node takes its own shards again after a start, so that its earlier writes cannot be mistaken for current
// ones. Rows are locked in order of shard, so that two nodes wait for each other instead of deadlocking.
import { randomBytes } from 'node:crypto';
import type {
  Heartbeat,
  Joined,
  LeaseRow,
  LeaseStore,
  NodeEntry,
  NodeRow,
  NodeState,
  ReleasedLease,
  ShardLease,
} from '../leases.js';
import { type Sql, storeFault } from './driver/client.js';
import { postgresSettings } from './settings.js';

/** Entries of nodes that are silent for longer than this are deleted. */
const FORGET_AFTER = '1 day';

export function postgresLeases(sql: Sql): LeaseStore {
  return {
    async shardCount(configured) {
      const stored = await postgresSettings(sql).getOrCreate('shards', () => String(configured));
      const shards = Number(stored);
      await insertShards(sql, shards).catch(rethrow);
      return shards;
    },
    clusterId: () => postgresSettings(sql).getOrCreate('cluster', () => randomBytes(8).toString('hex')),
    join: (node, ttlMs, displaced) => enterNode(sql, node, ttlMs, displaced).catch(rethrow),
    heartbeat: (node, state, ttlMs) => renewAndView(sql, node, state, ttlMs).catch(rethrow),
    take: (nodeId, seen, ttlMs) => takeShards(sql, nodeId, seen, ttlMs).catch(rethrow),
    release: (nodeId, leases) => freeShards(sql, nodeId, leases).catch(rethrow),
    leave: (node) => removeNode(sql, node).catch(rethrow),
    view: () => readView(sql).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

const interval = (sql: Sql, ms: number) => sql`${ms}::double precision * interval '1 millisecond'`;

async function insertShards(sql: Sql, shards: number): Promise<void> {
  await sql`
    insert into shard_leases (shard) select generate_series(0, ${shards}::integer - 1) on conflict (shard) do nothing`;
}

/** Nodes join one at a time, so that one of two nodes without a bus sees the other. */
async function enterNode(sql: Sql, node: NodeEntry, ttlMs: number, displaced: string | undefined): Promise<Joined> {
  return sql.begin(async (tx) => {
    await tx`lock table nodes in share row exclusive mode`;
    await tx`delete from nodes where expires_at < now() - ${FORGET_AFTER}::interval`;
    const [other] = await tx<{ id: string }[]>`
      select id from nodes
      where id <> ${node.id} and expires_at > now() and (bus = 'in-process' or ${node.bus} = 'in-process') limit 1`;
    if (other !== undefined) return { kind: 'inUse', by: other.id };
    const { id, incarnation, version, roles, bus } = node;
    const [present] = await tx<{ incarnation: string }[]>`select incarnation from nodes where id = ${id}`;
    if (present !== undefined && present.incarnation !== incarnation && present.incarnation !== displaced) {
      return { kind: 'nameTaken', incarnation: present.incarnation };
    }
    await tx`
      insert into nodes (id, incarnation, version, roles, bus, state, started_at, beat_at, expires_at)
      values (${id}, ${incarnation}, ${version}, ${roles as string[]}, ${bus}, 'serving', now(), now(),
        now() + ${interval(sql, ttlMs)})
      on conflict (id) do update set incarnation = excluded.incarnation, version = excluded.version,
        roles = excluded.roles, bus = excluded.bus, listeners = '{}', state = excluded.state, started_at = excluded.started_at,
        beat_at = excluded.beat_at, expires_at = excluded.expires_at`;
    return { kind: 'joined' };
  });
}

async function renewAndView(
  sql: Sql,
  node: NodeEntry,
  state: NodeState,
  ttlMs: number,
): Promise<Heartbeat | undefined> {
  // A lease that expired without being taken still belongs to this node: a take would have changed its node.
  const [renewed] = await sql<{ present: boolean }[]>`
    with me as (
      update nodes set beat_at = now(), expires_at = now() + ${interval(sql, ttlMs)}, state = ${state},
        listeners = ${JSON.stringify(node.listeners ?? {})}::text::json
      where id = ${node.id} and incarnation = ${node.incarnation} returning id
    ), renewed as (
      update shard_leases as lease set expires_at = now() + ${interval(sql, ttlMs)}
      from (select shard from shard_leases where node_id = ${node.id} order by shard for update) as own
      where lease.shard = own.shard and exists (select from me)
    )
    select exists (select from me) as present`;
  return renewed!.present ? readView(sql) : undefined;
}

async function readView(sql: Sql): Promise<Heartbeat> {
  const [view] = await sql<{ now: number; nodes: NodeRow[]; leases: [number, string, string | null, boolean][] }[]>`
    select floor(extract(epoch from now()) * 1000)::float8 as now,
      (select coalesce(json_agg(json_build_object('id', id, 'version', version, 'roles', roles, 'bus', bus,
          'state', state, 'listeners', listeners, 'startedAt', floor(extract(epoch from started_at) * 1000),
          'silentMs', floor(extract(epoch from now() - beat_at) * 1000), 'expired', expires_at <= now()) order by id),
          '[]') from nodes) as nodes,
      (select coalesce(json_agg(json_build_array(shard, epoch::text, node_id,
          node_id is null or expires_at <= now()) order by shard), '[]') from shard_leases) as leases`;
  const leases = view!.leases.map(
    ([shard, epoch, nodeId, expired]): LeaseRow => ({ shard, epoch: Number(epoch), nodeId, expired }),
  );
  return { now: view!.now, nodes: view!.nodes, leases };
}

async function takeShards(
  sql: Sql,
  nodeId: string,
  seen: readonly LeaseRow[],
  ttlMs: number,
): Promise<readonly ShardLease[]> {
  const wanted = JSON.stringify(
    seen.map(({ shard, epoch, nodeId: owner, expired }) => ({ shard, epoch, owner, expired })),
  );
  const rows = await sql<{ shard: number; epoch: string }[]>`
    update shard_leases as lease
    set node_id = ${nodeId}, epoch = lease.epoch + 1, expires_at = now() + ${interval(sql, ttlMs)}
    from (
      select l.shard from shard_leases as l
      join json_to_recordset(${wanted}::text::json)
          as seen (shard integer, epoch bigint, owner text, expired boolean)
        on l.shard = seen.shard and l.epoch = seen.epoch and l.node_id is not distinct from seen.owner
          and (not seen.expired or l.node_id is null or l.expires_at <= now())
      order by l.shard for update of l
    ) as open
    where lease.shard = open.shard
    returning lease.shard, lease.epoch`;
  return rows.map((row) => ({ shard: row.shard, epoch: Number(row.epoch) })).sort((a, b) => a.shard - b.shard);
}

async function freeShards(
  sql: Sql,
  nodeId: string,
  leases: readonly ReleasedLease[],
): Promise<readonly ReleasedLease[]> {
  const released = JSON.stringify(leases.map(({ shard, epoch, to = null }) => ({ shard, epoch, to })));
  const rows = await sql<{ shard: number; epoch: string; to: string | null }[]>`
    update shard_leases as lease
    set node_id = own.taker, epoch = lease.epoch + (own.taker is not null)::integer,
      expires_at = case when own.taker is null then '-infinity' else lease.expires_at end
    from (
      select l.shard, taker.id as taker from shard_leases as l
      join json_to_recordset(${released}::text::json) as released (shard integer, epoch bigint, "to" text)
        on l.shard = released.shard and l.epoch = released.epoch
      left join nodes as taker on taker.id = released."to" and taker.state = 'serving' and taker.expires_at > now()
      where l.node_id = ${nodeId}
      order by l.shard for update of l
    ) as own
    where lease.shard = own.shard
    returning lease.shard, lease.epoch, lease.node_id as "to"`;
  return rows.flatMap(({ shard, epoch, to }) => (to === null ? [] : [{ shard, epoch: Number(epoch), to }]));
}

async function removeNode(sql: Sql, { id, incarnation }: Pick<NodeEntry, 'id' | 'incarnation'>): Promise<void> {
  await sql`
    with me as (delete from nodes where id = ${id} and incarnation = ${incarnation} returning id)
    update shard_leases as lease set node_id = null, epoch = lease.epoch + 1, expires_at = '-infinity'
    from (select shard from shard_leases where node_id = ${id} order by shard for update) as own
    where lease.shard = own.shard and exists (select from me)`;
}
