// The shards that this node owns, and their epochs. A heartbeat renews the leases, reads the view of the whole cluster and applies the
// decision of `placement`. Every change is published on the bus, so that other nodes need not wait for their next heartbeat. A publication
// is a hint; the store decides. A node alone on its store owns all shards.
import type { Logger } from 'pino';
import { type Observable, Subject } from 'rxjs';
import { atMost, inTime, pause } from '../../../concurrency/time-bounds.js';
import type {
  ClusterView,
  Heartbeat,
  LeaseStore,
  NodeEntry,
  NodeState,
  PublicListeners,
} from '../../../store/leases.js';
import { shardOf } from '../../../store/shard.js';
import type { Meter } from '../meter.js';
import { PACKET_VERSION, type PlacementNotice, type PlacementPacket, type RecheckPacket } from '../transport/packet.js';
import { nodeSubject, PLACEMENT_SUBJECT } from '../transport/subjects.js';
import type { Registration, Transport } from '../transport/transport.js';
import { FailureDetector } from './failure-detector.js';
import { Isolation } from './isolation.js';
import { type Ownership, StoreInUse } from './ownership.js';
import { candidates, decide } from './placement.js';
import { rendezvous } from './rendezvous.js';
import { type Relocation, ShardLeases, type ShardListener } from './shard-leases.js';

export interface OwnershipOptions {
  readonly store: LeaseStore;
  readonly transport: Transport;
  readonly node: NodeEntry;
  readonly shards: number;
  readonly ttlMs: number;
  readonly log: Logger;
  /** Called when another process has taken this node's name: this process then owns nothing. */
  readonly displaced: () => void;
  readonly meter?: Meter;
  /** Called with the database's time at every heartbeat; `asked` and `answered` are times of the monotonic clock. */
  readonly clock?: { learn(time: number, asked: number, answered: number): void };
}

/** Shards are handed over in up to this many batches: small enough that no account pauses for long. */
const HANDOVER_SHARES = 16;
const RECHECK_MS = 50;
/** The store's times are whole milliseconds. */
const EXPIRY_MARGIN_MS = 5;

/** @throws StoreInUse from `start` */
export function createOwnership(options: OwnershipOptions): Ownership {
  return new LeasedOwnership(options);
}

