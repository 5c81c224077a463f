// Port: the nodes of a cluster, which of them owns which shards, and since which epoch (decisions 0002, 0003). Only the clock of
// the database decides which node is late.

export interface ShardLease {
  readonly shard: number;
  /** Rises with every change of owner; written into every commit. */
  readonly epoch: number;
}

/**
 * `serving`: owns its share of the shards. `cut off`: reaches the store but no other node; owns the shards that no node in reach
 * takes. `draining`: gives its shards away and takes none.
 */
export type NodeState = 'serving' | 'cut off' | 'draining';

/**
 * Where clients reach the listeners of a node, by the names of the ready line: `host:port`. The addresses that the operator
 * publishes for the whole cluster are separate (node/listeners/connection-info).
 */
export type PublicListeners = Readonly<Record<string, string>>;

/** One process, as the other nodes see it. */
export interface NodeEntry {
  readonly id: string;
  /** Differs for every start, so that two processes of one name are distinct. */
  readonly incarnation: string;
  readonly version: string;
  readonly roles: readonly string[];
  /** Nodes on a bus find each other; a node without one must be the only node. */
  readonly bus: 'in-process' | 'nats';
  /** Absent until the listeners are open. */
  readonly listeners?: PublicListeners;
}

export interface NodeRow extends Omit<NodeEntry, 'incarnation'> {
  readonly state: NodeState;
  /** ms since the epoch, by the database's clock. */
  readonly startedAt: number;
  /** ms since its last heartbeat. */
  readonly silentMs: number;
  /** The node has not renewed its entry in time. */
  readonly expired: boolean;
}

export interface LeaseRow extends ShardLease {
  /** null: the lease was released and has no owner. */
  readonly nodeId: string | null;
  /** The owner has not renewed it in time; true when there is no owner. */
  readonly expired: boolean;
}

/** A lease and the node that gets it; absent: no node. */
export interface ReleasedLease extends ShardLease {
  readonly to?: string | undefined;
}

/** The nodes and leases of one moment. */
export interface ClusterView {
  readonly nodes: readonly NodeRow[];
  readonly leases: readonly LeaseRow[];
}

export interface Heartbeat extends ClusterView {
  /** ms since the epoch, by the database's clock. */
  readonly now: number;
}

export type Joined =
  | { readonly kind: 'joined' }
  /** Another process has the name. */
  | { readonly kind: 'nameTaken'; readonly incarnation: string }
  /** Another node is alive, and one of the two has no bus. */
  | { readonly kind: 'inUse'; readonly by: string };

export interface LeaseStore {
  /** How many shards this store has; `configured` is recorded when the store is new. */
  shardCount(configured: number): Promise<number>;
  /** Name of the cluster, created with the store; subjects of the bus contain it. */
  clusterId(): Promise<string>;
  /**
   * Adds the node. A call that names the incarnation of an earlier process of the same name displaces that process; a late call
   * displaces no node that joined meanwhile.
   */
  join(node: NodeEntry, ttlMs: number, displaced?: string): Promise<Joined>;
  /** Extends the node's entry and its leases. Returns undefined when another process has its name now. */
  heartbeat(node: NodeEntry, state: NodeState, ttlMs: number): Promise<Heartbeat | undefined>;
  /** Takes the leases that are still as in `seen`, each with the next epoch; returns the taken ones. */
  take(nodeId: string, seen: readonly LeaseRow[], ttlMs: number): Promise<readonly ShardLease[]>;
  /**
   * Releases the leases that the node still has at these epochs: to the named node while that is serving, with the next epoch and
   * for the rest of the lease; otherwise to no node. Returns the leases that other nodes have now.
   */
  release(nodeId: string, leases: readonly ReleasedLease[]): Promise<readonly ReleasedLease[]>;
  /**
   * Releases every lease with the next epoch and removes the entry, unless another process has the name now. The next epoch
   * fences an earlier process of this name that still believes in its epoch.
   */
  leave(node: Pick<NodeEntry, 'id' | 'incarnation'>): Promise<void>;
  /** Reads the nodes and leases for commands and metrics. */
  view(): Promise<ClusterView>;
}
