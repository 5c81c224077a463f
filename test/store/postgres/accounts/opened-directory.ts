// Gives tests a directory store in a database of their own, and the changes that it notifies.
import type { ExecutionContext } from 'ava';
import type { DirectoryChange, DirectoryStore } from '../../../../src/store/directory.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import { migratedSql } from '../../../support/database/embedded-database.js';

export const SHARDS = 16;

export async function directory(t: ExecutionContext): Promise<{ sql: Sql; store: DirectoryStore }> {
  const sql = await migratedSql(t, { max: 8 });
  return { sql, store: postgresDirectory(sql, SHARDS) };
}

export async function key(store: DirectoryStore, accountId: string, prefix = 'abcdefghij') {
  return store.createKey({
    accountId,
    name: 'laptop',
    scopes: ['imap', 'smtp'],
    serviceWide: false,
    prefix,
    hash: 'f'.repeat(64),
  });
}

/** Collects changes, and returns a function that waits for the first one that fits. */
export async function changes(t: ExecutionContext, store: DirectoryStore) {
  const seen: DirectoryChange[] = [];
  let wake = () => {};
  const stop = await store.watch((change) => {
    seen.push(change);
    wake();
  });
  t.teardown(stop);
  const until = async (fits: (change: DirectoryChange) => boolean): Promise<DirectoryChange> => {
    for (;;) {
      const found = seen.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { seen, until, stop };
}
