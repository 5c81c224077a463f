// Who should own what (D3), decided by every node for itself from one look at the store: pure. Where two nodes decide
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
  /** Free, this node's own of before, or of owners that are late, gone or cut off. */
  readonly take: readonly LeaseRow[];
  /** This node's, and another's to own. */
  readonly give: readonly number[];
}

/** Nodes that should own mailboxes. */
export function candidates({ view, gone }: Pick<Standpoint, 'view' | 'gone'>): readonly NodeRow[] {
  return view.nodes.filter(
    (node) => !node.expired && node.state === 'serving' && !gone.has(node.id) && node.roles.includes(MAILBOX_ROLE),
  );
}

export function decide(at: Standpoint): Decision {
  const names = candidates(at).map(({ id }) => id);
  const take: LeaseRow[] = [];
  const give: number[] = [];
  for (const lease of at.view.leases) {
    const own = lease.nodeId === at.self;
    const rightful = rendezvous(lease.shard, names);
    if (rightful === at.self || (own && (at.state === 'cut off' || rightful === undefined))) {
      const held = at.held.get(lease.shard) === lease.epoch;
      if (own ? !held && at.state !== 'draining' : mayTake(at, lease)) take.push(lease);
    } else if (own) give.push(lease.shard);
  }
  return { take, give };
}

/** What an owner that lives holds is its to give. */
function mayTake({ view, gone, patient }: Standpoint, lease: LeaseRow): boolean {
  if (lease.nodeId === null) return true;
  if (patient) return false;
  const owner = view.nodes.find(({ id }) => id === lease.nodeId);
  return lease.expired || owner === undefined || owner.state === 'cut off' || gone.has(lease.nodeId);
}
