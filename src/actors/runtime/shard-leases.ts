// What this node holds at present: it takes leases, has its tenant answer for them, notices those it lost and hands over what
// others should own. When to do which is decided by `ownership`, the store says whether it is so.
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import { atMost, inTime } from '../../bounds/time-bounds.js';
import type { ClusterView, LeaseRow, LeaseStore, ReleasedLease, ShardLease } from '../../store/leases.js';
import type { Meter } from './meter.js';
import type { PlacementNews } from './packet.js';

/** Those who answer for what the node owns. */
export interface Tenant {
  /** Answers for the shards from now on; resolves when whatever is asked from then on arrives. */
  settle(shards: readonly number[]): Promise<void>;
  /** Ends answering for the shards at once; resolves when what was asked before is committed and answered. */
  vacate(shards: readonly number[]): Promise<void>;
}

export interface Relocation {
  readonly shards: readonly number[];
  /** Commits may have gone unheard: unpublished by the owner before, or published while it could not be heard. */
  readonly unclean: boolean;
}

export interface ShardLeasesOptions {
  readonly nodeId: string;
  readonly store: Pick<LeaseStore, 'take' | 'release'>;
  readonly ttlMs: number;
  readonly log: Logger;
  readonly meter?: Meter;
  readonly relocations$: Observable<Relocation>;
  tell(news: PlacementNews): void;
  /** A batch has been handed over: there may be more. */
  handedOver(): void;
}

/** What an actor may take to finish when its shard moves; its commits are refused afterwards. */
const VACATE_MS = 2_000;
/** The same at the end, when the tenant has been stopped before. */
const LAST_VACATE_MS = 50;
/** What others may take to answer for what they were given before they are given more. */
const SETTLED_MS = 250;

export class ShardLeases {
  readonly #options: ShardLeasesOptions;
  readonly #held = new Map<number, number>();
  /** Being handed over: not answered for any more, and not free yet. */
  readonly #leaving = new Set<number>();
  readonly #settling = new Set<Promise<void>>();
  #tenant: Tenant | undefined;
  #handingOver: Promise<void> | undefined;
  #ended = false;

  constructor(options: ShardLeasesOptions) {
    this.#options = options;
  }

  /** Shard → epoch. */
  get epochs(): ReadonlyMap<number, number> {
    return this.#held;
  }

