// A cluster in one process and in virtual time: ownerships over one model of the store and one model of the bus, with all faults between
// them. The invariants are checked after every event.
import assert from 'node:assert/strict';
import pino from 'pino';
import { createOwnership } from '../../../src/actors/runtime/ownership/leased-ownership.js';
import type { Ownership, ShardListener } from '../../../src/actors/runtime/ownership/ownership.js';
import { rendezvous } from '../../../src/actors/runtime/ownership/rendezvous.js';
import type { Publication } from '../../../src/actors/runtime/transport/packet.js';
import type { LeaseStore } from '../../../src/store/leases.js';
import { shardOf } from '../../../src/store/shard.js';
import { type BusLink, BusModel } from './bus-model.js';
import { LeaseModel, type StoreLink } from './lease-model.js';
import { type Proc, VirtualTime } from './virtual-time.js';

export const TTL_MS = 3_000;

/** The fault of a node's link to the store. `loses`: calls are carried out, but answered with an error. */
export type StoreFaults = 'none' | 'fails' | 'hangs' | 'loses' | 'slow';

export interface SimulatedNode extends Proc {
  readonly name: string;
  readonly roles: readonly string[];
  readonly ownership: Ownership;
  readonly bus: BusLink;
  store: StoreFaults;
  /** The shards that the node's listener answers for. */
  readonly answering: Set<number>;
  /** True while the node starts or leaves, which may never end. */
  busy: boolean;
  displaced: boolean;
  left: boolean;
  /** The time that a release takes. */
  releaseMs: number;
}

export class SimulatedCluster {
  readonly time = new VirtualTime();
  readonly leases: LeaseModel;
  readonly bus: BusModel;
  /** All nodes that ever existed. */
  readonly nodes: SimulatedNode[] = [];
  /** One account per shard. */
  readonly accounts: readonly string[];
  /** The publications on the bus. */
  readonly told: (Publication & { readonly kind?: string })[] = [];
  /** The number of changes of owner of any shard so far. */
  changes = 0;
  readonly #log = pino({ level: 'silent' });
  readonly #random: () => number;
  readonly #seen: { nodeId: string | null; epoch: number }[];

  constructor(shards: number, seed = 1) {
    this.#random = randomFrom(seed);
    this.leases = new LeaseModel(shards, () => this.time.now);
    this.#seen = this.leases.leases.map(({ nodeId, epoch }) => ({ nodeId, epoch }));
    this.accounts = accountsOf(shards);
    this.bus = new BusModel(this.time);
    this.bus.published = (by, packet) => this.#published(by as SimulatedNode, packet);
    this.time.check = () => this.#check();
    this.time.install();
  }

  end(): void {
    for (const node of this.nodes) node.dead = true;
    this.time.uninstall();
  }

  get living(): SimulatedNode[] {
    return this.nodes.filter(({ dead, left, displaced }) => !dead && !left && !displaced);
  }

  node(name: string): SimulatedNode | undefined {
    return this.living.find((node) => node.name === name);
  }