class LeasedOwnership implements Ownership {
  readonly shards: number;
  readonly #options: OwnershipOptions;
  readonly #relocations$ = new Subject<Relocation>();
  readonly #failureDetector: FailureDetector;
  readonly #isolation: Isolation;
  readonly #shardLeases: ShardLeases;
  readonly #registrations: Registration[] = [];
  readonly #teardown: (() => void)[] = [];
  #view: ClusterView | undefined;
  #listeners: PublicListeners = {};
  #state: NodeState = 'serving';
  #draining = false;
  #left = false;
  #lapseTimer: NodeJS.Timeout | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;
  #joining: Promise<void> | undefined;
  /** True when the store has an entry of this node to renew. */
  #hasEntered = false;
  #heartbeating: Promise<void> | undefined;
  #isRequested = false;
  /** A time of the monotonic clock: a process that was paused finds its leases expired. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #lapses = 0;
  #recheckedAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.shards = options.shards;
    this.#shardLeases = new ShardLeases({
      ...options,
      nodeId: options.node.id,
      relocations$: this.#relocations$,
      publish: (notice) => this.#publish(notice),
      handedOver: () => this.#requestHeartbeat(),
    });
    this.#failureDetector = new FailureDetector(options.transport, options.node.id, {
      unreachable: (gone) => {
        this.#publish({ kind: 'gone', gone });
        this.#requestHeartbeat();
      },
      reachable: (node) => void this.#peerReachable(node),
    });
    this.#isolation = new Isolation(options.ttlMs, () => {
      if (this.#view !== undefined) this.#requestHeartbeat();
    });
  }

  get nodeId(): string {
    return this.#options.node.id;
  }

  get state(): NodeState {
    // The state is reported before the current heartbeat has ended.
    return this.#draining ? 'draining' : this.#state;
  }

  get view(): ClusterView | undefined {
    return this.#view;
  }

  get unreachable(): readonly string[] {
    const { unreachable } = this.#failureDetector;
    const nodes = this.#view?.nodes.filter(({ expired, state }) => !expired && state !== 'cut off') ?? [];
    return nodes.map(({ id }) => id).filter((id) => unreachable.has(id));
  }

  get relocations$(): Observable<Relocation> {
    return this.#relocations$;
  }

  get heartbeatAgeMs(): number {
    return performance.now() - this.#renewedAt;
  }

  get isCurrent(): boolean {
    return this.heartbeatAgeMs < this.#options.ttlMs && !this.#left;
  }

  get owned(): readonly number[] {
    return this.isCurrent ? this.#shardLeases.answered : [];
  }

  get leasePeriod(): number | undefined {
    return this.isCurrent ? this.#lapses : undefined;
  }

  epochOf(accountId: string): number | undefined {
    return this.isCurrent ? this.#shardLeases.epochOf(shardOf(accountId, this.shards)) : undefined;
  }

  missing(shard: number): void {
    const owner = this.#view?.leases[shard]?.nodeId ?? null;
    if (owner !== null && owner !== this.nodeId) this.#failureDetector.suspect(owner);
    else this.recheck();
  }

  recheck(): void {
    if (performance.now() - this.#recheckedAt < RECHECK_MS) return;
    this.#recheckedAt = performance.now();
    this.#requestHeartbeat();
  }

  async start(listener: ShardListener): Promise<void> {
    const { transport, node, ttlMs } = this.#options;
    this.#joining = this.#join();
    await this.#joining;
    this.#shardLeases.setListener(listener);
    const connection = transport.connected$.subscribe((connected) => this.#isolation.bus(connected));
    this.#teardown.push(() => connection.unsubscribe());
    const ping = transport.respond(nodeSubject(node.id), async () => ({ kind: 'reply', reply: null }));
    const notices = transport.subscribe<PlacementPacket | RecheckPacket>(PLACEMENT_SUBJECT, (packet) =>
      this.#receive(packet),
    );
    this.#registrations.push(ping, notices);
    await Promise.all([ping.ready, notices.ready]);
    this.#assertNotLeft();
    const heartbeat = setInterval(() => this.#requestHeartbeat(), ttlMs / 3);
    this.#teardown.push(() => clearInterval(heartbeat));
    await this.#heartbeat();
    await this.#shardLeases.allAcquired;
    // Makes the owners of shards that this node should own hand them over before their next heartbeat.
    this.#publish({ kind: 'freed', shards: [] });
  }

  async announce(listeners: PublicListeners): Promise<void> {
    this.#listeners = listeners;
    await this.#heartbeat();
    // Makes the other nodes read the store now instead of at their next heartbeat.
    this.#publish({ kind: 'freed', shards: [] });
  }

  async drain(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    this.#draining = true;
    const left = () => deadline - performance.now();
    while (left() > 0) {
      await atMost(this.#heartbeat(), left());
      if (this.#shardLeases.epochs.size === 0 || this.#view === undefined) return;
      if (candidates({ view: this.#view, gone: this.#failureDetector.gone }).length === 0) return;
      await atMost(this.#shardLeases.handingOver ?? pause(RECHECK_MS), left());
    }
  }

  async leave(): Promise<void> {
    for (const end of this.#teardown) end();
    clearTimeout(this.#lapseTimer);
    clearTimeout(this.#expiryTimer);
    for (const registration of this.#registrations) registration.end();
    this.#left = true;
    this.#failureDetector.stop();
    this.#isolation.stop();
    const shards = this.#shardLeases.drop();
    // A join in progress could create the entry after it was removed.
    await this.#joining?.catch(() => {});
    // A heartbeat in progress could take leases again after they were released.
    await this.#heartbeating;
    const isReleased = await this.#shardLeases.allReleased(shards);
    await this.#options.store.leave(this.#options.node);
    this.#publish({ kind: 'freed', shards });
    if (!isReleased) this.#publish({ kind: 'unclean', shards });
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

  #receive(packet: PlacementPacket | RecheckPacket): void {
    switch (packet.kind) {
      case 'acquired':
        this.#relocations$.next({ shards: packet.shards, unclean: packet.crashed });
        if (packet.node !== this.nodeId && packet.shards.some((shard) => this.#shardLeases.epochs.has(shard)))
          this.#requestHeartbeat();
        return;
      case 'unclean':
        this.#relocations$.next({ shards: packet.shards, unclean: true });
        return;
      case 'freed':
        if (packet.node !== this.nodeId) this.#requestHeartbeat();
        return;
      case 'gone':
        if (packet.gone !== this.nodeId && packet.node !== this.nodeId)
          this.#failureDetector.suspect(packet.gone, true);
        return;
      case 'given':
        if (packet.to === this.nodeId && !this.#draining) this.#shardLeases.accept(packet.leases);
        return;
      case 'recheck':
        this.recheck();
        return;
    }
  }

  /** Events of the shards that the node now owns may have been missed while it was unreachable. */
  async #peerReachable(node: string): Promise<void> {
    await this.#heartbeat();
    const shards = this.#view?.leases.filter(({ nodeId }) => nodeId === node).map(({ shard }) => shard) ?? [];
    if (shards.length > 0) this.#relocations$.next({ shards, unclean: true });
  }

  #publish(notice: PlacementNotice): void {
    this.#options.transport.publish(PLACEMENT_SUBJECT, { v: PACKET_VERSION, node: this.nodeId, ...notice });
  }

  /** Requests a heartbeat that begins after the current one. */
  #requestHeartbeat(): void {
    void this.#heartbeat();
  }

  /** Resolves after a heartbeat that began after this call. */
  #heartbeat(): Promise<void> {
    if (this.#left || !this.#hasEntered) return Promise.resolve();
    this.#isRequested = true;
    this.#heartbeating ??= this.#heartbeatWhileRequested();
    return this.#heartbeating;
  }

  async #heartbeatWhileRequested(): Promise<void> {
    try {
      while (this.#isRequested && !this.#left) {
        this.#isRequested = false;
        await this.#heartbeatOnce();
      }
    } finally {
      // Must be in the same turn as the last check of `isRequested`: a request in between would be lost.
      this.#heartbeating = undefined;
    }
  }

  async #heartbeatOnce(): Promise<void> {
    const { store, node, ttlMs, log } = this.#options;
    const began = performance.now();
    this.#state = this.#draining ? 'draining' : this.#isolation.isCutOff ? 'cut off' : 'serving';
    let view: Heartbeat | undefined;
    try {
      view = await inTime(
        store.heartbeat({ ...node, listeners: this.#listeners }, this.#state, ttlMs),
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
    if (view === undefined) return this.#becomeDisplaced();
    this.#options.clock?.learn(view.now, began, performance.now());
    this.#isolation.store(began);
    if (!this.isCurrent) this.#lapses++;
    this.#renewedAt = began;
    this.#awaitLapse();
    this.#view = view;
    this.#awaitExpiry(view);
    this.#failureDetector.update(view, began);
    this.#shardLeases.notice(view);
    try {
      await this.#apply(view);
    } catch (error) {
      log.warn({ err: error }, 'shards could not be taken');
    }
  }

  #awaitLapse(): void {
    clearTimeout(this.#lapseTimer);
    this.#lapseTimer = setTimeout(() => {
      if (this.isCurrent) this.#awaitLapse();
      else this.#shardLeases.lapse();
    }, this.#options.ttlMs - this.heartbeatAgeMs);
  }

  /** Schedules a heartbeat for the expiry of another node's leases, so that its shards are taken at once. */
  #awaitExpiry({ nodes }: ClusterView): void {
    clearTimeout(this.#expiryTimer);
    const { ttlMs } = this.#options;
    const others = nodes.filter(({ id, expired, silentMs }) => id !== this.nodeId && !expired && silentMs < ttlMs);
    const leftMs = Math.min(...others.map(({ silentMs }) => ttlMs - silentMs));
    if (leftMs < ttlMs / 3) this.#expiryTimer = setTimeout(() => this.#requestHeartbeat(), leftMs + EXPIRY_MARGIN_MS);
  }

  #becomeDisplaced(): void {
    if (this.#left) return;
    this.#left = true;
    clearTimeout(this.#lapseTimer);
    clearTimeout(this.#expiryTimer);
    this.#options.log.fatal({ nodeId: this.nodeId }, 'another process has started under the name of this node');
    void this.#shardLeases.allReleased(this.#shardLeases.drop());
    this.#options.displaced();
  }

  async #apply(view: ClusterView): Promise<void> {
    const decision = decide({
      self: this.nodeId,
      state: this.#state,
      view,
      epochs: this.#shardLeases.epochs,
      gone: this.#failureDetector.gone,
      patient: this.#isolation.isPatient,
    });
    if (decision.give.length > 0 && this.#shardLeases.handingOver === undefined) {
      const names = candidates({ view, gone: this.#failureDetector.gone }).map(({ id }) => id);
      const batch = decision.give
        .filter(({ shard }) => !this.#shardLeases.isLeaving(shard))
        .slice(0, Math.ceil(this.shards / HANDOVER_SHARES))
        .map(({ shard, epoch }) => ({ shard, epoch, to: rendezvous(shard, names) }));
      this.#shardLeases.handOver(batch);
    }
    await this.#shardLeases.take(decision.take);
  }
}
