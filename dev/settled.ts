// Says whether a cluster has settled: each shard is held by the node that placement names among those that run.
import { candidates } from '../src/actors/runtime/ownership/placement.js';
import { rendezvous } from '../src/actors/runtime/ownership/rendezvous.js';
import type { ClusterView } from '../src/store/leases.js';

/** `running` has the names of the nodes whose processes run. */
export function isSettled(view: ClusterView, running: readonly string[]): boolean {
  const owners = candidates({ view, gone: new Set() }).map(({ id }) => id);
  const present = view.nodes.filter((node) => !node.expired).map(({ id }) => id);
  const sameNodes = [...present].sort().join() === [...running].sort().join();
  return (
    sameNodes &&
    view.leases.length > 0 &&
    view.leases.every((lease) => !lease.expired && lease.nodeId === (rendezvous(lease.shard, owners) ?? null))
  );
}
