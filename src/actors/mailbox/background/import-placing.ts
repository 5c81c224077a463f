// Turns imported rows in the store into emails. The node that owns the account's shard does this, hundreds of rows per commit. Only one
// such command of an account runs at a time, so a new delivery waits for one command at most.
import type { Logger } from 'pino';
import { type WorkAttempt, WorkQueue } from '../../../concurrency/work-queue.js';
import type { ImportStore, PendingImport } from '../../../store/imports.js';
import { ActorFault } from '../../runtime/errors.js';
import type { Ownership } from '../../runtime/ownership/ownership.js';
import type { Mailboxes } from '../protocol.js';

/** The rows of one command: a commit of this size delays other mail no longer than a group of deliveries does. */
const BATCH = 200;
const ACCOUNTS_AT_ONCE = 4;
/** The most accounts that wait; the next look finds further ones. */
const MOST_ACCOUNTS = 10_000;
/** The pages of an account before other accounts get a turn: while an import adds rows, its account has no last page. */
const PAGES_IN_A_ROW = 10;
/** The most rows that are remembered as failed, so that each is logged once. */
const MOST_SET_ASIDE = 10_000;
/** The time after which the store is asked again when mail was placed: the import may still be running. */
const BUSY_MS = 50;
/** The key of the look for accounts. */
const LOOK = 'look';

export interface ImportPlacingOptions {
  readonly imports: Pick<ImportStore, 'accounts' | 'next'>;
  readonly mailboxes: Mailboxes;
  readonly ownership: Pick<Ownership, 'owned'>;
  readonly log: Logger;
  /** How often the store is asked, in ms. */
  readonly intervalMs: number;
}

export interface ImportPlacing {
  /** Emails placed since the start. */
  readonly placed: number;
  stop(): Promise<void>;
}

export function startImportPlacing(options: ImportPlacingOptions): ImportPlacing {
  return new Placing(options);
}

class Placing implements ImportPlacing {
  readonly #imports: Pick<ImportStore, 'accounts' | 'next'>;
  readonly #mailboxes: Mailboxes;
  readonly #log: Logger;
  #placed = 0;
  /** Failed rows that were logged. */
  readonly #setAside = new Set<string>();
  readonly #accounts: WorkQueue;
  readonly #looks: WorkQueue;

  constructor(options: ImportPlacingOptions) {
    const { imports, mailboxes, ownership, log, intervalMs } = options;
    this.#imports = imports;
    this.#mailboxes = mailboxes;
    this.#log = log;
    const backoff = { firstMs: intervalMs };
    this.#accounts = new WorkQueue({
      work: (accountId, signal) => this.#placeAll(accountId, signal),
      failed: (accountId, error) => this.#log.warn({ accountId, err: error }, 'imported mail is still waiting'),
      // The next look finds the account again, if it is still on this node.
      isTemporary: () => false,
      workers: ACCOUNTS_AT_ONCE,
      most: MOST_ACCOUNTS,
      backoff,
    });
    this.#looks = new WorkQueue({
      work: async () => {
        if (ownership.owned.length > 0) {
          // An account that waits or runs is not added again: it would run again without a pause.
          for (const id of await this.#imports.accounts(ownership.owned))
            if (!this.#accounts.has(id)) this.#accounts.add(id);
        }
        return intervalMs;
      },
      failed: (_, error) => this.#log.warn({ err: error }, 'imported mail could not be looked for'),
      most: 1,
      backoff,
    });
    this.#looks.add(LOOK);
  }

  get placed() {
    return this.#placed;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#looks.stop(), this.#accounts.stop()]);
  }

  /** Returns how many of these rows became emails. A row that the mailbox cannot accept does not block the others. */
  async #place(accountId: string, page: readonly PendingImport[]): Promise<number> {
    try {
      const { reply } = await this.#mailboxes.of(accountId).ask('placeImported', { messages: page.map(messageOf) });
      this.#placed += reply?.placed ?? 0;
      return reply?.placed ?? 0;
    } catch (error) {
      if (!(error instanceof ActorFault) || error.code !== 'failed') throw error;
      if (page.length === 1) {
        this.#leave(accountId, page[0]!, error);
        return 0;
      }
      const middle = page.length >> 1;
      return (await this.#place(accountId, page.slice(0, middle))) + (await this.#place(accountId, page.slice(middle)));
    }
  }

  /** Logs a failed row once. The row stays in the store, and every pass tries it again. */
  #leave(accountId: string, { id, envelope: { folder } }: PendingImport, error: ActorFault): void {
    if (this.#setAside.has(id) || this.#setAside.size >= MOST_SET_ASIDE) return;
    this.#setAside.add(id);
    this.#log.error({ accountId, inboundId: id, folder, err: error }, 'an imported message cannot be placed');
  }

  async #placeAll(accountId: string, { signal }: WorkAttempt): Promise<undefined> {
    let count = 0;
    try {
      let page = await this.#imports.next(accountId, 0, BATCH);
      for (let pages = 0; page.length > 0 && !signal.aborted && pages < PAGES_IN_A_ROW; pages++) {
        const last = page.at(-1)!.number;
        // The next page is read while this one is placed.
        const [own, following] = await Promise.all([
          this.#place(accountId, page),
          this.#imports.next(accountId, last, BATCH),
        ]);
        count += own;
        // A page of rows that all fail does not count, so that the rows behind them are placed too.
        if (own === 0) pages--;
        page = following;
      }
    } finally {
      if (count > 0) {
        this.#log.info({ accountId, placed: count }, 'imported mail placed');
        this.#looks.addAfter(LOOK, BUSY_MS);
      }
    }
  }
}

function messageOf({ id: inboundId, blob, envelope }: PendingImport) {
  const { summary, receivedAt, folder, label, flags } = envelope;
  return { inboundId, blob, summary, receivedAt, folder, ...(label !== undefined && { label }), flags: [...flags] };
}
