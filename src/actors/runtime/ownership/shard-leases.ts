// The leases that this node holds. Takes leases, tells the listener their shards, notices lost leases, and hands over those that other
// nodes should own. LeasedOwnership decides when; the store decides whether it succeeds.
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import { atMost, inTime } from '../../../concurrency/time-bounds.js';
import type { ClusterView, LeaseRow, LeaseStore, ReleasedLease, ShardLease } from '../../../store/leases.js';
import type { Meter } from '../meter.js';
import type { PlacementNotice } from '../transport/packet.js';

/** Answers requests for the shards that the node owns. */
export interface ShardListener {
  /** Begins to answer for the shards; resolves when requests of other nodes arrive. */
  acquired(shards: readonly number[]): Promise<void>;
  /** Stops answering for the shards at once; resolves when earlier requests are committed and answered. */
  released(shards: readonly number[]): Promise<void>;
}

export interface Relocation {
  readonly shards: readonly number[];
  /** Events may have been missed: the previous owner did not publish them, or nobody received them. */
  readonly unclean: boolean;
}

export interface ShardLeasesOptions {
  readonly nodeId: string;
  readonly store: Pick<LeaseStore, 'take' | 'release'>;
  readonly ttlMs: number;
  readonly log: Logger;
  readonly meter?: Meter;
  readonly relocations$: Observable<Relocation>;
  publish(notice: PlacementNotice): void;
  /** Called when a batch has been handed over; there may be more shards to hand over. */
  handedOver(): void;
}

/** How long an actor may take to finish when its shard is handed over; later commits are fenced. */
const RELEASE_MS = 2_000;
/** The same limit when the node stops; the listener was stopped before. */
const LAST_RELEASE_MS = 50;
/** How long the next batch waits until the new owners answer for this one. */
const ANSWERED_MS = 250;

export class ShardLeases {
  readonly #options: ShardLeasesOptions;
  readonly #leases = new Map<number, number>();
  /** Shards that are being handed over: this node no longer answers requests for them but still has the lease. */
  readonly #leaving = new Set<number>();
  readonly #acquiring = new Set<Promise<void>>();
  #listener: ShardListener | undefined;
  #handingOver: Promise<void> | undefined;
  #ended = false;

  constructor(options: ShardLeasesOptions) {
    this.#options = options;
  }

  /** Shard → epoch. */
  get epochs(): ReadonlyMap<number, number> {
    return this.#leases;
  }

