// Which shards this node owns and since which epoch: a heartbeat renews the leases, looks at the whole cluster and acts on
// what `placement` decides. Others are told of every change on the bus, so that nobody waits for a heartbeat to notice;
// what is told is a hint, the store decides. Alone on its store a node does the same and owns everything.
import type { Logger } from 'pino';
import { type Observable, Subject } from 'rxjs';
import type { ClusterView, LeaseStore, NodeEntry, NodeState } from '../../store/leases.js';
import { shardOf } from '../../store/shard.js';
import type { Meter } from './meter.js';
import { PACKET_VERSION, type PlacementPacket } from './packet.js';
import { Peers } from './peers.js';
import { candidates, decide, MAILBOX_ROLE } from './placement.js';
import { nodeSubject, PLACEMENT_SUBJECT } from './subjects.js';
import type { Registration, Transport } from './transport.js';

/** Another node runs on this store, and one of the two has no bus. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse';
}

/** Those who answer for what the node owns. */
export interface Tenant {
  /** Answers for the shards from now on; resolves when whatever is asked from then on arrives. */
  settle(shards: readonly number[]): Promise<void>;
  /** Ends answering for the shards at once; resolves when what was asked before is committed and answered. */
  vacate(shards: readonly number[]): Promise<void>;
}

export interface Move {
  readonly shards: readonly number[];
  /** The owner before may have left commits unpublished. */
  readonly vanished: boolean;
}

export interface Ownership {
  readonly nodeId: string;
  readonly shards: number;
  readonly state: NodeState;
  readonly owned: readonly number[];
  /** What the last heartbeat saw; undefined before the first. */
  readonly view: ClusterView | undefined;
  /** ms since the leases were renewed; they run out after the lease time. */
  readonly beatAgeMs: number;
  /** Whether the leases are this node's for certain. */
  readonly isCurrent: boolean;
  /** The epoch in which this node owns the account's shard; undefined when it does not. */
  epochOf(accountId: string): number | undefined;
  /** Shards that somebody answers for since a moment ago. */
  readonly moves$: Observable<Move>;
  /** Nobody answers for the shard: see why, and take it if its owner is gone. */
  missing(shard: number): void;
  /** Something is not as the last heartbeat saw it. */
  recheck(): void;
  /** Enters the cluster; the first shards are settled when it resolves. */
  start(tenant: Tenant): Promise<void>;
  /** Hands everything over to others; resolves when all of it is, nobody is there to take it, or `withinMs` is over. */
  drain(withinMs: number): Promise<void>;
  /** Gives back what is left and leaves the cluster. */
  leave(): Promise<void>;
}

export interface OwnershipOptions {
  readonly store: LeaseStore;
  readonly transport: Transport;
  readonly node: NodeEntry;
  readonly shards: number;
  readonly ttlMs: number;
  readonly log: Logger;
  /** Another process has this node's name now: this one owns nothing any more. */
  readonly displaced: () => void;
  readonly meter?: Meter;
}

/** Handed over at a time: few enough that no account pauses for long, enough to be done soon. */
const HANDOVER_SHARES = 16;
/** What an actor may take to finish when its shard moves; its commits are refused afterwards. */
const VACATE_MS = 2_000;
const RECHECK_MS = 50;

/** @throws StoreInUse from `start` */
export function createOwnership(options: OwnershipOptions): Ownership {
  return new LeasedOwnership(options);
}

