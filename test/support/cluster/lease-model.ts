// The lease store in memory: it does what postgres/leases does, in TypeScript. A node reaches it over a link that can fail, be slow, or
// lose the reply of a completed call.
import type {
  Heartbeat,
  Joined,
  LeaseRow,
  LeaseStore,
  NodeEntry,
  NodeState,
  ReleasedLease,
  ShardLease,
} from '../../../src/store/leases.js';

interface Node extends NodeEntry {
  state: NodeState;
  startedAt: number;
  beatAt: number;
  expiresAt: number;
}

interface Lease {
  readonly shard: number;
  nodeId: string | null;
  epoch: number;
  expiresAt: number;
}

/** Called before and after every call; rejects when the link fails. */
export interface StoreLink {
  before(): Promise<void>;
  after(): Promise<void>;
}

export class LeaseModel {
  readonly leases: Lease[];
  readonly nodes = new Map<string, Node>();
  readonly #now: () => number;

  constructor(shards: number, now: () => number) {
    this.#now = now;
    this.leases = Array.from({ length: shards }, (_, shard) => ({ shard, nodeId: null, epoch: 0, expiresAt: 0 }));
  }

  over(link: StoreLink): LeaseStore {
    const call = async <T>(work: () => T): Promise<T> => {
      await link.before();
      const result = work();
      await link.after();
      return result;
    };
    return {
      shardCount: async () => this.leases.length,
      clusterId: async () => 'model',
      join: (node, ttlMs, displaced) => call(() => this.#join(node, ttlMs, displaced)),
      heartbeat: (node, state, ttlMs) => call(() => this.#heartbeat(node, state, ttlMs)),
      take: (nodeId, seen, ttlMs) => call(() => this.#take(nodeId, seen, ttlMs)),
      release: (nodeId, leases) => call(() => this.#release(nodeId, leases)),
      leave: (node) => call(() => this.#leave(node)),
      view: () => call(() => this.#view()),
    };
  }

  #join(node: NodeEntry, ttlMs: number, displaced: string | undefined): Joined {
    const now = this.#now();
    for (const other of this.nodes.values()) {
      const alone = other.bus === 'in-process' || node.bus === 'in-process';
      if (other.id !== node.id && other.expiresAt > now && alone) return { kind: 'inUse', by: other.id };
    }
    const present = this.nodes.get(node.id)?.incarnation;
    if (present !== undefined && present !== node.incarnation && present !== displaced) {
      return { kind: 'nameTaken', incarnation: present };
    }
    this.nodes.set(node.id, { ...node, state: 'serving', startedAt: now, beatAt: now, expiresAt: now + ttlMs });
    return { kind: 'joined' };
  }

  #heartbeat(node: NodeEntry, state: NodeState, ttlMs: number): Heartbeat | undefined {
    const now = this.#now();
    const row = this.nodes.get(node.id);
    if (row?.incarnation !== node.incarnation) return undefined;
    Object.assign(row, { beatAt: now, expiresAt: now + ttlMs, state, listeners: node.listeners ?? {} });
    for (const lease of this.leases) if (lease.nodeId === node.id) lease.expiresAt = now + ttlMs;
    return this.#view();
  }

  #take(nodeId: string, seen: readonly LeaseRow[], ttlMs: number): readonly ShardLease[] {
    const now = this.#now();
    return seen.flatMap((row) => {
      const lease = this.leases[row.shard]!;
      const same = lease.epoch === row.epoch && lease.nodeId === row.nodeId;
      if (!same || (row.expired && lease.nodeId !== null && lease.expiresAt > now)) return [];
      Object.assign(lease, { nodeId, epoch: lease.epoch + 1, expiresAt: now + ttlMs });
      return [{ shard: row.shard, epoch: lease.epoch }];
    });
  }

  #release(nodeId: string, leases: readonly ReleasedLease[]): readonly ReleasedLease[] {
    const now = this.#now();
    return leases.flatMap(({ shard, epoch, to }) => {
      const lease = this.leases[shard]!;
      if (lease.nodeId !== nodeId || lease.epoch !== epoch) return [];
      const taker = to === undefined ? undefined : this.nodes.get(to);
      const given = taker !== undefined && taker.state === 'serving' && taker.expiresAt > now;
      Object.assign(lease, given ? { nodeId: taker.id, epoch: epoch + 1 } : { nodeId: null });
      return given ? [{ shard, epoch: lease.epoch, to }] : [];
    });
  }

  #leave({ id, incarnation }: Pick<NodeEntry, 'id' | 'incarnation'>): void {
    if (this.nodes.get(id)?.incarnation !== incarnation) return;
    this.nodes.delete(id);
    for (const lease of this.leases)
      if (lease.nodeId === id) Object.assign(lease, { nodeId: null, epoch: lease.epoch + 1 });
  }

  #view(): Heartbeat {
    const now = this.#now();
    return {
      now,
      nodes: [...this.nodes.values()].map(({ incarnation: _, beatAt, expiresAt, ...row }) => ({
        ...row,
        silentMs: Math.floor(now - beatAt),
        expired: expiresAt <= now,
      })),
      leases: this.leases.map(({ shard, nodeId, epoch, expiresAt }) => ({
        shard,
        nodeId,
        epoch,
        expired: nodeId === null || expiresAt <= now,
      })),
    };
  }
}