  /** The shards for which this node answers. */
  get answered(): readonly number[] {
    return [...this.#leases.keys()].filter((shard) => !this.#leaving.has(shard));
  }

  get handingOver(): Promise<void> | undefined {
    return this.#handingOver;
  }

  get allAcquired(): Promise<unknown> {
    return Promise.all(this.#acquiring);
  }

  epochOf(shard: number): number | undefined {
    return this.#leaving.has(shard) ? undefined : this.#leases.get(shard);
  }

  isLeaving(shard: number): boolean {
    return this.#leaving.has(shard);
  }

  setListener(listener: ShardListener): void {
    this.#listener = listener;
  }

  /** The leases have expired. Other nodes may take them, so this node stops answering for their shards. */
  lapse(): void {
    this.#lose(this.answered, 'shard leases have expired');
  }

  /** Forgets all leases and takes no more. */
  drop(): readonly number[] {
    this.#ended = true;
    const shards = [...this.#leases.keys()];
    this.#leases.clear();
    return shards;
  }

  /** Stops answering for the last shards; resolves with false when an actor was still working. */
  async allReleased(shards: readonly number[]): Promise<boolean> {
    const releasing = this.#listener?.released(shards) ?? Promise.resolve();
    await this.#handingOver;
    return atMost(releasing, LAST_RELEASE_MS);
  }

  /** Ends the leases that other nodes have taken, according to the view. */
  notice(view: ClusterView): void {
    const lost: number[] = [];
    for (const [shard, epoch] of this.#leases) {
      if (this.#leaving.has(shard)) continue;
      const lease = view.leases[shard];
      // The view is older than a lease that another node has given since.
      const isOlder = lease !== undefined && lease.epoch < epoch;
      if (!isOlder && (lease?.nodeId !== this.#options.nodeId || lease.epoch !== epoch)) lost.push(shard);
    }
    this.#lose(lost, 'shards were taken over by others');
  }

  #lose(shards: readonly number[], reason: string): void {
    if (shards.length === 0) return;
    for (const shard of shards) this.#leases.delete(shard);
    this.#options.meter?.shardsLost(shards.length);
    this.#options.log.warn({ shards: shards.length }, reason);
    // Not awaited: work that is still in progress cannot commit.
    void this.#listener!.released(shards);
  }

  async take(rows: readonly LeaseRow[]): Promise<void> {
    const wanted = rows.filter(({ shard }) => !this.#leaving.has(shard));
    if (wanted.length === 0) return;
    const { store, ttlMs } = this.#options;
    const taken = await inTime(store.take(this.#options.nodeId, wanted, ttlMs), ttlMs, 'taking shards');
    if (this.#ended) return;
    for (const { shard, epoch } of taken) this.#leases.set(shard, epoch);
    const free = new Set(wanted.filter(({ nodeId }) => nodeId === null).map(({ shard }) => shard));
    for (const crashed of [false, true]) {
      const acquired = taken.filter(({ shard }) => free.has(shard) !== crashed);
      if (acquired.length > 0) this.#acquired(acquired, crashed);
    }
  }

  /** Accepts leases that their owner has given to this node. A view that was read earlier does not show them yet. */
  accept(leases: readonly ShardLease[]): void {
    if (this.#ended || this.#listener === undefined) return;
    const accepted = leases.filter(
      ({ shard, epoch }) => !this.#leaving.has(shard) && epoch > (this.#leases.get(shard) ?? 0),
    );
    for (const { shard, epoch } of accepted) this.#leases.set(shard, epoch);
    if (accepted.length > 0) this.#acquired(accepted, false);
  }

  /** Not awaited: leases are renewed whatever the bus does. */
  #acquired(leases: readonly ShardLease[], crashed: boolean): void {
    const acquiring = this.#listener!.acquired(leases.map(({ shard }) => shard))
      .then(() => {
        const shards = leases.filter((lease) => this.#holds(lease)).map(({ shard }) => shard);
        this.#options.meter?.shardsTaken(shards.length, crashed);
        this.#options.log.info({ shards: shards.length, crashed, held: this.#leases.size }, 'shards taken');
        if (shards.length > 0) this.#options.publish({ kind: 'acquired', shards, crashed });
      })
      .catch((error) => {
        this.#options.log.error({ err: error }, 'shards could not be acquired');
        // The next heartbeat takes them again.
        const failed = leases.filter((lease) => this.#holds(lease)).map(({ shard }) => shard);
        for (const shard of failed) this.#leases.delete(shard);
        void this.#listener!.released(failed);
      })
      .finally(() => this.#acquiring.delete(acquiring));
    this.#acquiring.add(acquiring);
  }

  #holds({ shard, epoch }: ShardLease): boolean {
    return this.#leases.get(shard) === epoch && !this.#leaving.has(shard);
  }

  /** Does nothing while a batch is under way. */
  handOver(leases: readonly ReleasedLease[]): void {
    if (leases.length === 0 || this.#handingOver !== undefined) return;
    this.#handingOver = this.#handOver(leases).catch((error) =>
      this.#options.log.warn({ err: error }, 'shards could not be handed over'),
    );
  }

  async #handOver(leases: readonly ReleasedLease[]): Promise<void> {
    const shards = leases.map(({ shard }) => shard);
    for (const shard of shards) this.#leaving.add(shard);
    let given: readonly ReleasedLease[];
    let isReleased = false;
    try {
      isReleased = await atMost(this.#listener!.released(shards), RELEASE_MS);
      const releasing = this.#options.store.release(this.#options.nodeId, leases);
      given = await inTime(releasing, this.#options.ttlMs, 'giving shards back');
      this.#options.meter?.shardsHandedOver(shards.length);
      this.#options.log.info({ shards: shards.length }, 'shards handed over');
    } catch (error) {
      if (!isReleased) this.#options.publish({ kind: 'unclean', shards });
      this.#handingOver = undefined;
      throw error;
    } finally {
      // If the store's answer was lost, the next view shows the owners.
      for (const shard of shards) {
        this.#leases.delete(shard);
        this.#leaving.delete(shard);
      }
    }
    const taken = new Set(given.map(({ shard }) => shard));
    const freed = shards.filter((shard) => !taken.has(shard));
    if (freed.length > 0) this.#options.publish({ kind: 'freed', shards: freed });
    const answered = this.#answeredByOthers(taken);
    for (const to of new Set(given.map((lease) => lease.to))) {
      const theirs = given.filter((lease) => lease.to === to).map(({ shard, epoch }) => ({ shard, epoch }));
      if (to !== undefined) this.#options.publish({ kind: 'given', to, leases: theirs });
    }
    // Only the accounts of one batch pause at a time.
    await answered;
    if (!isReleased) this.#options.publish({ kind: 'unclean', shards });
    this.#handingOver = undefined;
    this.#options.handedOver();
  }

  /** Resolves when other nodes answer for the shards, or after `ANSWERED_MS`. */
  async #answeredByOthers(shards: ReadonlySet<number>): Promise<void> {
    const waiting = new Set(shards);
    if (waiting.size === 0) return;
    let end = () => {};
    const answered = new Promise<void>((resolve) => {
      end = resolve;
    });
    const hearing = this.#options.relocations$.subscribe((move) => {
      for (const shard of move.shards) waiting.delete(shard);
      if (waiting.size === 0) end();
    });
    await atMost(answered, ANSWERED_MS);
    hearing.unsubscribe();
  }
}
