// The consumers of one account that run on this node. Reads the rows of the account, starts the consumers that are due, and stops those
// that were deleted or whose position was changed in the store.
import type { Logger } from 'pino';
import { pause } from '../../concurrency/time-bounds.js';
import type { ConsumerPosition } from '../../store/consumers.js';
import type { DurableConsumers } from './protocol.js';
import { type ConsumerContext, type ConsumerEnd, RunningConsumer } from './running-consumer.js';

const TROUBLE_MS = 1_000;

export interface AccountContext extends ConsumerContext {
  readonly kinds: readonly DurableConsumers[];
  readonly logger: Logger;
  /** Runs reads of rows, a few at a time. */
  reading<T>(accountId: string, read: () => Promise<T>): Promise<T>;
  /** Requests that the account is looked at again; `at`: ms since the epoch. */
  retryAt(accountId: string, at: number): void;
  /** Reports that the account has no consumers. */
  empty(accountId: string): void;
  /** Reports that no consumer of the account runs any more. */
  ended(account: AccountConsumers): void;
}

export class AccountConsumers {
  readonly accountId: string;
  readonly #context: AccountContext;
  readonly #running = new Map<string, RunningConsumer>();
  #looking: Promise<void> | undefined;
  #isLookRequested = false;
  #isOver = false;

  constructor(accountId: string, context: AccountContext) {
    this.accountId = accountId;
    this.#context = context;
    this.look();
  }

  get running(): number {
    return this.#running.size;
  }

  /** The time in ms for which no consumer has had work. */
  get idleMs(): number {
    if (this.#looking !== undefined) return 0;
    return Math.min(...[...this.#running.values()].map(({ idleMs }) => idleMs));
  }

  /** Reads the rows again, after a reading that is in progress. */
  look(): void {
    this.#isLookRequested = true;
    this.#looking ??= this.#lookWhileRequested();
  }

  /** Starts nothing more; resolves when the running deliveries are over and the positions are stored. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#running.values()].map((consumer) => consumer.stop()));
  }

  async #lookWhileRequested(): Promise<void> {
    while (this.#isLookRequested && !this.#isOver) {
      this.#isLookRequested = false;
      try {
        await this.#lookOnce();
      } catch (err) {
        this.#context.logger.warn({ accountId: this.accountId, err }, 'consumers could not be read');
        this.#isLookRequested = true;
        await pause(TROUBLE_MS);
        if (!this.#context.owns(this.accountId)) break;
      }
    }
    this.#looking = undefined;
    this.#endIfDone();
  }

  async #lookOnce(): Promise<void> {
    const { kinds, store, reading } = this.#context;
    const stored = new Map([...this.#running].map(([id, { stored }]) => [id, stored]));
    let found = 0;
    const gone = new Map(this.#running);
    for (const kind of kinds) {
      const rows = await reading(this.accountId, () => store.of(kind.kind, this.accountId));
      if (this.#isOver) return;
      found += rows.length;
      for (const row of rows) {
        gone.delete(row.id);
        const running = this.#running.get(row.id);
        // The consumer has ended since the row was read, so the row may be outdated; another look follows when it is due.
        if (running === undefined && stored.has(row.id)) continue;
        const isMoved = running !== undefined && isOtherPosition(running, stored.get(row.id), row);
        if (isMoved) await this.#stop(running);
        if (running === undefined || isMoved) this.#start(kind, row);
      }
    }
    for (const consumer of gone.values()) if (stored.has(consumer.id)) await this.#stop(consumer);
    if (found === 0 && !this.#isLookRequested) this.#context.empty(this.accountId);
  }

  #start(kind: DurableConsumers, row: ConsumerPosition): void {
    const { retryAt, owns } = this.#context;
    if (row.retryAt !== null) retryAt(this.accountId, row.retryAt);
    if (row.retryAt !== null || this.#isOver || !owns(this.accountId)) return;
    const { id } = row;
    this.#running.set(id, new RunningConsumer(kind, row, this.#context, (end) => this.#consumerEnded(id, end)));
  }

  async #stop(consumer: RunningConsumer): Promise<void> {
    this.#running.delete(consumer.id);
    await consumer.stop();
  }

  #consumerEnded(id: string, end: ConsumerEnd): void {
    if (this.#isOver) return;
    this.#running.delete(id);
    if (end === 'moved') this.look();
    else if (end !== 'gone') this.#context.retryAt(this.accountId, end.retryAt);
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#isOver || this.#looking !== undefined || this.#running.size > 0) return;
    this.#isOver = true;
    this.#context.ended(this);
  }
}

/** Another position was stored by somebody else. If the consumer itself updates the row, it notices a conflict then. */
function isOtherPosition(running: RunningConsumer, before: number | undefined, row: ConsumerPosition): boolean {
  return before !== undefined && running.stored === before && row.seq !== before;
}
