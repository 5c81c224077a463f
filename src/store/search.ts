// Port: the words of emails, for search. Filled after the fact and in the order of the ids; rows of an email that
// was deleted do no harm: the mailbox leaves out ids that it does not have.
import type { SearchTerm } from '../mail/search-text.js';

/** An email that is not yet searchable. */
export interface UnindexedEmail {
  readonly accountId: string;
  readonly id: string;
  /** SHA-256 of the raw message. */
  readonly blob: string;
  /** Octets of the raw message. */
  readonly size: number;
  readonly fromAddress: string;
  readonly fromName: string;
  readonly subject: string;
}

/** Words as `mail/search-text` gives them, in order. */
export interface IndexedWords {
  readonly subject: readonly string[];
  readonly sender: readonly string[];
  readonly recipients: readonly string[];
  readonly attachments: readonly string[];
  readonly body: readonly string[];
}

export interface EmailWords extends IndexedWords {
  readonly accountId: string;
  readonly id: string;
}

/** Of an email: everything that is indexed, or its body with the names of attachments. */
export const SEARCH_PARTS = ['text', 'body'] as const;
export type SearchPart = (typeof SEARCH_PARTS)[number];

/** Words that stand for their beginnings, which the index takes several times as long to find. */
export interface WordCompletions {
  /** By beginning: an email up to `upto` has one of these words when it has any that begins so. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  readonly upto: string;
}

export interface SearchStore {
  /** Emails of the accounts that are not yet searchable, at most `limit` of each: account by account, ids ascending. */
  unindexed(accountIds: readonly string[], limit: number): Promise<readonly UnindexedEmail[]>;
  /** Emails whose words are of an earlier version of the index, ids ascending. */
  outdated(accountId: string, limit: number): Promise<readonly UnindexedEmail[]>;
  /** Accounts that have such emails, ids ascending, after `after`. */
  outdatedAccounts(after: string, limit: number): Promise<readonly string[]>;
  /**
   * Makes emails of a page of `unindexed` or `outdated` searchable, in its order: of each account up to its last id among
   * them. Doing it twice, or two at once, does no harm. Returns the accounts of which nothing was stored, because they are
   * being deleted or are gone: the statement does not wait for a deletion to end.
   */
  put(emails: readonly EmailWords[]): Promise<readonly string[]>;
  /**
   * Ids of emails in this part of which every term matches, 16 octets each, in no particular order; some may be gone. After
   * `after` when given, one by one: meant for few. `completions` change nothing but the time that it takes.
   */
  matches(
    accountId: string,
    terms: readonly SearchTerm[],
    part: SearchPart,
    after?: string,
    completions?: WordCompletions,
  ): Promise<Uint8Array>;
  /** Some words that begin so, of emails that have none of `known`. None when there is no such email. */
  completions(accountId: string, beginning: string, known: readonly string[]): Promise<readonly string[]>;
}
