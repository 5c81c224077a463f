// Turns imported rows in the store into emails. The node that owns the account's shard does this, hundreds of rows per commit. Only one
// such command of an account runs at a time, so a new delivery waits for one command at most.
import type { Logger } from 'pino';
import type { ImportStore, PendingImport } from '../../store/imports.js';
import { ActorFault } from '../runtime/errors.js';
import type { Ownership } from '../runtime/ownership.js';
import type { Mailboxes } from './protocol.js';

/** The rows of one command: a commit of this size delays other mail no longer than a group of deliveries does. */
const BATCH = 200;
const ACCOUNTS_AT_ONCE = 4;
/** The pages of an account before other accounts get a turn: while an import adds rows, its account has no last page. */
const PAGES_IN_A_ROW = 10;
/** The most rows that are remembered as failed, so that each is logged once. */
const MOST_SET_ASIDE = 10_000;
/** The pause after a pass that placed mail: the import may still be running. */
const BUSY_MS = 50;

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
  const { imports, mailboxes, ownership, log, intervalMs } = options;
  let placed = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  /** Failed rows that were logged. */
  const setAside = new Set<string>();

  /** Returns how many of these rows became emails. A row that the mailbox cannot accept does not block the others. */
  async function place(accountId: string, page: readonly PendingImport[]): Promise<number> {
    try {
      const { reply } = await mailboxes.of(accountId).ask('placeImported', { messages: page.map(messageOf) });
      placed += reply?.placed ?? 0;
      return reply?.placed ?? 0;
    } catch (error) {
      if (!(error instanceof ActorFault) || error.code !== 'failed') throw error;
      if (page.length === 1) {
        leave(accountId, page[0]!, error);
        return 0;
      }
      const middle = page.length >> 1;
      return (await place(accountId, page.slice(0, middle))) + (await place(accountId, page.slice(middle)));
    }
  }

  /** Logs a failed row once. The row stays in the store, and every pass tries it again. */
  function leave(accountId: string, { id, envelope: { folder } }: PendingImport, error: ActorFault): void {
    if (setAside.has(id) || setAside.size >= MOST_SET_ASIDE) return;
    setAside.add(id);
    log.error({ accountId, inboundId: id, folder, err: error }, 'an imported message cannot be placed');
  }

  async function placeAll(accountId: string): Promise<void> {
    let count = 0;
    try {
      let page = await imports.next(accountId, 0, BATCH);
      for (let pages = 0; page.length > 0 && !isStopped && pages < PAGES_IN_A_ROW; pages++) {
        const last = page.at(-1)!.number;
        // The next page is read while this one is placed.
        const [own, following] = await Promise.all([place(accountId, page), imports.next(accountId, last, BATCH)]);
        count += own;
        // A page of rows that all fail does not count, so that the rows behind them are placed too.
        if (own === 0) pages--;
        page = following;
      }
    } catch (error) {
      log.warn({ accountId, err: error }, 'imported mail is still waiting');
    }
    if (count > 0) log.info({ accountId, placed: count }, 'imported mail placed');
  }

  async function pass(): Promise<void> {
    if (ownership.owned.length === 0) return;
    const accounts = [...(await imports.accounts(ownership.owned))];
    const work = async () => {
      for (let id = accounts.shift(); id !== undefined && !isStopped; id = accounts.shift()) await placeAll(id);
    };
    await Promise.all(Array.from({ length: ACCOUNTS_AT_ONCE }, work));
  }

  async function look(): Promise<void> {
    const before = placed;
    try {
      await pass();
    } catch (error) {
      log.warn({ err: error }, 'imported mail could not be looked for');
    }
    if (!isStopped) timer = setTimeout(next, placed > before ? BUSY_MS : intervalMs);
  }

  let looking: Promise<void>;
  function next(): void {
    looking = look();
  }
  next();
  return {
    get placed() {
      return placed;
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

function messageOf({ id: inboundId, blob, envelope }: PendingImport) {
  const { summary, receivedAt, folder, label, flags } = envelope;
  return { inboundId, blob, summary, receivedAt, folder, ...(label !== undefined && { label }), flags: [...flags] };
}
