// A cache of encoded contents of the messages that details showed recently: a content does not change while the email exists. The mailbox
// is asked for the email first, so nothing is shown to others, or after the email is deleted.
import { LRUCache } from 'lru-cache';
import { type BudgetedCache, CacheBudget } from '../../../../concurrency/cache-budget.js';

const NODE_OCTETS = 32 * 1024 * 1024;
const ACCOUNT_OCTETS = 2 * 1024 * 1024;
/** Longer texts are not cached. */
const LONGEST = 64 * 1024;
/** The overhead of an entry, and of an account without entries. */
const ENTRY_OCTETS = 400;
const EMPTY_OCTETS = 4_000;

export interface EncodedContent {
  /** The text of a JSON object. */
  readonly text: string;
  /** The number of characters of both bodies. */
  readonly characters: number;
}

interface Message {
  /** The id of the email. */
  readonly id: string;
  readonly blob: string;
}

class AccountContents implements BudgetedCache {
  readonly name: string;
  readonly contents = new LRUCache<string, EncodedContent>({
    maxSize: ACCOUNT_OCTETS,
    sizeCalculation: ({ text }) => ENTRY_OCTETS + text.length * 2,
  });

  constructor(accountId: string) {
    this.name = accountId;
  }

  get octets(): number {
    return EMPTY_OCTETS + this.contents.calculatedSize;
  }

  clear(): void {
    this.contents.clear();
  }
}

export class EncodedContents {
  readonly #budget: CacheBudget<AccountContents>;

  constructor(octets = NODE_OCTETS) {
    this.#budget = new CacheBudget(octets);
  }

  get octets(): number {
    return this.#budget.octets;
  }

  of(accountId: string, { id, blob }: Message): EncodedContent | undefined {
    const account = this.#budget.cache(accountId);
    const content = account?.contents.get(`${id}/${blob}`);
    if (account !== undefined && content !== undefined) this.#budget.use(account);
    return content;
  }

  keep(accountId: string, { id, blob }: Message, content: EncodedContent): void {
    if (content.text.length > LONGEST) return;
    const account = this.#budget.cache(accountId) ?? new AccountContents(accountId);
    account.contents.set(`${id}/${blob}`, content);
    this.#budget.use(account);
  }
}
