// Which shards this node owns and since which epoch: a heartbeat renews the leases, looks at the whole cluster and acts on
// what `placement` decides. Others are told of every change on the bus, so that nobody waits for a heartbeat to notice;
// what is told is a hint, the store decides. Alone on its store a node does the same and owns everything.
import type { Logger } from 'pino';
import { type Observable, Subject } from 'rxjs';
import { atMost, inTime, pause } from '../../bounds/time-bounds.js';
import type { ClusterView, Heartbeat, LeaseStore, NodeEntry, NodeState, PublicListeners } from '../../store/leases.js';
import { shardOf } from '../../store/shard.js';
import { FailureDetector } from './failure-detector.js';
import { Isolation } from './isolation.js';
import type { Meter } from './meter.js';
import { type Ownership, StoreInUse } from './ownership.js';
import { PACKET_VERSION, type PlacementNews, type PlacementPacket, type RecheckPacket } from './packet.js';
import { candidates, decide } from './placement.js';
import { rendezvous } from './rendezvous.js';
import { type Relocation, ShardLeases, type Tenant } from './shard-leases.js';
import { nodeSubject, PLACEMENT_SUBJECT } from './subjects.js';
import type { Registration, Transport } from './transport.js';

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
  /** Told the time of the database with every heartbeat; both moments are of the monotonic clock. */
  readonly clock?: { learn(time: number, asked: number, answered: number): void };
}

/** Handed over at a time: few enough that no account pauses for long, enough to be done soon. */
const HANDOVER_SHARES = 16;
const RECHECK_MS = 50;
/** Times of the store are whole ms. */
const EXPIRY_MARGIN_MS = 5;

/** @throws StoreInUse from `start` */
export function createOwnership(options: OwnershipOptions): Ownership {
  return new LeasedOwnership(options);
}

