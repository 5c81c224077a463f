// Port: the event log, one per account, appended by the commit that made the change (decision 0005).
import type { EventRow } from './mailboxes.js';

/** How long the log keeps a change, and how many changes per account. A client that was away for longer cannot continue. */
export const EVENT_LOG_AGE_MS = 30 * 24 * 3_600_000;
export const EVENT_LOG_LENGTH = 100_000;

/** The position of an account without changes: its first change has the next seq. */
export const EVENT_LOG_START = 1;

/** A page of the log ends after the change that exceeds this size: octets in the database, after its compression. */
export const EVENT_PAGE_OCTETS = 1024 * 1024;

export interface EventLog {
  /**
   * Events of the next changes after seq `after`, ascending by (seq, n): of `limit` changes, or fewer when they are large. An
   * empty list means the end of the log.
   */
  read(accountId: string, after: number, limit: number): Promise<readonly EventRow[]>;
  /**
   * The newest seq in the log. When the log is empty: the account's modseq, which the next change follows. 0 without an account.
   */
  newest(accountId: string): Promise<number>;
  /**
   * Drops changes older than `maxAgeMs`, all changes before them, and all but the newest `maxLength` of each account, together
   * with the UIDs that were expunged until then; returns the number of changes.
   */
  prune(maxAgeMs: number, maxLength: number): Promise<number>;
}
