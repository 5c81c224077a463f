// Counts the results of DMARC at MX for the daily reports (RFC 7489 §7.2), in memory, and writes them together every few seconds: a message
// waits for nothing. A crash loses the counts of these seconds, and a domain or a flood beyond the bounds is counted in part.
import type { Logger } from 'pino';
import type { OwnReportStore } from '../../../store/feedback/own-reports.js';
import type { DmarcCounts } from '../../dmarc-check.js';
import { ownerDomain } from '../owner-domain.js';

interface DmarcTallyOptions {
  readonly store: Pick<OwnReportStore, 'add'>;
  /** ms since the epoch. */
  now(): number;
  readonly log: Pick<Logger, 'warn'>;
}

const FLUSH_MS = 10_000;
/** Results between two writes, of all domains and of one owner. */
const MOST = 10_000;
const MOST_OF_OWNER = 1_000;

type Count = Parameters<OwnReportStore['add']>[0][number];

export class DmarcTally implements DmarcCounts {
  readonly #options: DmarcTallyOptions;
  #counts = new Map<string, { count: Omit<Count, 'messages'>; messages: number }>();
  #byOwner = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #write: Promise<void> = Promise.resolve();

  constructor(options: DmarcTallyOptions) {
    this.#options = options;
  }

  add(...[evaluation, disposition, remoteAddress]: Parameters<DmarcCounts['add']>): void {
    const { policyDomain: domain, author, dkim, spf, results } = evaluation;
    const day = new Date(this.#options.now()).toISOString().slice(0, 10);
    const source = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '');
    const count = { domain, day, result: { source, disposition, dkim, spf, author, results } };
    const key = JSON.stringify(count);
    const known = this.#counts.get(key);
    if (known !== undefined) {
      known.messages++;
      return;
    }
    const owner = ownerDomain(domain);
    const ofOwner = this.#byOwner.get(owner) ?? 0;
    if (this.#counts.size >= MOST || ofOwner >= MOST_OF_OWNER) return;
    this.#byOwner.set(owner, ofOwner + 1);
    this.#counts.set(key, { count, messages: 1 });
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  /** Writes what is counted. */
  async close(): Promise<void> {
    this.#flush();
    await this.#write;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = [...this.#counts.values()].map(({ count, messages }) => ({ ...count, messages }));
    this.#counts = new Map();
    this.#byOwner = new Map();
    if (counts.length === 0) return;
    const { store, log } = this.#options;
    this.#write = store.add(counts).catch((error: unknown) => {
      log.warn({ err: error, count: counts.length }, 'results of DMARC are not counted for reports');
    });
  }
}
