// Notifies every node and command of changes in the directory. The NOTIFY is in the transaction of the change, so it arrives if
// and only if the change is committed. A broken connection misses notifications; afterwards consumers are told to drop everything
// they cache, and get the keys that were revoked and the accounts that were deleted meanwhile.
import { setTimeout as delay } from 'node:timers/promises';
import type { DirectoryChange } from '../../directory.js';
import type { Sql, SqlTransaction } from '../driver/client.js';

const CHANNEL = 'mansio_directory';
const RETRY_MS = 1000;

export async function announce(tx: SqlTransaction, change: DirectoryChange): Promise<void> {
  await tx`select pg_notify(${CHANNEL}, ${JSON.stringify(change)})`;
}

export async function watchChanges(
  sql: Sql,
  onChange: (change: DirectoryChange) => void,
): Promise<() => Promise<void>> {
  // The driver loses an unlisten when it reconnects, so this flag ends the watch.
  const watch = { active: true, connections: 0 };
  const emit = (change: DirectoryChange) => {
    if (watch.active) onChange(change);
  };
  let since = await databaseTime(sql);

  /** Tries until it succeeds, the next reconnection takes over, or the watch ends. */
  const catchUp = async (connection: number) => {
    emit({ kind: 'all' });
    while (watch.active && watch.connections === connection) {
      try {
        const now = await databaseTime(sql);
        for (const keyId of await keysRevokedSince(sql, since)) emit({ kind: 'key-revoked', keyId });
        for (const accountId of await accountsDeletedSince(sql, since)) emit({ kind: 'account-deleted', accountId });
        since = now;
        return;
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  };
  const listening = sql.listen(
    CHANNEL,
    (payload) => emit(JSON.parse(payload) as DirectoryChange),
    () => {
      // The driver calls this again after every reconnection.
      if (watch.connections++ > 0) void catchUp(watch.connections);
    },
  );
  const subscription = await listening.catch((error: unknown) => {
    // The driver would keep trying although the call has failed.
    watch.active = false;
    throw error;
  });
  return async () => {
    watch.active = false;
    await subscription.unlisten();
  };
}

async function databaseTime(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select now()`;
  return row.now;
}

/** Includes one minute more for transactions that were open; a key that is reported twice does no harm. */
async function keysRevokedSince(sql: Sql, since: Date): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from api_keys where revoked_at > ${since}::timestamptz - interval '1 minute'
    union all select id from sessions where ended_at > ${since}::timestamptz - interval '1 minute'`;
  return rows.map((row) => row.id);
}

async function accountsDeletedSince(sql: Sql, since: Date): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from deleted_accounts where deleted_at > ${since}::timestamptz - interval '1 minute'`;
  return rows.map((row) => row.id);
}
