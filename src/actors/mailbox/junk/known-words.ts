// The words of the accounts of a node, and the common bases of their domains, read from the store when mail arrives, and kept for a while: a
// verdict reads nothing. Accounts without words, and domains without a base, are remembered too. Whoever learns on this node puts the new
// words here; another node has them when it reads them again.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { CoalescedReads } from '../../../concurrency/coalesced-reads.js';
import { canJudge, type JudgingWords } from '../../../mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../../mail-format/junk/junk-words.js';
import type { JunkBaseStore } from '../../../store/feedback/junk-bases.js';
import type { AccountJunkWords, JunkLessonStore } from '../../../store/feedback/junk-lessons.js';
import type { AccountWords } from './mailbox-junk.js';

/** Memory for the words of all accounts, and for the bases of all domains. An account or a base takes up to 1 MB. */
const MOST_OCTETS = 64 * 1024 * 1024;
const MOST_OF_BASES = 32 * 1024 * 1024;
const ENTRY_OCTETS = 200;
const KEPT_MS = 10 * 60_000;
/** The key of the reads: each is for all accounts that want their words. */
const ALL = 'all';

interface Known {
  readonly words: JunkWords | undefined;
}

interface KnownAccount extends Known {
  /** Null for an unclaimed mailbox, which has no base. */
  readonly domain: string | null;
}

const lru = <T extends Known>(maxSize: number) =>
  new LRUCache<string, T>({
    maxSize,
    sizeCalculation: ({ words }) => ENTRY_OCTETS + (words?.octets ?? 0),
    ttl: KEPT_MS,
  });

export class KnownWords implements AccountWords {
  readonly #store: Pick<JunkLessonStore, 'words'> & Pick<JunkBaseStore, 'bases'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #accounts = lru<KnownAccount>(MOST_OCTETS);
  readonly #bases = lru<Known>(MOST_OF_BASES);
  /** Counts the words that were put while others were read. */
  #puts = 0;
  /** The accounts of the next read. */
  readonly #wanted = new Set<string>();
  readonly #reads: CoalescedReads<Read>;

  constructor(store: Pick<JunkLessonStore, 'words'> & Pick<JunkBaseStore, 'bases'>, log: Pick<Logger, 'warn'>) {
    this.#store = store;
    this.#log = log;
    this.#reads = new CoalescedReads(() => this.#readWanted());
  }

  of(accountId: string): JudgingWords | undefined | Promise<JudgingWords | undefined> {
    const known = this.#accounts.get(accountId);
    if (known === undefined) return this.#read(accountId);
    const base = known.domain === null ? undefined : this.#bases.get(known.domain);
    if (known.domain !== null && base === undefined) return this.#read(accountId);
    return judging({ own: known.words, base: base?.words });
  }

  /** `stored`: what the account has learnt now. */
  put(accountId: string, stored: Uint8Array): void {
    this.#puts++;
    const known = this.#accounts.get(accountId);
    if (known !== undefined) this.#accounts.set(accountId, { ...known, words: JunkWords.from(stored) });
  }

  async #read(accountId: string): Promise<JudgingWords | undefined> {
    const puts = this.#puts;
    try {
      this.#wanted.add(accountId);
      const { accounts, bases } = await this.#reads.of(ALL);
      const { words, domain } = accounts.get(accountId) ?? { words: null, domain: null };
      const own = words === null ? undefined : JunkWords.from(words);
      if (puts === this.#puts) this.#accounts.set(accountId, { words: own, domain });
      return judging({ own, base: domain === null ? undefined : bases.get(domain) });
    } catch (err) {
      this.#log.warn({ accountId, err }, 'mail is not judged by its words, because they could not be read');
      return undefined;
    }
  }

  async #readWanted(): Promise<Read> {
    const accountIds = [...this.#wanted];
    this.#wanted.clear();
    const accounts = await this.#store.words(accountIds);
    const domains = [...new Set([...accounts.values()].flatMap(({ domain }) => domain ?? []))];
    const bases = new Map<string, JunkWords | undefined>();
    const unknown: string[] = [];
    for (const domain of domains) {
      const known = this.#bases.get(domain);
      if (known === undefined) unknown.push(domain);
      else bases.set(domain, known.words);
    }
    const stored = unknown.length === 0 ? new Map<string, Uint8Array>() : await this.#store.bases(unknown);
    for (const domain of unknown) {
      const words = this.#readable(domain, stored.get(domain));
      this.#bases.set(domain, { words });
      bases.set(domain, words);
    }
    return { accounts, bases };
  }

  /** A base that cannot be read is none: mail of accounts that have taught enough is judged without it. */
  #readable(domain: string, stored: Uint8Array | undefined): JunkWords | undefined {
    try {
      return stored && JunkWords.from(stored);
    } catch (err) {
      this.#log.warn({ domain, err }, 'the common base of the junk filter could not be read');
      return undefined;
    }
  }
}

interface Read {
  readonly accounts: ReadonlyMap<string, AccountJunkWords>;
  /** The keys are domains. */
  readonly bases: ReadonlyMap<string, JunkWords | undefined>;
}

const judging = (words: JudgingWords): JudgingWords | undefined => (canJudge(words) ? words : undefined);
