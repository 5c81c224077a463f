// The first step of the engine: the cluster of this node, which is the bus between nodes and the leases of shards. No shard is acquired yet.
import { createOwnership } from '../../actors/runtime/ownership/leased-ownership.js';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import type { Transport } from '../../actors/runtime/transport/transport.js';
import { localTransport } from '../../actors/runtime/transport/transport-local.js';
import type { NatsTransportOptions } from '../../actors/runtime/transport/transport-nats.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';
import { postgresLeases } from '../../store/postgres/leases.js';
import { version } from '../version.js';
import { type EngineContext, watched } from './engine-context.js';

/** Another process uses this node's name. */
class Displaced extends Error {
  override readonly name = 'Displaced';
}

export interface ClusterAccess {
  readonly transport: Transport;
  readonly ownership: Ownership;
  /** The incarnation of this process in its entry of the store. */
  readonly incarnation: string;
  /** Rejects when this node must not continue. */
  readonly failed: Promise<never>;
}

/** A node alone does not load the client of NATS. */
async function busTransport(options: NatsTransportOptions): Promise<Transport> {
  const { natsTransport } = await import('../../actors/runtime/transport/transport-nats.js');
  return natsTransport(options);
}

export async function joinCluster(context: EngineContext): Promise<ClusterAccess> {
  const { config, log, lifecycle, node } = context;
  const { nodeId, breaker, leaseSql } = node;
  const { leaseTtlMs: ttlMs, shards: configured, natsUrl: servers } = config;
  const leases = postgresLeases(leaseSql);
  const shards = await leases.shardCount(configured);
  if (shards !== configured) log.warn({ shards, configured }, 'MANSIO_SHARDS is fixed by the store');
  const transport =
    servers === undefined
      ? localTransport({ log })
      : await busTransport({ servers, clusterId: await leases.clusterId(), nodeId, log });
  lifecycle.add('transport', () => transport.close());
  let displaced = () => {};
  const failed = new Promise<never>((_, reject) => {
    displaced = () => reject(new Displaced(`another process has started under the name of this node, ${nodeId}`));
  });
  failed.catch(() => {});
  const incarnation = newId();
  const ownership = createOwnership({
    store: leases,
    transport,
    node: {
      id: nodeId,
      incarnation,
      version,
      roles: [...config.roles],
      bus: servers === undefined ? 'in-process' : 'nats',
    },
    shards,
    ttlMs,
    log,
    displaced,
    clock: {
      learn(...times) {
        clock.learn(...times);
        breaker.noteAnswer();
      },
    },
    ...watched(context),
  });
  return { transport, ownership, incarnation, failed };
}
