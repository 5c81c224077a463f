// Decides which shards a node delivers outbound mail for; every node decides this itself from its view of the cluster. Pure. If two nodes
// decide differently for a moment, the mailbox lets only one of them begin each delivery.
import type { ClusterView, LeaseRow, NodeRow } from '../../store/leases.js';
import { rendezvous } from '../runtime/ownership/rendezvous.js';

export const OUTBOUND_ROLE = 'outbound';

type View = Pick<ClusterView, 'nodes' | 'leases'>;

/** Nodes that may begin deliveries; nodes that are cut off only while there are no others. */
export function outboundNodes({ nodes }: Pick<View, 'nodes'>): readonly NodeRow[] {
  const able = nodes.filter(
    ({ expired, state, roles }) => !expired && state !== 'draining' && roles.includes(OUTBOUND_ROLE),
  );
  const serving = able.filter(({ state }) => state === 'serving');
  return serving.length > 0 ? serving : able;
}

/** The shard's owner if it has the role, because this avoids traffic between nodes; otherwise one of the nodes that have it. */
function delivererOf({ shard, nodeId }: LeaseRow, able: readonly string[]): string | undefined {
  return nodeId !== null && able.includes(nodeId) ? nodeId : rendezvous(shard, able);
}

/** Undefined when no living node has the role. */
export function deliverer(view: View, shard: number): string | undefined {
  const lease = view.leases[shard];
  if (lease === undefined) return undefined;
  return delivererOf(
    lease,
    outboundNodes(view).map(({ id }) => id),
  );
}

/** The shards that the node delivers for. */
export function shardsOf(view: View, nodeId: string): readonly number[] {
  const able = outboundNodes(view).map(({ id }) => id);
  return view.leases.filter((lease) => delivererOf(lease, able) === nodeId).map(({ shard }) => shard);
}
