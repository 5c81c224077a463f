// Tells every node and command what changed in the directory: a NOTIFY in the transaction of the change, so it arrives
// if and only if the change was committed. A broken connection misses notifications; afterwards consumers are told to
// drop everything, and which keys were revoked meanwhile.
import type { DirectoryChange } from '../directory.js';
import type { Sql, Transaction } from './client.js';

const CHANNEL = 'mansio_directory';

export async function announce(tx: Transaction, change: DirectoryChange): Promise<void> {
  await tx`select pg_notify(${CHANNEL}, ${JSON.stringify(change)})`;
}

export async function watchChanges(
  sql: Sql,
  onChange: (change: DirectoryChange) => void,
): Promise<() => Promise<void>> {
  // The driver forgets who unlistens once it has reconnected, so stopping is kept here.
  let active = true;
  let listening = false;
  let since = await databaseTime(sql);
  const emit = (change: DirectoryChange) => {
    if (active) onChange(change);
  };
  const catchUp = async () => {
    emit({ kind: 'all' });
    const now = await databaseTime(sql);
    for (const keyId of await keysRevokedSince(sql, since)) emit({ kind: 'key-revoked', keyId });
    since = now;
  };
  const subscription = await sql.listen(
    CHANNEL,
    (payload) => emit(JSON.parse(payload) as DirectoryChange),
    () => {
      // Called again after every reconnection. A failed catch-up means the connection broke again: it will be repeated.
      if (listening) catchUp().catch(() => {});
      listening = true;
    },
  );
  return async () => {
    active = false;
    await subscription.unlisten();
  };
}

async function databaseTime(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select now()`;
  return row.now;
}

/** With a minute to spare for transactions that were open: hearing of a key twice does no harm. */
async function keysRevokedSince(sql: Sql, since: Date): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from api_keys where revoked_at > ${since}::timestamptz - interval '1 minute'`;
  return rows.map((row) => row.id);
}
