// Durable consumers: push subscriptions and webhooks that get the events of their accounts, even if no client is connected. The node that
// owns an account's shard runs its consumers, so no other node does, and a mailbox never waits for them: for accounts without consumers a
// commit costs one look into a set. The next owner finds due work of an earlier one through the positions in the store.
import type { Logger } from 'pino';
import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import { atMost } from '../../concurrency/time-bounds.js';
import { WorkQueue } from '../../concurrency/work-queue.js';
import { clock } from '../../store/clock.js';
import type { ConsumerStore } from '../../store/consumers.js';
import type { EventLog } from '../../store/events.js';
import { shardOf } from '../../store/shard.js';
import type { MailboxEvent, Mailboxes } from '../mailbox/protocol.js';
import type { Ownership, ShardListener } from '../runtime/ownership/ownership.js';
import { NO_TRACER, type Tracer } from '../runtime/tracing.js';
import {
  type ConsumersPacket,
  type EventPacket,
  PACKET_VERSION,
  type RecheckPacket,
} from '../runtime/transport/packet.js';
import { CONSUMERS_SUBJECT } from '../runtime/transport/subjects.js';
import type { Transport } from '../runtime/transport/transport.js';
import { AccountConsumers, type AccountContext } from './account-consumers.js';
import { PositionWriter } from './position-writer.js';
import { type ConsumerMeter, type DurableConsumers, NO_CONSUMER_METER } from './protocol.js';

/** The most accounts whose consumers work or are live; other accounts wait. */
const MOST_ACTIVE = 2_000;
/** The consumers that read a backlog at a time, on the node and per account. */
const PERMITS = 64;
const PERMITS_OF_ACCOUNT = 2;
/** An account gets its second permit while more than 16 are free: an unresponsive peer keeps one until the delivery is over. */
const PERMITS_FACTOR = 1 / 16;
/** Reads of rows at a time; fewer than the database has connections. */
const READS = 4;
/** How long consumers stay live after the last event that concerned them. */
const IDLE_MS = 30_000;
const SWEEP_MS = 5_000;
/** The delay of the sweep that makes room for waiting accounts. */
const ROOM_MS = 100;
const SCAN_MS = 60_000;
const PAGE_OF_ACCOUNTS = 500;
const TROUBLE_MS = 1_000;
/** How long a handover of shards waits for running deliveries. If they take longer, the next owner may repeat them. */
const RELEASE_MS = 250;
/** The most accounts whose retries wait in memory; the scan finds the others. */
const MOST_RESTING = 10_000;
/** Work of the node. `read`: accounts of new shards. `scan`: accounts that notices and retries have missed. `sweep`: idle consumers. */
const JOBS = ['read', 'scan', 'sweep'] as const;
type Job = (typeof JOBS)[number];

export interface ConsumersOptions {
  readonly store: ConsumerStore;
  readonly log: Pick<EventLog, 'read'>;
  readonly ownership: Pick<Ownership, 'shards' | 'owned' | 'epochOf'>;
  readonly transport: Pick<Transport, 'publish' | 'subscribe'>;
  readonly mailboxes: Mailboxes;
  readonly logger: Logger;
  readonly meter?: ConsumerMeter;
  readonly tracer?: Tracer;
  /** How long consumers stay live, and how often all rows are scanned, in ms. */
  readonly idleMs?: number;
  readonly scanMs?: number;
  /** The most accounts whose consumers work or are live; 2,000 by default. */
  readonly mostActive?: number;
}

export interface Consumers extends ShardListener {
  /** Starts to run consumers of these kinds. Nothing is read before. */
  start(kinds: readonly DurableConsumers[]): void;
  /** Called when the host has published the events of a commit. */
  published(packet: EventPacket): void;
  /** Tells the account's owner that rows of its consumers have changed. A hint: the scan finds changes too. */
  changed(accountId: string): void;
  /** The numbers of accounts whose consumers work or are live, and of those that wait. */
  readonly active: number;
  readonly waiting: number;
  /** The number of accounts with a consumer that waits for a retry. */
  readonly resting: number;
  /** The number of accounts with consumers on this node's shards. */
  readonly accounts: number;
  stop(withinMs: number): Promise<void>;
}

export function createConsumers(options: ConsumersOptions): Consumers {
  return new ShardConsumers(options);
}

