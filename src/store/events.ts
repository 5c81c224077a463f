// Port: the event log, one per account, appended by the commit that made the change (D5).
import type { EventRow } from './mailboxes.js';

export interface EventLog {
  /** Events of the next `limit` changes after seq `after`, ascending by (seq, n). */
  read(accountId: string, after: number, limit: number): Promise<readonly EventRow[]>;
  /** The newest seq in the log; 0 when it is empty. */
  newest(accountId: string): Promise<number>;
  /** Drops changes older than `maxAgeMs` and all but the newest `maxLength` of each account; returns how many. */
  prune(maxAgeMs: number, maxLength: number): Promise<number>;
}