class LeasedOwnership implements Ownership {
  readonly shards: number;
  readonly #options: OwnershipOptions;
  readonly #relocations$ = new Subject<Relocation>();
  readonly #peers: FailureDetector;
  readonly #outlook: Isolation;
  readonly #holding: ShardLeases;
  readonly #registrations: Registration[] = [];
  readonly #ending: (() => void)[] = [];
  #view: ClusterView | undefined;
  #listeners: PublicListeners = {};
  #state: NodeState = 'serving';
  #draining = false;
  #left = false;
  #lapse: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #joining: Promise<void> | undefined;
  /** Before, the store has no entry to renew. */
  #hasEntered = false;
  #beating: Promise<void> | undefined;
  #again = false;
  /** Times are of the monotonic clock: a paused process finds its leases run out when it wakes. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #recheckedAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.shards = options.shards;
    this.#holding = new ShardLeases({
      ...options,
      nodeId: options.node.id,
      relocations$: this.#relocations$,
      tell: (news) => this.#tell(news),
      handedOver: () => this.#nudge(),
    });
    this.#peers = new FailureDetector(options.transport, options.node.id, {
      gone: (gone) => {
        this.#tell({ kind: 'gone', gone });
        this.#nudge();
      },
      heard: (node) => void this.#heardAgain(node),
    });
    this.#outlook = new Isolation(options.ttlMs, () => {
      if (this.#view !== undefined) this.#nudge();
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

  get unheard(): readonly string[] {
    const { unheard } = this.#peers;
    const nodes = this.#view?.nodes.filter(({ expired, state }) => !expired && state !== 'cut off') ?? [];
    return nodes.map(({ id }) => id).filter((id) => unheard.has(id));
  }

  get relocations$(): Observable<Relocation> {
    return this.#relocations$;
  }

  get beatAgeMs(): number {
    return performance.now() - this.#renewedAt;
  }

  get isCurrent(): boolean {
    return this.beatAgeMs < this.#options.ttlMs && !this.#left;
  }

  get owned(): readonly number[] {
    return this.isCurrent ? this.#holding.answered : [];
  }

  epochOf(accountId: string): number | undefined {
    return this.isCurrent ? this.#holding.epochOf(shardOf(accountId, this.shards)) : undefined;
  }

  missing(shard: number): void {
    const owner = this.#view?.leases[shard]?.nodeId ?? null;
    if (owner !== null && owner !== this.nodeId) this.#peers.suspect(owner);
    else this.recheck();
  }

  recheck(): void {
    if (performance.now() - this.#recheckedAt < RECHECK_MS) return;
    this.#recheckedAt = performance.now();
    this.#nudge();
  }

  async start(tenant: Tenant): Promise<void> {
    const { transport, node, ttlMs } = this.#options;
    this.#joining = this.#join();
    await this.#joining;
    this.#holding.let(tenant);
    const connection = transport.connected$.subscribe((connected) => this.#outlook.bus(connected));
    this.#ending.push(() => connection.unsubscribe());
    const ping = transport.respond(nodeSubject(node.id), async () => ({ kind: 'reply', reply: null }));
    const news = transport.subscribe<PlacementPacket | RecheckPacket>(PLACEMENT_SUBJECT, (packet) =>
      this.#hear(packet),
    );
    this.#registrations.push(ping, news);
    await Promise.all([ping.ready, news.ready]);
    this.#assertNotLeft();
    const heartbeat = setInterval(() => this.#nudge(), ttlMs / 3);
    this.#ending.push(() => clearInterval(heartbeat));
    await this.#beat();
    await this.#holding.settled;
    // Owners that have to give something to this node need not wait for their next heartbeat.
    this.#tell({ kind: 'freed', shards: [] });
  }

  async announce(listeners: PublicListeners): Promise<void> {
    this.#listeners = listeners;
    await this.#beat();
    // The others look at the store now, not with their next heartbeat.
    this.#tell({ kind: 'freed', shards: [] });
  }

  async drain(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    this.#draining = true;
    const left = () => deadline - performance.now();
    while (left() > 0) {
      await atMost(this.#beat(), left());
      if (this.#holding.epochs.size === 0 || this.#view === undefined) return;
      if (candidates({ view: this.#view, gone: this.#peers.gone }).length === 0) return;
      await atMost(this.#holding.handingOver ?? pause(RECHECK_MS), left());
    }
  }

  async leave(): Promise<void> {
    for (const end of this.#ending) end();
    clearTimeout(this.#lapse);
    clearTimeout(this.#expiry);
    for (const registration of this.#registrations) registration.end();
    this.#left = true;
    this.#peers.stop();
    this.#outlook.stop();
    const held = this.#holding.drop();
    // The entry could be made after it was removed.
    await this.#joining?.catch(() => {});
    // A beat under way could take leases anew after they were given back.
    await this.#beating;
    const vacated = await this.#holding.vacated(held);
    await this.#options.store.leave(this.#options.node);
    this.#tell({ kind: 'freed', shards: held });
    if (!vacated) this.#tell({ kind: 'unclean', shards: held });
    this.#relocations$.complete();
  }

  async #join(): Promise<void> {
    const { store, node, ttlMs } = this.#options;
    const patience = performance.now() + ttlMs * 1.5;
    let displaced: string | undefined;
    for (;;) {
      const joined = await store.join(node, ttlMs, displaced);
      this.#hasEntered = joined.kind === 'joined';
      this.#assertNotLeft();
      if (joined.kind === 'joined') return;
      if (joined.kind === 'nameTaken') {
        displaced = joined.incarnation;
        continue;
      }
      if (performance.now() > patience) {
        throw new StoreInUse(
          `node ${joined.by} is running on this database; several nodes need NATS servers between them (NATS_URL)`,
        );
      }
      await pause(ttlMs / 4);
    }
  }

  #assertNotLeft(): void {
    if (this.#left) throw new Error('the node is stopped before it has started');
  }

  #hear(packet: PlacementPacket | RecheckPacket): void {
    switch (packet.kind) {
      case 'settled':
        this.#relocations$.next({ shards: packet.shards, unclean: packet.crashed });
        if (packet.node !== this.nodeId && packet.shards.some((shard) => this.#holding.epochs.has(shard)))
          this.#nudge();
        return;
      case 'unclean':
        this.#relocations$.next({ shards: packet.shards, unclean: true });
        return;
      case 'freed':
        if (packet.node !== this.nodeId) this.#nudge();
        return;
      case 'gone':
        if (packet.gone !== this.nodeId && packet.node !== this.nodeId) this.#peers.suspect(packet.gone, true);
        return;
      case 'given':
        if (packet.to === this.nodeId && !this.#draining) this.#holding.accept(packet.leases);
        return;
      case 'recheck':
        this.recheck();
        return;
    }
  }

  /** Of what it has now: it may have got it meanwhile. */
  async #heardAgain(node: string): Promise<void> {
    await this.#beat();
    const shards = this.#view?.leases.filter(({ nodeId }) => nodeId === node).map(({ shard }) => shard) ?? [];
    if (shards.length > 0) this.#relocations$.next({ shards, unclean: true });
  }

  #tell(news: PlacementNews): void {
    this.#options.transport.publish(PLACEMENT_SUBJECT, { v: PACKET_VERSION, node: this.nodeId, ...news });
  }

  /** One more heartbeat, after the one under way. */
  #nudge(): void {
    void this.#beat();
  }

  /** Resolves after a heartbeat that began now or later. */
  #beat(): Promise<void> {
    if (this.#left || !this.#hasEntered) return Promise.resolve();
    this.#again = true;
    this.#beating ??= this.#beatUntilQuiet();
    return this.#beating;
  }

  async #beatUntilQuiet(): Promise<void> {
    try {
      while (this.#again && !this.#left) {
        this.#again = false;
        await this.#beatOnce();
      }
    } finally {
      // In the same turn as the last look at `again`: whoever comes between would not be heard.
      this.#beating = undefined;
    }
  }

  async #beatOnce(): Promise<void> {
    const { store, node, ttlMs, log } = this.#options;
    const began = performance.now();
    this.#state = this.#draining ? 'draining' : this.#outlook.isCutOff ? 'cut off' : 'serving';
    let view: Heartbeat | undefined;
    try {
      view = await inTime(
        store.beat({ ...node, listeners: this.#listeners }, this.#state, ttlMs),
        ttlMs,
        'a heartbeat',
      );
      if (this.#failing) log.info('shard leases are renewed again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ err: error }, 'shard leases could not be renewed');
      this.#failing = true;
      return;
    }
    if (view === undefined) return this.#displaced();
    this.#options.clock?.learn(view.now, began, performance.now());
    this.#outlook.store(began);
    this.#renewedAt = began;
    this.#awaitLapse();
    this.#view = view;
    this.#awaitExpiry(view);
    this.#peers.look(view, began);
    this.#holding.notice(view);
    try {
      await this.#act(view);
    } catch (error) {
      log.warn({ err: error }, 'shards could not be taken');
    }
  }

  #awaitLapse(): void {
    clearTimeout(this.#lapse);
    this.#lapse = setTimeout(() => {
      if (this.isCurrent) this.#awaitLapse();
      else this.#holding.lapse();
    }, this.#options.ttlMs - this.beatAgeMs);
  }

  /** What a silent node had is to be had when its leases run out, not with whatever heartbeat comes after. */
  #awaitExpiry({ nodes }: ClusterView): void {
    clearTimeout(this.#expiry);
    const { ttlMs } = this.#options;
    const others = nodes.filter(({ id, expired, silentMs }) => id !== this.nodeId && !expired && silentMs < ttlMs);
    const leftMs = Math.min(...others.map(({ silentMs }) => ttlMs - silentMs));
    if (leftMs < ttlMs / 3) this.#expiry = setTimeout(() => this.#nudge(), leftMs + EXPIRY_MARGIN_MS);
  }

  #displaced(): void {
    if (this.#left) return;
    this.#left = true;
    clearTimeout(this.#lapse);
    clearTimeout(this.#expiry);
    this.#options.log.fatal({ nodeId: this.nodeId }, 'another process has started under the name of this node');
    void this.#holding.vacated(this.#holding.drop());
    this.#options.displaced();
  }

  async #act(view: ClusterView): Promise<void> {
    const decision = decide({
      self: this.nodeId,
      state: this.#state,
      view,
      held: this.#holding.epochs,
      gone: this.#peers.gone,
      patient: this.#outlook.isPatient,
    });
    if (decision.give.length > 0 && this.#holding.handingOver === undefined) {
      const names = candidates({ view, gone: this.#peers.gone }).map(({ id }) => id);
      const batch = decision.give
        .filter(({ shard }) => !this.#holding.isLeaving(shard))
        .slice(0, Math.ceil(this.shards / HANDOVER_SHARES))
        .map(({ shard, epoch }) => ({ shard, epoch, to: rendezvous(shard, names) }));
      this.#holding.handOver(batch);
    }
    await this.#holding.take(decision.take);
  }
}
