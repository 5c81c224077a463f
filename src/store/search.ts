// Port: the words of emails, for search. Filled after the fact and in the order of the ids; rows of an email that
// was deleted do no harm: the mailbox leaves out ids that it does not have.
import type { SearchTerm } from '../mail/search-text.js';

/** An email that is not yet searchable. */
export interface UnindexedEmail {
  readonly id: string;
  /** SHA-256 of the raw message. */
  readonly blob: string;
  readonly fromAddress: string;
  readonly fromName: string;
  readonly subject: string;
}

/** Words as `mail/search-text` gives them, in order. */
export interface EmailWords {
  readonly id: string;
  readonly subject: readonly string[];
  readonly sender: readonly string[];
  readonly recipients: readonly string[];
  readonly attachments: readonly string[];
  readonly body: readonly string[];
}

/** Of an email: everything that is indexed, or its body with the names of attachments. */
export const SEARCH_PARTS = ['text', 'body'] as const;
export type SearchPart = (typeof SEARCH_PARTS)[number];

export interface SearchStore {
  /** Emails that are not yet searchable, ids ascending; none when all are. */
  unindexed(accountId: string, limit: number): Promise<readonly UnindexedEmail[]>;
  /** Emails whose words are of an earlier version of the index, ids ascending. */
  outdated(accountId: string, limit: number): Promise<readonly UnindexedEmail[]>;
  /** Accounts that have such emails, ids ascending, after `after`. */
  outdatedAccounts(after: string, limit: number): Promise<readonly string[]>;
  /** Makes a page of `unindexed` or `outdated` searchable, its last id included. Doing it twice, or two at once, does no harm. */
  put(accountId: string, emails: readonly EmailWords[]): Promise<void>;
  /**
   * Ids of emails in this part of which every term matches, 16 octets each, in no particular order; some may be gone. After
   * `after` when given, one by one: meant for few.
   */
  matches(accountId: string, terms: readonly SearchTerm[], part: SearchPart, after?: string): Promise<Uint8Array>;
}
