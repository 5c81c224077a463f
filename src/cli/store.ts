// The store of an administrative command: the database of DATABASE_URL, or the embedded one of the data directory, shared
// with the node when one runs and started for the command alone when not. Checked and migrated like a node's.
import { pino } from 'pino';
import { type Config, readConfig } from '../config.js';
import type { DirectoryStore } from '../store/directory.js';
import { findEmbedded, startEmbedded } from '../store/embedded.js';
import { connect, type DatabaseAddress, type Sql } from '../store/postgres/client.js';
import { postgresDirectory } from '../store/postgres/directory.js';
import { postgresLeases } from '../store/postgres/leases.js';
import { type Migrated, migrate } from '../store/postgres/migrate.js';
import { checkDatabase } from '../store/postgres/safety.js';
import { postgresSigningKeys } from '../store/postgres/signing-keys.js';
import type { SigningKeyStore } from '../store/signing-keys.js';

export interface CommandStore {
  readonly sql: Sql;
  readonly directory: DirectoryStore;
  readonly signingKeys: SigningKeyStore;
  readonly migrated: Migrated;
}

/** For commands that change something, or need the schema of this version. */
export async function withStore<T>(work: (store: CommandStore) => Promise<T>): Promise<T> {
  const config = readConfig();
  return withAddress(config, async (address) => {
    const sql = connect(address, { max: 2, applicationName: 'mansio command' });
    try {
      await checkDatabase(sql, { allowUnsafe: config.allowUnsafeDatabase });
      const migrated = await migrate(sql);
      const shards = await postgresLeases(sql).shardCount(config.shards);
      const directory = postgresDirectory(sql, shards);
      return await work({ sql, directory, signingKeys: postgresSigningKeys(sql), migrated });
    } finally {
      await sql.end({ timeout: 5 });
    }
  });
}

/** For commands that only look: the database is taken as it is, whichever version runs on it. */
export async function lookingAt<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  return withAddress(readConfig(), async (address) => {
    const sql = connect(address, { max: 1, applicationName: 'mansio command' });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
  });
}

async function withAddress<T>(config: Config, work: (address: DatabaseAddress) => Promise<T>): Promise<T> {
  if (config.databaseUrl !== undefined) return work({ url: config.databaseUrl });
  const running = findEmbedded(config.dataDir);
  if (running !== undefined) return work(running);
  const started = await startEmbedded({ dataDir: config.dataDir, log: pino({ level: 'silent' }) });
  try {
    return await work(started.address);
  } finally {
    await started.stop();
  }
}
