// Places shards on nodes (decision 0003): every node decides this itself from its view of the store. Pure. If two nodes decide differently,
// the store gives the shard to one of them, and the next view ends the disagreement.
import type { ClusterView, LeaseRow, NodeRow, NodeState } from '../../../store/leases.js';
import { ownersAmong } from './rendezvous.js';

export const MAILBOX_ROLE = 'mailbox';

export interface PlacementInput {
  readonly self: string;
  readonly state: NodeState;
  readonly view: ClusterView;
  /** Shard → epoch of the leases that this process holds. */
  readonly epochs: ReadonlyMap<number, number>;
  /** Nodes that do not answer on the bus. */
  readonly gone: ReadonlySet<string>;
  /** This node itself was isolated, so other nodes may only seem late or gone: it only takes free shards. */
  readonly patient: boolean;
}

export interface Decision {
  /**
   * Shards that are free, that belonged to this node before, or whose owners are late, gone or cut off. With `expired`, the lease must
   * still be expired when it is taken.
   */
  readonly take: readonly LeaseRow[];
  /** Shards of this node that another node should own. */
  readonly give: readonly LeaseRow[];
}

/** Nodes that can own mailboxes; nodes that are cut off only while there are no others. */
export function candidates({ view, gone }: Pick<PlacementInput, 'view' | 'gone'>): readonly NodeRow[] {
  const able = view.nodes.filter(
    (node) => !node.expired && node.state !== 'draining' && !gone.has(node.id) && node.roles.includes(MAILBOX_ROLE),
  );
  const serving = able.filter(({ state }) => state === 'serving');
  return serving.length > 0 ? serving : able;
}

export function decide(at: PlacementInput): Decision {
  const ownerOf = ownersAmong(candidates(at).map(({ id }) => id));
  const self = at.view.nodes.find(({ id }) => id === at.self);
  // The previous process of this node may have had the role.
  const unable = self?.roles.includes(MAILBOX_ROLE) !== true;
  const take: LeaseRow[] = [];
  const give: LeaseRow[] = [];
  for (const lease of at.view.leases) {
    const rightful = ownerOf(lease.shard);
    if (lease.nodeId === at.self) {
      const others = rightful !== undefined && rightful !== at.self && at.state !== 'cut off';
      if (unable || others) give.push(lease);
      else if (at.epochs.get(lease.shard) !== lease.epoch && at.state !== 'draining') take.push(lease);
    } else if (rightful === at.self) {
      const takeableLease = takeable(at, lease);
      if (takeableLease !== undefined) take.push(takeableLease);
    }
  }
  return { take, give };
}

/** Shards of an owner that is alive are not taken: the owner hands them over. */
function takeable({ view, gone, patient }: PlacementInput, lease: LeaseRow): LeaseRow | undefined {
  if (lease.nodeId === null) return lease;
  if (patient) return undefined;
  const owner = view.nodes.find(({ id }) => id === lease.nodeId);
  if (owner === undefined || owner.state === 'cut off' || gone.has(lease.nodeId)) return { ...lease, expired: false };
  return lease.expired ? lease : undefined;
}