class LeasedOwnership implements Ownership {
  readonly shards: number;
  readonly #options: OwnershipOptions;
  readonly #moves$ = new Subject<Move>();
  readonly #peers: Peers;
  readonly #held = new Map<number, number>();
  /** Being handed over: not answered for any more, and not free yet. */
  readonly #leaving = new Set<number>();
  readonly #registrations: Registration[] = [];
  readonly #ending: (() => void)[] = [];
  #tenant: Tenant | undefined;
  #view: ClusterView | undefined;
  #state: NodeState = 'serving';
  #draining = false;
  #connected = true;
  #left = false;
  #beating: Promise<void> | undefined;
  #again = false;
  #handingOver: Promise<void> | undefined;
  /** Times are of the monotonic clock: a paused process finds its leases run out when it wakes. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #patientUntil = Number.NEGATIVE_INFINITY;
  #recheckedAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.shards = options.shards;
    this.#peers = new Peers(options.transport, options.node.id, (gone) => {
      this.#tell({ kind: 'gone', gone });
      this.#nudge();
    });
  }

  get nodeId(): string {
    return this.#options.node.id;
  }

  get state(): NodeState {
    return this.#state;
  }

  get view(): ClusterView | undefined {
    return this.#view;
  }

  get moves$(): Observable<Move> {
    return this.#moves$;
  }

  get beatAgeMs(): number {
    return performance.now() - this.#renewedAt;
  }

  get isCurrent(): boolean {
    return this.beatAgeMs < this.#options.ttlMs && !this.#left;
  }

  get owned(): readonly number[] {
    if (!this.isCurrent) return [];
    return [...this.#held.keys()].filter((shard) => !this.#leaving.has(shard));
  }

  epochOf(accountId: string): number | undefined {
    const shard = shardOf(accountId, this.shards);
    return this.isCurrent && !this.#leaving.has(shard) ? this.#held.get(shard) : undefined;
  }

  missing(shard: number): void {
    const owner = this.#view?.leases[shard]?.nodeId ?? null;
    if (owner !== null && owner !== this.nodeId) this.#peers.verify(owner);
    else this.recheck();
  }

  recheck(): void {
    if (performance.now() - this.#recheckedAt < RECHECK_MS) return;
    this.#recheckedAt = performance.now();
    this.#nudge();
  }

  async start(tenant: Tenant): Promise<void> {
    const { transport, node, ttlMs } = this.#options;
    await this.#join();
    this.#tenant = tenant;
    const connection = transport.connected$.subscribe((connected) => this.#onConnected(connected));
    this.#ending.push(() => connection.unsubscribe());
    const ping = transport.respond(nodeSubject(node.id), async () => ({ kind: 'reply', reply: null }));
    const news = transport.subscribe<PlacementPacket>(PLACEMENT_SUBJECT, (packet) => this.#hear(packet));
    this.#registrations.push(ping, news);
    await Promise.all([ping.standing, news.standing]);
    await this.#beat();
    const heartbeat = setInterval(() => this.#nudge(), ttlMs / 3);
    this.#ending.push(() => clearInterval(heartbeat));
    // Owners that have to give something to this node need not wait for their next heartbeat.
    this.#tell({ kind: 'freed', shards: [] });
  }

  async drain(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    this.#draining = true;
    while (performance.now() < deadline) {
      await this.#beat();
      if (this.#held.size === 0 || this.#view === undefined) return;
      if (candidates({ view: this.#view, gone: this.#peers.gone }).length === 0) return;
      await Promise.race([this.#handingOver ?? pause(RECHECK_MS), pause(deadline - performance.now())]);
    }
  }

  async leave(): Promise<void> {
    for (const end of this.#ending) end();
    for (const registration of this.#registrations) registration.end();
    this.#left = true;
    this.#peers.stop();
    const shards = [...this.#held.keys()];
    this.#held.clear();
    // A beat under way could take leases anew after they were given back.
    await this.#beating;
    await this.#handingOver;
    await this.#options.store.leave(this.#options.node);
    this.#tell({ kind: 'freed', shards });
    this.#moves$.complete();
  }

  async #join(): Promise<void> {
    const { store, node, ttlMs } = this.#options;
    const patience = performance.now() + ttlMs * 1.5;
    for (;;) {
      const joined = await store.join(node, ttlMs);
      if (joined.kind === 'joined') return;
      if (performance.now() > patience) {
        throw new StoreInUse(
          `node ${joined.by} is running on this database; several nodes need NATS servers between them (NATS_URL)`,
        );
      }
      await pause(ttlMs / 4);
    }
  }

  #onConnected(connected: boolean): void {
    // Others come back in their own time: what looks like a vanished node now may be one that is about to.
    if (connected && !this.#connected) this.#patientUntil = performance.now() + this.#options.ttlMs;
    this.#connected = connected;
    if (this.#view !== undefined) this.#nudge();
  }

  #hear(packet: PlacementPacket): void {
    switch (packet.kind) {
      case 'settled':
        this.#moves$.next(packet);
        return;
      case 'freed':
        if (packet.node !== this.nodeId) this.#nudge();
        return;
      case 'gone':
        if (packet.gone !== this.nodeId && packet.node !== this.nodeId) this.#peers.verify(packet.gone);
        return;
    }
  }

  #tell(
    news: {
      [K in PlacementPacket['kind']]: Omit<Extract<PlacementPacket, { kind: K }>, 'v' | 'node'>;
    }[PlacementPacket['kind']],
  ): void {
    this.#options.transport.publish(PLACEMENT_SUBJECT, { v: PACKET_VERSION, node: this.nodeId, ...news });
  }

  /** One more heartbeat, after the one under way. */
  #nudge(): void {
    void this.#beat();
  }

  /** Resolves after a heartbeat that began now or later. */
  #beat(): Promise<void> {
    if (this.#beating !== undefined) {
      this.#again = true;
      return this.#beating;
    }
    this.#beating = this.#beatUntilQuiet().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #beatUntilQuiet(): Promise<void> {
    do {
      this.#again = false;
      if (this.#left) return;
      await this.#beatOnce();
    } while (this.#again);
  }

  async #beatOnce(): Promise<void> {
    const { store, node, ttlMs, log } = this.#options;
    const began = performance.now();
    this.#state = this.#draining ? 'draining' : this.#connected ? 'serving' : 'cut off';
    let view: ClusterView | undefined;
    try {
      view = await inTime(store.beat(node, this.#state, ttlMs), ttlMs);
      if (this.#failing) log.info('shard leases are renewed again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ err: error }, 'shard leases could not be renewed');
      this.#failing = true;
      return;
    }
    if (view === undefined) return this.#displaced();
    // Whoever could not reach the store either is not late: nobody could renew.
    if (began - this.#renewedAt > ttlMs && this.#renewedAt > 0) this.#patientUntil = began + ttlMs;
    this.#renewedAt = began;
    this.#view = view;
    this.#peers.look(view, began);
    await this.#notice(view);
    try {
      await this.#act(view);
    } catch (error) {
      log.warn({ err: error }, 'shards could not be taken');
    }
  }

  #displaced(): void {
    if (this.#left) return;
    this.#left = true;
    this.#options.log.fatal({ nodeId: this.nodeId }, 'another process has started under the name of this node');
    void this.#tenant?.vacate([...this.#held.keys()]);
    this.#held.clear();
    this.#options.displaced();
  }

  /** What was taken from this node while it was not looking. */
  async #notice(view: ClusterView): Promise<void> {
    const lost: number[] = [];
    for (const [shard, epoch] of this.#held) {
      const lease = view.leases[shard];
      if (lease?.nodeId !== this.nodeId || lease.epoch !== epoch) lost.push(shard);
    }
    if (lost.length === 0) return;
    for (const shard of lost) this.#held.delete(shard);
    this.#options.meter?.shardsLost(lost.length);
    this.#options.log.warn({ shards: lost.length }, 'shards were taken over by others');
    // Not waited for: nothing that is still under way can be committed.
    void this.#tenant!.vacate(lost);
  }

  async #act(view: ClusterView): Promise<void> {
    const { node, store, ttlMs, log } = this.#options;
    if (!node.roles.includes(MAILBOX_ROLE)) return;
    const patient = performance.now() < this.#patientUntil;
    const { gone } = this.#peers;
    const decision = decide({ self: this.nodeId, state: this.#state, view, held: this.#held, gone, patient });
    // What was told on the bus is no lease that ran out: it is taken although it did not.
    const wanted = decision.take.map((lease) =>
      isGone(lease.nodeId, gone, view) ? { ...lease, expired: false } : lease,
    );
    if (wanted.length > 0) {
      const taken = await store.take(this.nodeId, wanted, ttlMs);
      if (this.#left) return;
      for (const { shard, epoch } of taken) this.#held.set(shard, epoch);
      const free = new Set(wanted.filter(({ nodeId }) => nodeId === null).map(({ shard }) => shard));
      await this.#settle(
        taken.map(({ shard }) => shard).filter((shard) => free.has(shard)),
        false,
      );
      await this.#settle(
        taken.map(({ shard }) => shard).filter((shard) => !free.has(shard)),
        true,
      );
    }
    const give = decision.give.filter((shard) => !this.#leaving.has(shard));
    if (give.length > 0 && this.#handingOver === undefined) {
      this.#handingOver = this.#handOver(give.slice(0, Math.ceil(this.shards / HANDOVER_SHARES)))
        .catch((error) => log.warn({ err: error }, 'shards could not be handed over'))
        .finally(() => {
          this.#handingOver = undefined;
          this.#nudge();
        });
    }
  }

  async #settle(shards: readonly number[], vanished: boolean): Promise<void> {
    if (shards.length === 0) return;
    await this.#tenant!.settle(shards);
    this.#options.meter?.shardsTaken(shards.length, vanished);
    this.#options.log.info({ shards: shards.length, vanished, held: this.#held.size }, 'shards taken');
    this.#tell({ kind: 'settled', shards, vanished });
  }

  async #handOver(shards: readonly number[]): Promise<void> {
    for (const shard of shards) this.#leaving.add(shard);
    try {
      await Promise.race([this.#tenant!.vacate(shards), pause(VACATE_MS)]);
      await this.#options.store.release(this.nodeId, shards);
      this.#options.meter?.shardsHandedOver(shards.length);
      this.#options.log.info({ shards: shards.length }, 'shards handed over');
    } finally {
      for (const shard of shards) {
        this.#held.delete(shard);
        this.#leaving.delete(shard);
      }
    }
    this.#tell({ kind: 'freed', shards });
  }
}

function isGone(nodeId: string | null, gone: ReadonlySet<string>, { nodes }: ClusterView): boolean {
  if (nodeId === null) return false;
  const owner = nodes.find(({ id }) => id === nodeId);
  return gone.has(nodeId) || owner === undefined || owner.state === 'cut off';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)).unref());
}

/** A call the database never answers must not end the heartbeat. */
async function inTime<T>(call: Promise<T>, boundMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not answer within ${boundMs} ms`)), boundMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