class ShardConsumers implements Consumers {
  readonly #options: ConsumersOptions;
  readonly #positions: PositionWriter;
  readonly #reads = new FairSemaphore({ total: READS });
  readonly #semaphore = new FairSemaphore({ total: PERMITS, share: PERMITS_OF_ACCOUNT, factor: PERMITS_FACTOR });
  readonly #abort = new AbortController();
  readonly #accounts = new Set<string>();
  readonly #active = new Map<string, AccountConsumers>();
  readonly #waiting = new Set<string>();
  /** Accounts whose consumers are stopping: new ones start at the positions that these store. True: wake the account afterwards. */
  readonly #ending = new Map<string, boolean>();
  /** Accounts with a consumer that waits for a retry. */
  readonly #resting: WorkQueue;
  readonly #jobs: WorkQueue;
  /** Shards whose accounts have not been read yet. */
  readonly #unread = new Set<number>();
  #endNotices = () => {};
  #kinds: readonly DurableConsumers[] = [];
  #context: AccountContext | undefined;
  #isStopped = false;

  constructor(options: ConsumersOptions) {
    this.#options = options;
    this.#positions = new PositionWriter(options.store, options.logger);
    this.#resting = new WorkQueue({
      work: async (accountId) => {
        this.#lookAt(accountId);
        return undefined;
      },
      failed: (accountId, err) => options.logger.error({ accountId, err }, 'a bug: consumers are not looked at'),
      most: MOST_RESTING,
      backoff: { firstMs: TROUBLE_MS },
    });
    this.#jobs = new WorkQueue({
      work: (job) => this.#carryOut(job as Job),
      failed: (job, err) => options.logger.warn({ job, err }, 'accounts with consumers could not be read'),
      workers: JOBS.length,
      most: JOBS.length,
      backoff: { firstMs: TROUBLE_MS },
    });
  }

  get active(): number {
    return this.#active.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get resting(): number {
    return this.#resting.size;
  }

  get accounts(): number {
    return this.#accounts.size;
  }

  start(kinds: readonly DurableConsumers[]): void {
    const { transport, scanMs = SCAN_MS } = this.#options;
    this.#kinds = kinds;
    this.#context = this.#newContext();
    const notices = transport.subscribe<ConsumersPacket | RecheckPacket>(CONSUMERS_SUBJECT, (packet) => {
      if (packet.kind === 'consumers') this.#lookAt(packet.accountId);
    });
    this.#endNotices = () => notices.end();
    this.#jobs.addAfter('sweep', this.#sweepMs);
    this.#jobs.addAfter('scan', scanMs);
    this.#readAccounts();
  }

  published({ accountId, events }: EventPacket): void {
    if (!this.#accounts.has(accountId) || this.#active.has(accountId)) return;
    // A packet without events means that a commit may have happened that was not published.
    const isDue = events.length === 0 || events.some((event) => this.#concerns(event as MailboxEvent));
    if (isDue) this.#wake(accountId);
  }

  changed(accountId: string): void {
    this.#options.transport.publish(CONSUMERS_SUBJECT, { v: PACKET_VERSION, kind: 'consumers', accountId });
  }

  async acquired(shards: readonly number[]): Promise<void> {
    for (const shard of shards) this.#unread.add(shard);
    this.#readAccounts();
  }

  async released(shards: readonly number[]): Promise<void> {
    const leaving = new Set(shards);
    for (const shard of leaving) this.#unread.delete(shard);
    const isLeaving = (accountId: string) => leaving.has(shardOf(accountId, this.#options.ownership.shards));
    for (const accountId of this.#accounts) if (isLeaving(accountId)) this.#forget(accountId);
    const ending = [...this.#active.values()].filter(({ accountId }) => isLeaving(accountId));
    if (ending.length > 0) await atMost(Promise.all(ending.map((account) => this.#end(account))), RELEASE_MS);
  }

  async stop(withinMs: number): Promise<void> {
    this.#isStopped = true;
    this.#endNotices();
    const stopped = Promise.all([this.#resting.stop(), this.#jobs.stop()]);
    this.#waiting.clear();
    const ended = Promise.all([...this.#active.values()].map((account) => this.#end(account)));
    if (!(await atMost(ended, withinMs))) this.#abort.abort();
    this.#positions.stop();
    await stopped;
  }

  #newContext(): AccountContext {
    const { store, log, logger, ownership, meter = NO_CONSUMER_METER, tracer = NO_TRACER } = this.#options;
    return {
      kinds: this.#kinds,
      mailboxes: this.#options.mailboxes,
      store,
      log,
      positions: this.#positions,
      semaphore: this.#semaphore,
      logger,
      meter,
      tracer,
      signal: this.#abort.signal,
      owns: (accountId) => !this.#isStopped && ownership.epochOf(accountId) !== undefined,
      reading: (accountId, read) => this.#reads.run(accountId, read),
      retryAt: (accountId, at) => this.#retryAt(accountId, at),
      empty: (accountId) => this.#accounts.delete(accountId),
      ended: ({ accountId }) => {
        this.#active.delete(accountId);
        this.#wakeNext();
      },
    };
  }

  #concerns(event: MailboxEvent): boolean {
    return this.#kinds.some((kind) => kind.concerns(event));
  }

  /** The account may have new consumers, or a consumer may have another position. */
  #lookAt(accountId: string): void {
    if (this.#context?.owns(accountId) !== true) return;
    this.#accounts.add(accountId);
    const active = this.#active.get(accountId);
    if (active === undefined) this.#wake(accountId);
    else active.look();
  }

  #wake(accountId: string): void {
    if (this.#context?.owns(accountId) !== true || this.#active.has(accountId)) return;
    if (this.#ending.has(accountId)) {
      this.#ending.set(accountId, true);
      return;
    }
    if (this.#isFull) {
      this.#waiting.add(accountId);
      this.#makeRoom();
      return;
    }
    this.#waiting.delete(accountId);
    this.#active.set(accountId, new AccountConsumers(accountId, this.#context));
  }

  #makeRoom(): void {
    this.#jobs.addAfter('sweep', ROOM_MS);
  }

  get #isFull(): boolean {
    return this.#active.size >= (this.#options.mostActive ?? MOST_ACTIVE);
  }

  #wakeNext(): void {
    for (const accountId of this.#waiting) {
      if (this.#isFull) {
        this.#makeRoom();
        return;
      }
      this.#waiting.delete(accountId);
      this.#wake(accountId);
    }
    if (this.#waiting.size > 0) this.#makeRoom();
  }

  /** Ends consumers that have been idle for long; while other accounts wait, all that have no work. */
  #endIdle(): void {
    const most = this.#waiting.size > 0 ? 0 : this.#idleMs;
    for (const account of [...this.#active.values()]) if (account.idleMs > most) void this.#end(account);
    this.#wakeNext();
  }

  /** Stops the account's consumers; the next commit of the account wakes it again. */
  async #end(account: AccountConsumers): Promise<void> {
    const { accountId } = account;
    this.#active.delete(accountId);
    this.#ending.set(accountId, false);
    let isWanted: boolean | undefined;
    try {
      await account.stop();
    } finally {
      isWanted = this.#ending.get(accountId);
      this.#ending.delete(accountId);
    }
    if (isWanted === true) this.#wake(accountId);
  }

  #forget(accountId: string): void {
    this.#accounts.delete(accountId);
    this.#waiting.delete(accountId);
    if (this.#ending.has(accountId)) this.#ending.set(accountId, false);
    this.#resting.forget(accountId);
  }

  /** The consumer that is due first counts; the look that it causes finds the others. */
  #retryAt(accountId: string, at: number): void {
    this.#resting.addAfter(accountId, at - clock.now());
  }

  get #idleMs(): number {
    return this.#options.idleMs ?? IDLE_MS;
  }

  get #sweepMs(): number {
    return Math.min(SWEEP_MS, this.#idleMs);
  }

  /** Returns when the job runs again. */
  async #carryOut(job: Job): Promise<number | undefined> {
    switch (job) {
      case 'read':
        return this.#readUnread();
      case 'scan':
        return this.#scan();
      case 'sweep':
        this.#endIdle();
        return this.#sweepMs;
    }
  }

  #readAccounts(): void {
    if (this.#context !== undefined && this.#unread.size > 0) this.#jobs.add('read');
  }

  /** Reads which accounts of new shards have consumers, and wakes those that are behind. */
  async #readUnread(): Promise<undefined> {
    const shards = [...this.#unread];
    try {
      for (const { kind } of this.#kinds) {
        for (const accountId of await this.#options.store.accounts(kind, shards)) {
          if (this.#context!.owns(accountId)) this.#accounts.add(accountId);
        }
      }
      // Removed before the rows are read, because later commits wake the account.
      for (const shard of shards) this.#unread.delete(shard);
      await this.#wakeBehind(shards);
    } catch (err) {
      for (const shard of shards) this.#unread.add(shard);
      throw err;
    }
  }

  async #scan(): Promise<number> {
    const { ownership, logger, scanMs = SCAN_MS } = this.#options;
    try {
      if (ownership.owned.length > 0) await this.#wakeBehind(ownership.owned);
    } catch (err) {
      logger.warn({ err }, 'consumers that are behind could not be looked for');
    }
    return scanMs;
  }

  async #wakeBehind(shards: readonly number[]): Promise<void> {
    for (const { kind } of this.#kinds) {
      let after: string | undefined;
      do {
        const page = await this.#options.store.behind(kind, shards, after, PAGE_OF_ACCOUNTS);
        for (const accountId of page) this.#lookAt(accountId);
        after = page.length < PAGE_OF_ACCOUNTS ? undefined : page.at(-1);
      } while (after !== undefined && !this.#isStopped);
    }
  }
}