  /** Starts a process; it displaces a living one of this name. Resolves when it has started, which may never happen. */
  join(name: string, roles: readonly string[] = ['mailbox'], store: StoreFaults = 'none'): Promise<SimulatedNode> {
    const proc = { paused: false, dead: false, busy: true, displaced: false, left: false, releaseMs: 1, store };
    const node = Object.assign(proc, { name, roles, answering: new Set<number>() }) as unknown as SimulatedNode;
    return this.time.as(node, async () => {
      const bus = this.bus.link(node);
      const incarnation = String(this.nodes.length);
      const ownership = createOwnership({
        store: this.#storeOf(node),
        transport: bus,
        node: { id: name, incarnation, version: '0', roles, bus: 'nats' },
        shards: this.accounts.length,
        ttlMs: TTL_MS,
        log: this.#log,
        displaced: () => {
          node.displaced = true;
        },
      });
      Object.assign(node, { bus, ownership });
      this.nodes.push(node);
      await ownership.start(this.#listenerOf(node));
      node.busy = false;
      return node;
    });
  }

  kill(node: SimulatedNode): void {
    node.dead = true;
  }

  async leave(node: SimulatedNode): Promise<void> {
    node.busy = true;
    await this.time.as(node, async () => {
      await node.ownership.drain(TTL_MS);
      await node.ownership.leave();
    });
    node.left = true;
  }

  /** Returns the node that should own the shard now, without faults. */
  rightful(shard: number): string | undefined {
    const names = this.living.filter(({ roles }) => roles.includes('mailbox')).map(({ name }) => name);
    return rendezvous(shard, names);
  }

  /** True when the right node answers for every shard. */
  get isConverged(): boolean {
    return this.leases.leases.every(({ shard, nodeId }) => {
      const rightful = this.rightful(shard);
      if (rightful === undefined) return !this.living.some((node) => this.epochOf(node, shard) !== undefined);
      const node = this.node(rightful)!;
      return nodeId === rightful && this.epochOf(node, shard) !== undefined && node.answering.has(shard);
    });
  }

  epochOf(node: SimulatedNode, shard: number): number | undefined {
    return node.ownership.epochOf(this.accounts[shard]!);
  }

  #storeOf(node: SimulatedNode): LeaseStore {
    const hop = () => this.time.pause(node.store === 'slow' ? this.#random() * 2 * TTL_MS : this.#random() * 3);
    const link: StoreLink = {
      before: async () => {
        await hop();
        if (node.store === 'hangs') await new Promise(() => {});
        if (node.store === 'fails') throw new Error('the store cannot be reached');
      },
      after: async () => {
        const { store } = node;
        await hop();
        if (store === 'loses') throw new Error('the connection broke');
      },
    };
    return this.leases.over(link);
  }

  #listenerOf(node: SimulatedNode): ShardListener {
    return {
      acquired: async (shards) => {
        await this.time.pause(1);
        for (const shard of shards) node.answering.add(shard);
      },
      released: async (shards) => {
        for (const shard of shards) node.answering.delete(shard);
        await this.time.pause(node.releaseMs);
      },
    };
  }

  #published(by: SimulatedNode, packet: Publication): void {
    this.told.push(packet);
    if (!('kind' in packet) || packet.kind !== 'acquired') return;
    for (const shard of packet.shards)
      assert(by.answering.has(shard), `${by.name} answers for ${shard} when it says so`);
  }

  #check(): void {
    for (const lease of this.leases.leases) {
      const { shard, nodeId, epoch } = lease;
      const seen = this.#seen[shard]!;
      if (nodeId !== null && nodeId !== seen.nodeId) {
        assert(epoch > seen.epoch, `the epoch of shard ${shard} rises when ${nodeId} owns it after ${seen.nodeId}`);
        this.changes++;
      }
      assert(epoch >= seen.epoch);
      this.#seen[shard] = { nodeId, epoch };
      const holders = this.nodes.filter(
        (node) => !node.dead && node.ownership !== undefined && this.epochOf(node, shard) === epoch,
      );
      assert(holders.length <= 1, `one owner of shard ${shard}: ${holders.map(({ name }) => name)}`);
      for (const node of this.nodes) {
        const believed = node.dead || node.ownership === undefined ? undefined : this.epochOf(node, shard);
        assert(believed === undefined || believed <= epoch, 'nobody has an epoch that was not given out');
        if (believed === epoch) assert.equal(nodeId, node.name, `who holds shard ${shard} has its lease`);
      }
    }
  }
}

function accountsOf(shards: number): string[] {
  const accounts: string[] = [];
  for (let i = 0, found = 0; found < shards; i++) {
    const id = `00000000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`;
    const shard = shardOf(id, shards);
    if (accounts[shard] !== undefined) continue;
    accounts[shard] = id;
    found++;
  }
  return accounts;
}

/** mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
