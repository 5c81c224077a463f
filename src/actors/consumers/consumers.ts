// Durable consumers: push subscriptions and webhooks that get the events of their accounts, even if no client is connected. The node that
// owns an account's shard runs its consumers, so no other node does, and a mailbox never waits for them: for accounts without consumers a
// commit costs one look into a set. The next owner finds due work of an earlier one through the positions in the store.
import type { Logger } from 'pino';
import { clock } from '../../store/clock.js';
import type { ConsumerStore } from '../../store/consumers.js';
import type { EventLog } from '../../store/events.js';
import { shardOf } from '../../store/shard.js';
import { FairSemaphore } from '../../work/fair-semaphore.js';
import { atMost, pause } from '../../work/time-bounds.js';
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
/** The most retries with a timer; the scan finds the others. */
const MOST_TIMERS = 10_000;

export interface ConsumersOptions {
  readonly store: ConsumerStore;
  readonly log: Pick<EventLog, 'read'>;
  readonly ownership: Pick<Ownership, 'shards' | 'owned' | 'epochOf'>;
  readonly transport: Pick<Transport, 'publish' | 'subscribe'>;
  /** Called when consumers start, because the mailboxes need the host, which calls `published`. */
  mailboxes(): Mailboxes;
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
  readonly #retries = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  /** Shards whose accounts have not been read yet. */
  readonly #unread = new Set<number>();
  readonly #teardown: (() => void)[] = [];
  #kinds: readonly DurableConsumers[] = [];
  #context: AccountContext | undefined;
  #reading: Promise<void> | undefined;
  #scanning: Promise<void> | undefined;
  #makingRoom: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ConsumersOptions) {
    this.#options = options;
    this.#positions = new PositionWriter(options.store, options.logger);
  }

  get active(): number {
    return this.#active.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get resting(): number {
    return this.#retries.size;
  }

  get accounts(): number {
    return this.#accounts.size;
  }

  start(kinds: readonly DurableConsumers[]): void {
    const { transport, scanMs = SCAN_MS, idleMs = IDLE_MS } = this.#options;
    this.#kinds = kinds;
    this.#context = this.#newContext();
    const notices = transport.subscribe<ConsumersPacket | RecheckPacket>(CONSUMERS_SUBJECT, (packet) => {
      if (packet.kind === 'consumers') this.#lookAt(packet.accountId);
    });
    const sweep = setInterval(() => this.#endIdle(), Math.min(SWEEP_MS, idleMs));
    const scan = setInterval(() => this.#scan(), scanMs);
    this.#teardown.push(
      () => notices.end(),
      () => clearInterval(sweep),
      () => clearInterval(scan),
    );
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
    for (const end of this.#teardown) end();
    for (const accountId of [...this.#retries.keys()]) this.#forget(accountId);
    this.#waiting.clear();
    clearTimeout(this.#makingRoom);
    const ended = Promise.all([...this.#active.values()].map((account) => this.#end(account)));
    if (!(await atMost(ended, withinMs))) this.#abort.abort();
    this.#positions.stop();
    await Promise.all([this.#reading, this.#scanning]);
  }

  #newContext(): AccountContext {
    const { store, log, logger, ownership, meter = NO_CONSUMER_METER, tracer = NO_TRACER } = this.#options;
    return {
      kinds: this.#kinds,
      mailboxes: this.#options.mailboxes(),
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
    if (this.#isStopped || this.#makingRoom !== undefined) return;
    this.#makingRoom = setTimeout(() => this.#endIdle(), ROOM_MS).unref();
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
    clearTimeout(this.#makingRoom);
    this.#makingRoom = undefined;
    const { idleMs = IDLE_MS } = this.#options;
    const most = this.#waiting.size > 0 ? 0 : idleMs;
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
    clearTimeout(this.#retries.get(accountId)?.timer);
    this.#retries.delete(accountId);
  }

  /** Sets one timer per account, for the consumer that is due first; the look that it causes finds the others. */
  #retryAt(accountId: string, at: number): void {
    const before = this.#retries.get(accountId);
    if (this.#isStopped || (before !== undefined && before.at <= at)) return;
    if (before === undefined && this.#retries.size >= MOST_TIMERS) return;
    clearTimeout(before?.timer);
    const due = () => {
      this.#retries.delete(accountId);
      this.#lookAt(accountId);
    };
    this.#retries.set(accountId, { at, timer: setTimeout(due, Math.max(0, at - clock.now())).unref() });
  }

  /** Reads which accounts of new shards have consumers, and wakes those that are behind. */
  #readAccounts(): void {
    if (this.#context === undefined || this.#unread.size === 0) return;
    this.#reading ??= this.#readWhileUnread();
  }

  async #readWhileUnread(): Promise<void> {
    while (this.#unread.size > 0 && !this.#isStopped) {
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
        this.#options.logger.warn({ err }, 'accounts with consumers could not be read');
        for (const shard of shards) this.#unread.add(shard);
        await pause(TROUBLE_MS);
      }
    }
    this.#reading = undefined;
  }

  /** Finds accounts that notices and timers have missed. */
  #scan(): void {
    const { owned } = this.#options.ownership;
    if (owned.length === 0) return;
    this.#scanning ??= this.#wakeBehind(owned)
      .catch((err) => this.#options.logger.warn({ err }, 'consumers that are behind could not be looked for'))
      .finally(() => {
        this.#scanning = undefined;
      });
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
