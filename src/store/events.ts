// Port: the event log, one per account, appended by the commit that made the change (decision 0005).
import type { EventRow } from './mailboxes.js';

/** How long a change is kept in the log, and how many of an account. Who was away for longer cannot read on. */
export const EVENT_LOG_AGE_MS = 30 * 24 * 3_600_000;
export const EVENT_LOG_LENGTH = 100_000;

/** The position of an account without changes: its first change has the next seq. */
export const EVENT_LOG_START = 1;

/** What a page of the log takes in the database beyond its last change: octets, after the database's compression. */
export const EVENT_PAGE_OCTETS = 1024 * 1024;

export interface EventLog {
  /**
   * Events of the next changes after seq `after`, ascending by (seq, n): of `limit` changes, and of fewer when they are
   * large. No events: the log ends there.
   */
  read(accountId: string, after: number, limit: number): Promise<readonly EventRow[]>;
  /** The newest seq in the log; while it is empty, the account's modseq: the next change follows it. 0 without an account. */
  newest(accountId: string): Promise<number>;
  /**
   * Drops changes older than `maxAgeMs`, all before them, and all but the newest `maxLength` of each account, and with
   * them the UIDs that were expunged until then; returns how many changes.
   */
  prune(maxAgeMs: number, maxLength: number): Promise<number>;
}
