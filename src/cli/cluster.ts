// `mansio cluster status`: the nodes on this store, the shards that each owns, and the waiting mail. It reads only the database, so it
// shows what the nodes have written there, even when no NATS server and no node can be reached.
import type { Command } from 'commander';
import { candidates } from '../actors/runtime/ownership/placement.js';
import { rendezvous } from '../actors/runtime/ownership/rendezvous.js';
import type { ClusterView, NodeState } from '../store/leases.js';
import type { Sql } from '../store/postgres/driver/client.js';
import { postgresLeases } from '../store/postgres/leases.js';
import { postgresBacklog } from '../store/postgres/mailbox/backlog.js';
import { commandGroup, reporting, textOf } from './output.js';
import { readingStore } from './store.js';

interface NodeStatus {
  readonly id: string;
  readonly version: string;
  readonly roles: readonly string[];
  /** `gone`: the heartbeat of the node is overdue. */
  readonly state: NodeState | 'gone';
  readonly uptimeMs: number;
  readonly heartbeatAgeMs: number;
  readonly shards: number;
  /** The number of shards that placement would now give to the node. */
  readonly expectedShards: number;
}

interface ClusterStatus {
  readonly nodes: readonly NodeStatus[];
  /** `expired`: their owner is overdue and no other node owns them yet. */
  readonly shards: { readonly total: number; readonly free: number; readonly expired: number };
  readonly inbound: { readonly waiting: number; readonly oldestMs: number | null };
}

export function registerCluster(program: Command): void {
  const group = commandGroup(program, 'cluster', 'the nodes that share this store');
  const status = group.command('status').description('list nodes and the shards they own, and what waits');
  reporting(status, () => readingStore(readStatus), statusText);
}

async function readStatus(sql: Sql): Promise<ClusterStatus> {
  const [view, { at, waiting, oldestMs }] = await Promise.all([
    postgresLeases(sql).view(),
    postgresBacklog(sql).inbound(),
  ]);
  const { leases } = view;
  const expected = expectedOwners(view);
  const nodes = view.nodes.map(
    (node): NodeStatus => ({
      id: node.id,
      version: node.version,
      roles: node.roles,
      state: node.expired ? 'gone' : node.state,
      uptimeMs: Math.max(0, at - node.startedAt - (node.expired ? node.silentMs : 0)),
      heartbeatAgeMs: node.silentMs,
      shards: leases.filter(({ nodeId }) => nodeId === node.id).length,
      expectedShards: expected.filter((owner) => owner === node.id).length,
    }),
  );
  const free = leases.filter(({ nodeId }) => nodeId === null).length;
  const expired = leases.filter((lease) => lease.nodeId !== null && lease.expired).length;
  return { nodes, shards: { total: leases.length, free, expired }, inbound: { waiting, oldestMs } };
}

/** The expected owner of each shard, by its index. */
function expectedOwners(view: ClusterView): readonly (string | undefined)[] {
  const names = candidates({ view, gone: new Set() }).map(({ id }) => id);
  return view.leases.map(({ shard }) => rendezvous(shard, names));
}

function statusText({ nodes, shards, inbound }: ClusterStatus): string {
  const table = nodes.map((node) => ({
    node: node.id,
    version: node.version,
    state: node.state,
    uptime: duration(node.uptimeMs),
    heartbeat: `${duration(node.heartbeatAgeMs)} ago`,
    shards: node.shards,
    expected: node.expectedShards,
    roles: node.roles,
  }));
  const { total, free, expired } = shards;
  const waits = inbound.oldestMs === null ? '' : `, the first for ${duration(inbound.oldestMs)}`;
  return [
    nodes.length === 0 ? 'no nodes' : textOf(table),
    '',
    `shards   ${total}, ${free} free, ${expired} expired`,
    `inbound  ${inbound.waiting} waiting${waits}`,
  ].join('\n');
}

/** Formats the two largest units: 3d 4h, 12m 5s, 0.8s. */
function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}
