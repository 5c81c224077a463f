// Port: the whole store as rows of tables, for backup and restore. A snapshot gives the rows of every table as one stream of octets in
// PostgreSQL's binary form of COPY, which all versions of PostgreSQL read alike; a restore takes the same streams.
import { Fault } from '../../concurrency/fault.js';

/** A backup or restore that is impossible as asked: the message tells the operator why, and what to do. */
export class BackupFault extends Fault<'backup-refused'> {
  constructor(message: string, options: ErrorOptions = {}) {
    super('backup-refused', message, { temporary: false, cause: options.cause });
  }
}

/** A migration that was applied. `checksum`: SHA-256 of its text, in hex. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

export interface SavedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** What a backup says about itself before the rows. */
export interface SnapshotFacts {
  /** The time of the snapshot by the clock of the database, as ISO 8601. */
  readonly at: string;
  readonly schema: readonly AppliedMigration[];
  /** In an order in which every row comes after the rows that it refers to. */
  readonly tables: readonly SavedTable[];
  /** Values that the sequences have passed. */
  readonly sequences: Readonly<Record<string, string>>;
  readonly emails: number;
  /** Accounts with a login; unclaimed mailboxes do not count. */
  readonly accounts: number;
}

export interface StoreSnapshot {
  readonly facts: SnapshotFacts;
  /** About how many octets all rows have together, for a progress bar. */
  readonly estimatedOctets: number;
  /** The rows of one table; read to their end, one table at a time. */
  rows(table: SavedTable): AsyncIterable<Uint8Array>;
}

/** An empty store that is being filled; nothing of it can be seen before the end. */
export interface FilledStore {
  fill(table: SavedTable, rows: AsyncIterable<Uint8Array>): Promise<void>;
}

/** The last backup that `mansio backup` has completed. */
export interface LastBackup {
  /** The time of its snapshot, in ms since the epoch. */
  readonly at: number;
  /** Octets of the file. */
  readonly bytes: number;
  readonly isEncrypted: boolean;
}
