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

/** What is found of an email: text, or its octets in valid UTF-8, which nobody changes. */
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
  /** Emails of one message share them: their words are cut and written once. */
  readonly texts: IndexedTexts;
}

/** Of an email: everything that is indexed, or its body with the names of attachments. */
export const SEARCH_PARTS = ['text', 'body'] as const;
export type SearchPart = (typeof SEARCH_PARTS)[number];

/** Emails in which the terms match. */
export interface FoundEmails {
  /** 16 octets each, each once, in no particular order; some may be gone. */
  readonly ids: Uint8Array;
  /** Segments of the account's index that were looked at: with many of them a search takes longer than after a merge. */
  readonly segments: number;
}

/** Of so many emails that the places of its words are more than a search may have in memory. Words that fewer emails have are searched. */
export class SearchTooLarge extends Error {
  constructor(what: string) {
    super(`${what} of a search take too much memory`);
    this.name = new.target.name;
  }
}

export interface MergeOptions {
  /**
   * How many emails the mailbox has. When its segments hold a quarter more, or any while it has none, all segments become one:
   * emails that are gone leave their words behind until then.
   */
  readonly live?: number;
  /** A merge that is given up leaves the index as it was. */
  readonly signal: AbortSignal;
}

export interface MergeOutcome {
  /** Segments that became one; 0: none were due, or another node has merged them. */
  readonly segments: number;
  /** Emails in it, and octets of its words and their positions. */
  readonly emails: number;
  readonly octets: number;
  /** Whether another set may be due. */
  readonly mayBeMore: boolean;
}

export interface SearchStore {
  /** Emails of the accounts that are not yet searchable, at most `limit` of each: account by account, ids ascending. */
  unindexed(accountIds: readonly string[], limit: number): Promise<readonly UnindexedEmail[]>;
  /**
   * Makes emails of a page of `unindexed` searchable, in its order: of each account up to its last id among
   * them. Doing it twice, or two at once, does no harm. Returns the accounts of which nothing was stored, because they are
   * being deleted or are gone: the statement does not wait for a deletion to end.
   */
  put(emails: readonly IndexedEmail[]): Promise<readonly string[]>;
  /** Emails in this part of which every term matches; after `after` when given: meant for few. @throws SearchTooLarge */
  matches(accountId: string, terms: readonly SearchTerm[], part: SearchPart, after?: string): Promise<FoundEmails>;
  /** Merges one set of segments that is due. Two at once do no harm. */
  merge(accountId: string, options: MergeOptions): Promise<MergeOutcome>;
  /**
   * Deletes what merges that were broken off have left in any account, when it was there at a look before: no merge takes as long
   * as callers wait between two looks. Returns what is there, for the next look.
   */
  clear(seen: ReadonlySet<number>, signal: AbortSignal): Promise<ReadonlySet<number>>;
}
