// Who should own what (decision 0003), decided by every node for itself from one look at the store: pure. Where two nodes decide
// differently the store lets one of them have the shard, and the next look settles it.
import type { ClusterView, LeaseRow, NodeRow, NodeState } from '../../store/leases.js';
import { rendezvous } from './rendezvous.js';

export const MAILBOX_ROLE = 'mailbox';

export interface Standpoint {
  readonly self: string;
  readonly state: NodeState;
  readonly view: ClusterView;
  /** Shard → epoch, of what this process holds. */
  readonly held: ReadonlyMap<number, number>;
  /** Nodes for which nobody answers on the bus. */
  readonly gone: ReadonlySet<string>;
  /** Others may only seem to be late or gone, because this node was cut off itself until now: take what is free alone. */
  readonly patient: boolean;
}

export interface Decision {
  /**
   * Free, this node's own of before, or of owners that are late, gone or cut off. `expired` where it counts: it has to be so
   * still when the lease is taken.
   */
  readonly take: readonly LeaseRow[];
  /** This node's, and another's to own. */
  readonly give: readonly LeaseRow[];
}

/** Nodes that should own mailboxes: while no other can, those that are cut off. */
export function candidates({ view, gone }: Pick<Standpoint, 'view' | 'gone'>): readonly NodeRow[] {
  const able = view.nodes.filter(
    (node) => !node.expired && node.state !== 'draining' && !gone.has(node.id) && node.roles.includes(MAILBOX_ROLE),
  );
  const serving = able.filter(({ state }) => state === 'serving');
  return serving.length > 0 ? serving : able;
}

export function decide(at: Standpoint): Decision {
  const names = candidates(at).map(({ id }) => id);
  const self = at.view.nodes.find(({ id }) => id === at.self);
  // Its former life may have had the role.
  const unable = self?.roles.includes(MAILBOX_ROLE) !== true;
  const take: LeaseRow[] = [];
  const give: LeaseRow[] = [];
  for (const lease of at.view.leases) {
    const rightful = rendezvous(lease.shard, names);
    if (lease.nodeId === at.self) {
      const others = rightful !== undefined && rightful !== at.self && at.state !== 'cut off';
      if (unable || others) give.push(lease);
      else if (at.held.get(lease.shard) !== lease.epoch && at.state !== 'draining') take.push(lease);
    } else if (rightful === at.self) {
      const wanted = takeable(at, lease);
      if (wanted !== undefined) take.push(wanted);
    }
  }
  return { take, give };
}

/** What an owner that lives holds is its to give. */
function takeable({ view, gone, patient }: Standpoint, lease: LeaseRow): LeaseRow | undefined {
  if (lease.nodeId === null) return lease;
  if (patient) return undefined;
  const owner = view.nodes.find(({ id }) => id === lease.nodeId);
  if (owner === undefined || owner.state === 'cut off' || gone.has(lease.nodeId)) return { ...lease, expired: false };
  return lease.expired ? lease : undefined;
}
