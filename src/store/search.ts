// Port: the words of emails, for search. They are added later, in the order of the ids; rows of a deleted email do no harm,
// because the mailbox leaves out ids that it does not have.
import type { SearchField, SearchTerm } from '../mail-format/words/search-text.js';

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

/** The searchable texts of an email: text, or its octets in valid UTF-8, which nobody changes. */
export interface IndexedTexts {
  readonly subject: string;
  readonly sender: string;
  readonly recipients: string;
  readonly attachments: string;
  readonly body: string | Buffer;
}

export interface IndexedEmail {
  readonly accountId: string;
  readonly id: string;
  /** Emails of one message share this object: their words are split and written once. */
  readonly texts: IndexedTexts;
}

/** The searched part of an email: everything that is indexed, or its body with the names of attachments. */
export const SEARCH_PARTS = ['text', 'body'] as const;
export type SearchPart = (typeof SEARCH_PARTS)[number];

/** Emails in which the terms match. */
export interface FoundEmails {
  /** 16 octets each, without duplicates, in no particular order; some emails may be gone. */
  readonly ids: Uint8Array;
  /** Segments of the account's index that were searched; a merge reduces them and makes searches faster. */
  readonly segments: number;
}

/**
 * The search is too large: the positions of its words in all emails exceed the memory of a search. Rarer words can be searched.
 */
export class SearchTooLarge extends Error {
  constructor(what: string) {
    super(`${what} of a search take too much memory`);
    this.name = new.target.name;
  }
}

export interface MergeOptions {
  /**
   * How many emails the mailbox has. When its segments have a quarter more, or any while it has none, all segments are merged
   * into one: until then, the words of deleted emails remain.
   */
  readonly live?: number;
  /** A merge that is aborted leaves the index unchanged. */
  readonly signal: AbortSignal;
}

export interface MergeOutcome {
  /** Segments that were merged; 0: none were due, or another node has merged them. */
  readonly segments: number;
  /** Emails in the new segment, and octets of its words and positions. */
  readonly emails: number;
  readonly octets: number;
  /** Whether another set may be due. */
  readonly mayBeMore: boolean;
}

export interface SearchStore {
  /** Emails of the accounts that are not yet searchable, at most `limit` of each: account by account, ids ascending. */
  unindexed(accountIds: readonly string[], limit: number): Promise<readonly UnindexedEmail[]>;
  /**
   * Makes the emails of a page of `unindexed` searchable, in its order: each account's up to its last id among them. Repeated or
   * concurrent calls do no harm. Returns the accounts for which nothing was stored, because they are deleted or being deleted:
   * the statement does not wait for a deletion.
   */
  put(emails: readonly IndexedEmail[]): Promise<readonly string[]>;
  /**
   * Emails in which every term matches in this part; with `after`, only emails with greater ids, which should be few. @throws
   * SearchTooLarge
   */
  matches(accountId: string, terms: readonly SearchTerm[], part: SearchPart, after?: string): Promise<FoundEmails>;
  /** The text of the field by email, as it was indexed: names with their addresses, or the subject. Unknown emails are missing. */
  fieldTexts(accountId: string, field: SearchField, emailIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Merges one set of segments that is due. Concurrent calls do no harm. */
  merge(accountId: string, options: MergeOptions): Promise<MergeOutcome>;
  /**
   * Deletes what interrupted merges have left in any account, if the previous call saw it too: no merge takes as long as callers
   * wait between two calls. Returns what exists, for the next call.
   */
  clear(seen: ReadonlySet<number>, signal: AbortSignal): Promise<ReadonlySet<number>>;
}
