// Makes the common bases of the junk filter (decision 0111): each domain in which several accounts have taught gets one, and gets it again
// once a day. Nodes may make the same one at the same time: both write what the words of the accounts say.
import type { Logger } from 'pino';
import { PacedYield } from '../../../concurrency/paced-yield.js';
import { WorkQueue } from '../../../concurrency/work-queue.js';
import { domainWords } from '../../../mail-format/junk/domain-words.js';
import type { JunkBaseStore } from '../../../store/feedback/junk-bases.js';

/** The accounts of which a base is made. Their words take up to 20 MB while it is made. */
const MOST_ACCOUNTS = 50;
/** Domains that are looked for at a time. */
const DOMAINS = 20;
const RETRY_MS = 60_000;

export interface JunkBasesOptions {
  readonly store: Pick<JunkBaseStore, 'domainsDue' | 'wordsOfDomain' | 'putBase'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** How often domains are looked for; the first time is the start. */
  readonly intervalMs: number;
}

export function startJunkBases({ store, log, intervalMs }: JunkBasesOptions): { stop(): Promise<void> } {
  const paced = new PacedYield();

  async function make(domain: string): Promise<void> {
    const taught = await store.wordsOfDomain(domain, MOST_ACCOUNTS);
    const base = await domainWords(taught, () => paced.yield());
    await store.putBase(domain, base?.stored());
    if (base !== undefined) log.info({ domain, accounts: taught.length }, 'the junk filter has a common base');
  }

  const queue = new WorkQueue({
    async work(_, { signal }) {
      const due = await store.domainsDue(DOMAINS);
      for (const domain of due) {
        if (signal.aborted) return undefined;
        await make(domain);
      }
      return due.length < DOMAINS ? intervalMs : 0;
    },
    failed: (_, err) => log.warn({ err }, 'common bases of the junk filter could not be made'),
    most: 1,
    backoff: { firstMs: RETRY_MS },
  });
  queue.add('bases');
  return { stop: () => queue.stop() };
}
