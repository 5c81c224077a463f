// The words of the accounts of a node, read from the store when mail arrives, and kept for a while: a verdict reads nothing. Accounts without
// words are remembered too. Whoever learns on this node puts the new words here; another node has them when it reads them again.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { CoalescedReads } from '../../../concurrency/coalesced-reads.js';
import { isReady } from '../../../mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../../mail-format/junk/junk-words.js';
import type { JunkLessonStore } from '../../../store/feedback/junk-lessons.js';
import type { AccountWords } from './mailbox-junk.js';

/** Memory for the words of all accounts. An account takes up to 1 MB. */
const MOST_OCTETS = 64 * 1024 * 1024;
const ENTRY_OCTETS = 200;
const KEPT_MS = 10 * 60_000;
/** The key of the reads: each is for all accounts that want their words. */
const ALL = 'all';

interface Known {
  readonly words: JunkWords | undefined;
}

export class KnownWords implements AccountWords {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #known = new LRUCache<string, Known>({
    maxSize: MOST_OCTETS,
    sizeCalculation: ({ words }) => ENTRY_OCTETS + (words?.octets ?? 0),
    ttl: KEPT_MS,
  });
  /** Counts the words that were put while others were read. */
  #puts = 0;
  /** The accounts of the next read. */
  readonly #wanted = new Set<string>();
  readonly #reads: CoalescedReads<ReadonlyMap<string, Uint8Array>>;

  constructor(store: Pick<JunkLessonStore, 'words'>, log: Pick<Logger, 'warn'>) {
    this.#log = log;
    this.#reads = new CoalescedReads(() => {
      const accountIds = [...this.#wanted];
      this.#wanted.clear();
      return store.words(accountIds);
    });
  }

  of(accountId: string): JunkWords | undefined | Promise<JunkWords | undefined> {
    const known = this.#known.get(accountId);
    return known === undefined ? this.#read(accountId) : known.words;
  }

  /** `stored`: what the account has learnt now. */
  put(accountId: string, stored: Uint8Array): void {
    this.#puts++;
    this.#known.set(accountId, { words: readyWords(stored) });
  }

  async #read(accountId: string): Promise<JunkWords | undefined> {
    const puts = this.#puts;
    try {
      this.#wanted.add(accountId);
      const stored = (await this.#reads.of(ALL)).get(accountId);
      const words = stored === undefined || stored.length === 0 ? undefined : readyWords(stored);
      if (puts === this.#puts) this.#known.set(accountId, { words });
      return words;
    } catch (err) {
      this.#log.warn({ accountId, err }, 'mail is not judged by its words, because they could not be read');
      return undefined;
    }
  }
}

function readyWords(stored: Uint8Array): JunkWords | undefined {
  const words = JunkWords.from(stored);
  return isReady(words) ? words : undefined;
}
