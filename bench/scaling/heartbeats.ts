// Measures what a heartbeat takes in clusters of several sizes: entries of nodes and their leases in a database, and the statement and the
// decision of each node in turn. Pings are measured by `cluster asks`.

import { freePort } from '../../dev/ports.js';
import { startPostgresServer } from '../../dev/servers/postgres-server.js';
import { temporaryDirectoryOnDisk } from '../../dev/temporary-directory.js';
import { decide } from '../../src/actors/runtime/ownership/placement.js';
import { ownersAmong } from '../../src/actors/runtime/ownership/rendezvous.js';
import type { NodeEntry } from '../../src/store/leases.js';
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { cpuSeconds, difference } from '../support/cpu-time.js';
import { figure } from '../support/figures.js';

const SIZES = [1, 3, 10, 100, 1_000];
/** 256 is the default; a cluster needs more shards than nodes. */
export const shardsFor = (nodes: number): number => Math.max(256, 2 * nodes);
const BEATS = 200;
const TTL_MS = 3_600_000;

export async function heartbeats(): Promise<void> {
  for (const nodes of SIZES) {
    const postgres = await startPostgresServer({
      dataDir: temporaryDirectoryOnDisk('mansio-bench-'),
      port: await freePort(),
    });
    const sql = connect({ url: postgres.url }, { max: 2, applicationName: 'bench' });
    try {
      await migrate(sql);
      await measure(sql, postgres.pid, nodes);
    } finally {
      await sql.end({ timeout: 1 });
      await postgres.stop();
    }
  }
}

async function measure(sql: Sql, databasePid: number, count: number): Promise<void> {
  const leases = postgresLeases(sql);
  await leases.shardCount(shardsFor(count));
  const nodes = Array.from({ length: count }, (_, i) => entry(i));
  const epochs = await filled(sql, nodes);
  const beats = async (times: number) => {
    for (let i = 0; i < times; i++) {
      const node = nodes[i % count]!;
      const view = await leases.heartbeat(node, 'serving', TTL_MS);
      const at = {
        self: node.id,
        state: 'serving',
        epochs: epochs.get(node.id)!,
        gone: new Set<string>(),
        patient: false,
      } as const;
      const { take, give } = decide({ ...at, view: view! });
      if (take.length + give.length > 0) throw new Error('shards are not where they should be');
    }
  };
  await beats(BEATS / 4);
  const pids = { database: [databasePid] };
  const [before, own] = [await cpuSeconds(pids), process.cpuUsage()];
  await beats(BEATS);
  const { user, system } = process.cpuUsage(own);
  const { database } = difference(await cpuSeconds(pids), before);
  const micros = (seconds: number) => (seconds / BEATS) * 1e6;
  const note = `node ${micros((user + system) / 1e6).toFixed(0)}, database ${micros(database).toFixed(0)}`;
  figure(
    `a heartbeat, ${count} nodes, ${shardsFor(count)} shards`,
    micros((user + system) / 1e6 + database),
    'µs',
    note,
  );
}

/** Enters the nodes with their leases at once, because a thousand joins one after the other take minutes; returns their epochs. */
async function filled(
  sql: Sql,
  nodes: readonly NodeEntry[],
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  for (const { id, incarnation, version, roles, bus } of nodes)
    await sql`
      insert into nodes (id, incarnation, version, roles, bus, state, started_at, beat_at, expires_at)
      values (${id}, ${incarnation}, ${version}, ${roles as string[]}, ${bus}, 'serving', now(), now(), now() + interval '1 hour')`;
  const ownerOf = ownersAmong(nodes.map(({ id }) => id));
  const { leases } = await postgresLeases(sql).view();
  const owners = JSON.stringify(leases.map(({ shard }) => ({ shard, owner: ownerOf(shard) })));
  await sql`
    update shard_leases as lease set node_id = own.owner, epoch = 1, expires_at = now() + interval '1 hour'
    from json_to_recordset(${owners}::text::json) as own (shard integer, owner text) where lease.shard = own.shard`;
  const epochs = new Map(nodes.map(({ id }) => [id, new Map<number, number>()]));
  for (const { shard } of leases) epochs.get(ownerOf(shard)!)!.set(shard, 1);
  return epochs;
}

const entry = (i: number): NodeEntry => ({
  id: `node-${i}.mail.example.test`,
  incarnation: `incarnation-${i}`,
  version: '0.2.0',
  roles: ['api', 'mx', 'submission', 'imap', 'pop3', 'mailbox', 'outbound'],
  bus: 'nats',
  listeners: Object.fromEntries(
    ['http', 'mx', 'submission', 'submissions', 'imap', 'imaps', 'pop3', 'pop3s'].map((name, n) => [
      name,
      `10.0.0.${i % 256}:${2_000 + n}`,
    ]),
  ),
});
