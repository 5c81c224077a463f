// Port: the event log, one per account, appended by the commit that made the change (D5).
import type { EventRow } from './mailboxes.js';

/** How long a change is kept in the log, and how many of an account. Who was away for longer cannot read on. */
export const EVENT_LOG_AGE_MS = 30 * 24 * 3_600_000;
export const EVENT_LOG_LENGTH = 100_000;

export interface EventLog {
  /** Events of the next `limit` changes after seq `after`, ascending by (seq, n). */
  read(accountId: string, after: number, limit: number): Promise<readonly EventRow[]>;
  /** The newest seq in the log; 0 when it is empty. */
  newest(accountId: string): Promise<number>;
  /**
   * Drops changes older than `maxAgeMs`, all before them, and all but the newest `maxLength` of each account, and with
   * them the UIDs that were expunged until then; returns how many changes.
   */
  prune(maxAgeMs: number, maxLength: number): Promise<number>;
}
