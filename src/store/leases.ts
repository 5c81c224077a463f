// Port: the nodes of a cluster and which of them owns which shards, since which epoch (decisions 0002, 0003). The database's clock alone
// decides who is late.

export interface ShardLease {
  readonly shard: number;
  /** Rises with every change of owner; written into every commit. */
  readonly epoch: number;
}

/**
 * `serving`: owns what it should. `cut off`: reaches the store and no other node; owns what nobody reachable takes.
 * `draining`: gives its shards away and takes none.
 */
export type NodeState = 'serving' | 'cut off' | 'draining';

/** Where clients reach the listeners of a node, by the names of the ready line: `host:port`. */
export type PublicListeners = Readonly<Record<string, string>>;

/** One process, as it tells the others of itself. */
export interface NodeEntry {
  readonly id: string;
  /** Different for every start, so that two processes of one name can be told apart. */
  readonly incarnation: string;
  readonly version: string;
  readonly roles: readonly string[];
  /** Nodes on a bus find each other; a node without one has to be alone. */
  readonly bus: 'in-process' | 'nats';
  /** Absent until they are open. */
  readonly listeners?: PublicListeners;
}

export interface NodeRow extends Omit<NodeEntry, 'incarnation'> {
  readonly state: NodeState;
  /** ms since the epoch, by the database's clock. */
  readonly startedAt: number;
  /** ms since its last heartbeat. */
  readonly silentMs: number;
  /** It has not renewed its entry in time. */
  readonly expired: boolean;
}

export interface LeaseRow extends ShardLease {
  /** null: given back, nobody's. */
  readonly nodeId: string | null;
  /** Its owner has not renewed it in time; true when it is nobody's. */
  readonly expired: boolean;
}

/** A lease and, where it is given to somebody, to whom. */
export interface ReleasedLease extends ShardLease {
  readonly to?: string | undefined;
}

/** One look at the store: of one moment. */
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
  /** A live node stands in the way: one of the two has no bus. */
  | { readonly kind: 'inUse'; readonly by: string };

export interface LeaseStore {
  /** How many shards this store has; `configured` is recorded when the store is new. */
  shardCount(configured: number): Promise<number>;
  /** Name of the cluster, made when the store is new: subjects of the bus carry it. */
  clusterId(): Promise<string>;
  /**
   * Enters the node. An earlier process of the same name is displaced when the caller names its incarnation: a call that
   * arrives late displaces nobody who entered meanwhile.
   */
  join(node: NodeEntry, ttlMs: number, displaced?: string): Promise<Joined>;
  /** Extends the node's entry and its leases. Undefined when another process has its name now. */
  beat(node: NodeEntry, state: NodeState, ttlMs: number): Promise<Heartbeat | undefined>;
  /** Takes those that are still as `seen`, with the next epoch each; returns what was taken. */
  take(nodeId: string, seen: readonly LeaseRow[], ttlMs: number): Promise<readonly ShardLease[]>;
  /**
   * Gives back those that are the node's, of these epochs still: to the node that is named, while it is serving, with the
   * next epoch and for as long as the lease lasts yet; otherwise to nobody. Returns what others have now.
   */
  release(nodeId: string, leases: readonly ReleasedLease[]): Promise<readonly ReleasedLease[]>;
  /**
   * Gives back every lease, under the next epoch, and removes the entry, unless another process has the name now. An earlier
   * process of this name may believe in an epoch that was not taken anew.
   */
  leave(node: Pick<NodeEntry, 'id' | 'incarnation'>): Promise<void>;
  /** For those who only look. */
  view(): Promise<ClusterView>;
}
