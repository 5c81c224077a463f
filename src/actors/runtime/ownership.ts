// Which shards this node owns and since which epoch: a heartbeat renews the leases, looks at the whole cluster and acts on
// what `placement` decides. Others are told of every change on the bus, so that nobody waits for a heartbeat to notice;
// what is told is a hint, the store decides. Alone on its store a node does the same and owns everything.
import type { Logger } from 'pino';
import { type Observable, Subject } from 'rxjs';
import type {
  ClusterView,
  LeaseRow,
  LeaseStore,
  NodeEntry,
  NodeState,
  ReleasedLease,
  ShardLease,
} from '../../store/leases.js';
import { shardOf } from '../../store/shard.js';
import type { Meter } from './meter.js';
import { Outlook } from './outlook.js';
import { PACKET_VERSION, type PlacementNews, type PlacementPacket } from './packet.js';
import { Peers } from './peers.js';
import { candidates, decide } from './placement.js';
import { rendezvous } from './rendezvous.js';
import { nodeSubject, PLACEMENT_SUBJECT } from './subjects.js';
import { atMost, inTime, pause } from './time-bounds.js';
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
/** What others may take to answer for what they were given before they are given more. */
const SETTLED_MS = 250;
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
  readonly #moves$ = new Subject<Move>();
  readonly #peers: Peers;
  readonly #outlook: Outlook;
  readonly #held = new Map<number, number>();
  /** Being handed over: not answered for any more, and not free yet. */
  readonly #leaving = new Set<number>();
  readonly #settling = new Set<Promise<void>>();
  readonly #registrations: Registration[] = [];
  readonly #ending: (() => void)[] = [];
  #tenant: Tenant | undefined;
  #view: ClusterView | undefined;
  #state: NodeState = 'serving';
  #draining = false;
  #left = false;
  #lapse: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #again = false;
  #handingOver: Promise<void> | undefined;
  /** Times are of the monotonic clock: a paused process finds its leases run out when it wakes. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #recheckedAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.shards = options.shards;
    this.#peers = new Peers(options.transport, options.node.id, (gone) => {
      this.#tell({ kind: 'gone', gone });
      this.#nudge();
    });
    this.#outlook = new Outlook(options.ttlMs, () => {
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
    await this.#join();
    this.#tenant = tenant;
    const connection = transport.connected$.subscribe((connected) => this.#outlook.bus(connected));
    this.#ending.push(() => connection.unsubscribe());
    const ping = transport.respond(nodeSubject(node.id), async () => ({ kind: 'reply', reply: null }));
    const news = transport.subscribe<PlacementPacket>(PLACEMENT_SUBJECT, (packet) => this.#hear(packet));
    this.#registrations.push(ping, news);
    await Promise.all([ping.standing, news.standing]);
    const heartbeat = setInterval(() => this.#nudge(), ttlMs / 3);
    this.#ending.push(() => clearInterval(heartbeat));
    await this.#beat();
    await Promise.all(this.#settling);
    // Owners that have to give something to this node need not wait for their next heartbeat.
    this.#tell({ kind: 'freed', shards: [] });
  }

  async drain(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    this.#draining = true;
    const left = () => deadline - performance.now();
    while (left() > 0) {
      await atMost(this.#beat(), left());
      if (this.#held.size === 0 || this.#view === undefined) return;
      if (candidates({ view: this.#view, gone: this.#peers.gone }).length === 0) return;
      await atMost(this.#handingOver ?? pause(RECHECK_MS), left());
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

  #hear(packet: PlacementPacket): void {
    switch (packet.kind) {
      case 'settled':
        this.#moves$.next(packet);
        if (packet.node !== this.nodeId && packet.shards.some((shard) => this.#held.has(shard))) this.#nudge();
        return;
      case 'freed':
        if (packet.node !== this.nodeId) this.#nudge();
        return;
      case 'gone':
        if (packet.gone !== this.nodeId && packet.node !== this.nodeId) this.#peers.suspect(packet.gone, true);
        return;
      case 'given':
        if (packet.to === this.nodeId) this.#accept(packet.leases);
        return;
    }
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
    if (this.#left) return Promise.resolve();
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
    let view: ClusterView | undefined;
    try {
      view = await inTime(store.beat(node, this.#state, ttlMs), ttlMs, 'a heartbeat');
      if (this.#failing) log.info('shard leases are renewed again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ err: error }, 'shard leases could not be renewed');
      this.#failing = true;
      return;
    }
    if (view === undefined) return this.#displaced();
    this.#outlook.store(began);
    this.#renewedAt = began;
    this.#awaitLapse();
    this.#view = view;
    this.#awaitExpiry(view);
    this.#peers.look(view, began);
    this.#notice(view);
    try {
      await this.#act(view);
    } catch (error) {
      log.warn({ err: error }, 'shards could not be taken');
    }
  }

  /** Whoever takes the leases when they have run out must not find this node answering that it is no owner. */
  #awaitLapse(): void {
    clearTimeout(this.#lapse);
    this.#lapse = setTimeout(() => {
      if (this.isCurrent) return this.#awaitLapse();
      const shards = [...this.#held.keys()].filter((shard) => !this.#leaving.has(shard));
      if (shards.length === 0) return;
      for (const shard of shards) this.#held.delete(shard);
      this.#options.meter?.shardsLost(shards.length);
      this.#options.log.warn({ shards: shards.length }, 'shard leases have run out');
      void this.#tenant!.vacate(shards);
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
    void this.#tenant?.vacate([...this.#held.keys()]);
    this.#held.clear();
    this.#options.displaced();
  }

  /** What was taken from this node while it was not looking. */
  #notice(view: ClusterView): void {
    const lost: number[] = [];
    for (const [shard, epoch] of this.#held) {
      if (this.#leaving.has(shard)) continue;
      const lease = view.leases[shard];
      // What it was given since then the look does not show yet.
      const isOlder = lease !== undefined && lease.epoch < epoch;
      if (!isOlder && (lease?.nodeId !== this.nodeId || lease.epoch !== epoch)) lost.push(shard);
    }
    if (lost.length === 0) return;
    for (const shard of lost) this.#held.delete(shard);
    this.#options.meter?.shardsLost(lost.length);
    this.#options.log.warn({ shards: lost.length }, 'shards were taken over by others');
    // Not waited for: nothing that is still under way can be committed.
    void this.#tenant!.vacate(lost);
  }

  async #act(view: ClusterView): Promise<void> {
    const decision = decide({
      self: this.nodeId,
      state: this.#state,
      view,
      held: this.#held,
      gone: this.#peers.gone,
      patient: this.#outlook.isPatient,
    });
    const give = decision.give.filter(({ shard }) => !this.#leaving.has(shard));
    if (give.length > 0 && this.#handingOver === undefined) {
      const names = candidates({ view, gone: this.#peers.gone }).map(({ id }) => id);
      const batch = give
        .slice(0, Math.ceil(this.shards / HANDOVER_SHARES))
        .map(({ shard, epoch }) => ({ shard, epoch, to: rendezvous(shard, names) }));
      this.#handingOver = this.#handOver(batch).catch((error) =>
        this.#options.log.warn({ err: error }, 'shards could not be handed over'),
      );
    }
    await this.#take(decision.take.filter(({ shard }) => !this.#leaving.has(shard)));
  }

  async #take(wanted: readonly LeaseRow[]): Promise<void> {
    if (wanted.length === 0) return;
    const { store, ttlMs } = this.#options;
    const taken = await inTime(store.take(this.nodeId, wanted, ttlMs), ttlMs, 'taking shards');
    if (this.#left) return;
    for (const { shard, epoch } of taken) this.#held.set(shard, epoch);
    const free = new Set(wanted.filter(({ nodeId }) => nodeId === null).map(({ shard }) => shard));
    for (const vanished of [false, true]) {
      const settled = taken.filter(({ shard }) => free.has(shard) !== vanished);
      if (settled.length > 0) this.#settle(settled, vanished);
    }
  }

  /** Given by the owner before, who does not answer for them any more. Looks, which may be older, come to know them later. */
  #accept(leases: readonly ShardLease[]): void {
    if (this.#left || this.#draining || this.#tenant === undefined) return;
    const news = leases.filter(({ shard, epoch }) => !this.#leaving.has(shard) && epoch > (this.#held.get(shard) ?? 0));
    for (const { shard, epoch } of news) this.#held.set(shard, epoch);
    if (news.length > 0) this.#settle(news, false);
  }

  /** Not waited for: whatever the bus does, leases are renewed. */
  #settle(leases: readonly ShardLease[], vanished: boolean): void {
    const settling = this.#tenant!.settle(leases.map(({ shard }) => shard))
      .then(() => {
        const shards = leases.filter((lease) => this.#holds(lease)).map(({ shard }) => shard);
        this.#options.meter?.shardsTaken(shards.length, vanished);
        this.#options.log.info({ shards: shards.length, vanished, held: this.#held.size }, 'shards taken');
        if (shards.length > 0) this.#tell({ kind: 'settled', shards, vanished });
      })
      .catch((error) => {
        this.#options.log.error({ err: error }, 'shards could not be settled');
        // The next heartbeat takes them anew.
        const failed = leases.filter((lease) => this.#holds(lease)).map(({ shard }) => shard);
        for (const shard of failed) this.#held.delete(shard);
        void this.#tenant!.vacate(failed);
      })
      .finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  #holds({ shard, epoch }: ShardLease): boolean {
    return this.#held.get(shard) === epoch && !this.#leaving.has(shard);
  }

  async #handOver(leases: readonly ReleasedLease[]): Promise<void> {
    const shards = leases.map(({ shard }) => shard);
    for (const shard of shards) this.#leaving.add(shard);
    let given: readonly ReleasedLease[];
    try {
      await atMost(this.#tenant!.vacate(shards), VACATE_MS);
      const releasing = this.#options.store.release(this.nodeId, leases);
      given = await inTime(releasing, this.#options.ttlMs, 'giving shards back');
      this.#options.meter?.shardsHandedOver(shards.length);
      this.#options.log.info({ shards: shards.length }, 'shards handed over');
    } catch (error) {
      this.#handingOver = undefined;
      throw error;
    } finally {
      // Where the answer got lost the next look tells whose they are.
      for (const shard of shards) {
        this.#held.delete(shard);
        this.#leaving.delete(shard);
      }
    }
    const taken = new Set(given.map(({ shard }) => shard));
    const freed = shards.filter((shard) => !taken.has(shard));
    if (freed.length > 0) this.#tell({ kind: 'freed', shards: freed });
    const settled = this.#settledByOthers(taken);
    for (const to of new Set(given.map((lease) => lease.to))) {
      const its = given.filter((lease) => lease.to === to).map(({ shard, epoch }) => ({ shard, epoch }));
      if (to !== undefined) this.#tell({ kind: 'given', to, leases: its });
    }
    // One batch pauses at a time, however fast they are given.
    await settled;
    this.#handingOver = undefined;
    this.#nudge();
  }

  /** Resolves when others answer for the shards, or are long about it. */
  async #settledByOthers(shards: ReadonlySet<number>): Promise<void> {
    const waiting = new Set(shards);
    if (waiting.size === 0) return;
    let end = () => {};
    const settled = new Promise<void>((resolve) => {
      end = resolve;
    });
    const hearing = this.#moves$.subscribe((move) => {
      for (const shard of move.shards) waiting.delete(shard);
      if (waiting.size === 0) end();
    });
    await atMost(settled, SETTLED_MS);
    hearing.unsubscribe();
  }
}