  /** Shards that are answered for. */
  get answered(): readonly number[] {
    return [...this.#held.keys()].filter((shard) => !this.#leaving.has(shard));
  }

  get handingOver(): Promise<void> | undefined {
    return this.#handingOver;
  }

  get settled(): Promise<unknown> {
    return Promise.all(this.#settling);
  }

  epochOf(shard: number): number | undefined {
    return this.#leaving.has(shard) ? undefined : this.#held.get(shard);
  }

  isLeaving(shard: number): boolean {
    return this.#leaving.has(shard);
  }

  let(tenant: Tenant): void {
    this.#tenant = tenant;
  }

  /** The leases have run out: others may take them, and must not find this node answering that it is no owner. */
  lapse(): void {
    this.#lose(this.answered, 'shard leases have run out');
  }

  /** Holds nothing from now on. */
  drop(): readonly number[] {
    this.#ended = true;
    const shards = [...this.#held.keys()];
    this.#held.clear();
    return shards;
  }

  /** Ends answering for what it had at the end; false when some of it was still at work. */
  async vacated(shards: readonly number[]): Promise<boolean> {
    const vacating = this.#tenant?.vacate(shards) ?? Promise.resolve();
    await this.#handingOver;
    return atMost(vacating, LAST_VACATE_MS);
  }

  /** What was taken from this node while it was not looking. */
  notice(view: ClusterView): void {
    const lost: number[] = [];
    for (const [shard, epoch] of this.#held) {
      if (this.#leaving.has(shard)) continue;
      const lease = view.leases[shard];
      // What it was given since then the look does not show yet.
      const isOlder = lease !== undefined && lease.epoch < epoch;
      if (!isOlder && (lease?.nodeId !== this.#options.nodeId || lease.epoch !== epoch)) lost.push(shard);
    }
    this.#lose(lost, 'shards were taken over by others');
  }

  #lose(shards: readonly number[], why: string): void {
    if (shards.length === 0) return;
    for (const shard of shards) this.#held.delete(shard);
    this.#options.meter?.shardsLost(shards.length);
    this.#options.log.warn({ shards: shards.length }, why);
    // Not waited for: nothing that is still under way can be committed.
    void this.#tenant!.vacate(shards);
  }

  async take(rows: readonly LeaseRow[]): Promise<void> {
    const wanted = rows.filter(({ shard }) => !this.#leaving.has(shard));
    if (wanted.length === 0) return;
    const { store, ttlMs } = this.#options;
    const taken = await inTime(store.take(this.#options.nodeId, wanted, ttlMs), ttlMs, 'taking shards');
    if (this.#ended) return;
    for (const { shard, epoch } of taken) this.#held.set(shard, epoch);
    const free = new Set(wanted.filter(({ nodeId }) => nodeId === null).map(({ shard }) => shard));
    for (const crashed of [false, true]) {
      const settled = taken.filter(({ shard }) => free.has(shard) !== crashed);
      if (settled.length > 0) this.#settle(settled, crashed);
    }
  }

  /** Given by the owner before, who does not answer for them any more. Looks, which may be older, come to know them later. */
  accept(leases: readonly ShardLease[]): void {
    if (this.#ended || this.#tenant === undefined) return;
    const news = leases.filter(({ shard, epoch }) => !this.#leaving.has(shard) && epoch > (this.#held.get(shard) ?? 0));
    for (const { shard, epoch } of news) this.#held.set(shard, epoch);
    if (news.length > 0) this.#settle(news, false);
  }

  /** Not waited for: whatever the bus does, leases are renewed. */
  #settle(leases: readonly ShardLease[], crashed: boolean): void {
    const settling = this.#tenant!.settle(leases.map(({ shard }) => shard))
      .then(() => {
        const shards = leases.filter((lease) => this.#holds(lease)).map(({ shard }) => shard);
        this.#options.meter?.shardsTaken(shards.length, crashed);
        this.#options.log.info({ shards: shards.length, crashed, held: this.#held.size }, 'shards taken');
        if (shards.length > 0) this.#options.tell({ kind: 'settled', shards, crashed });
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

  /** Unless a batch is under way. */
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
    let vacated = false;
    try {
      vacated = await atMost(this.#tenant!.vacate(shards), VACATE_MS);
      const releasing = this.#options.store.release(this.#options.nodeId, leases);
      given = await inTime(releasing, this.#options.ttlMs, 'giving shards back');
      this.#options.meter?.shardsHandedOver(shards.length);
      this.#options.log.info({ shards: shards.length }, 'shards handed over');
    } catch (error) {
      if (!vacated) this.#options.tell({ kind: 'unclean', shards });
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
    if (freed.length > 0) this.#options.tell({ kind: 'freed', shards: freed });
    const settled = this.#settledByOthers(taken);
    for (const to of new Set(given.map((lease) => lease.to))) {
      const its = given.filter((lease) => lease.to === to).map(({ shard, epoch }) => ({ shard, epoch }));
      if (to !== undefined) this.#options.tell({ kind: 'given', to, leases: its });
    }
    // One batch pauses at a time, however fast they are given.
    await settled;
    if (!vacated) this.#options.tell({ kind: 'unclean', shards });
    this.#handingOver = undefined;
    this.#options.handedOver();
  }

  /** Resolves when others answer for the shards, or are long about it. */
  async #settledByOthers(shards: ReadonlySet<number>): Promise<void> {
    const waiting = new Set(shards);
    if (waiting.size === 0) return;
    let end = () => {};
    const settled = new Promise<void>((resolve) => {
      end = resolve;
    });
    const hearing = this.#options.relocations$.subscribe((move) => {
      for (const shard of move.shards) waiting.delete(shard);
      if (waiting.size === 0) end();
    });
    await atMost(settled, SETTLED_MS);
    hearing.unsubscribe();
  }
}
