// Counts results for the daily reports in memory, and writes them together every few seconds: a message waits for nothing. A crash loses the
// counts of these seconds, and a domain or a flood beyond the bounds is counted in part.
import type { Logger } from 'pino';
import { ownerDomain } from '../owner-domain.js';

interface CountTallyOptions<T> {
  /** Adds each result as often as it was counted. */
  write(counts: readonly { readonly result: T; readonly times: number }[]): Promise<void>;
  /** The line of the log for counts that could not be written. */
  readonly lost: string;
  readonly log: Pick<Logger, 'warn'>;
}

const FLUSH_MS = 10_000;
/** Results between two writes, of all domains and of one owner. */
const MOST = 10_000;
const MOST_OF_OWNER = 1_000;
/** Those of one network of senders and one owner. */
const MOST_OF_NETWORK = 100;

/** Results are the same when their JSON is. */
export class CountTally<T extends { readonly domain: string; readonly network?: string }> {
  readonly #options: CountTallyOptions<T>;
  #counts = new Map<string, { readonly result: T; times: number }>();
  #byOwner = new Map<string, number>();
  /** The keys are a network and an owner. */
  #byNetwork = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #write: Promise<void> = Promise.resolve();

  constructor(options: CountTallyOptions<T>) {
    this.#options = options;
  }

  add(result: T): void {
    const key = JSON.stringify(result);
    const known = this.#counts.get(key);
    if (known !== undefined) {
      known.times++;
      return;
    }
    const owner = ownerDomain(result.domain);
    const ofOwner = this.#byOwner.get(owner) ?? 0;
    const share = result.network === undefined ? undefined : `${result.network} ${owner}`;
    const ofNetwork = share === undefined ? 0 : (this.#byNetwork.get(share) ?? 0);
    if (this.#counts.size >= MOST || ofOwner >= MOST_OF_OWNER || ofNetwork >= MOST_OF_NETWORK) return;
    if (share !== undefined) this.#byNetwork.set(share, ofNetwork + 1);
    this.#byOwner.set(owner, ofOwner + 1);
    this.#counts.set(key, { result, times: 1 });
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
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    this.#byOwner = new Map();
    this.#byNetwork = new Map();
    if (counts.length === 0) return;
    const { write, lost, log } = this.#options;
    const written = write(counts).catch((error: unknown) => log.warn({ err: error, count: counts.length }, lost));
    this.#write = Promise.all([this.#write, written]).then(() => {});
  }
}

/** The day in UTC of a time in ms since the epoch, as `2026-11-29`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
