// Measures what a database has written: octets of its log, committed transactions, and how many updates of a table changed no index.
import type { Sql } from '../../src/store/postgres/driver/client.js';

interface Work {
  readonly walOctets: number;
  readonly transactions: number;
  readonly tables: ReadonlyMap<string, { readonly updated: number; readonly hot: number }>;
}

/** The counts begin with the server. It adds the work of a session when the session is idle, at most once per second. */
export async function databaseWork(sql: Sql): Promise<Work> {
  const [total] = await sql<[{ octets: string; transactions: number }]>`
    select (pg_current_wal_lsn() - '0/0')::text as octets,
      (select xact_commit::float8 from pg_stat_database where datname = current_database()) as transactions`;
  const tables = await sql<{ name: string; updated: number; hot: number }[]>`
    select relname as name, n_tup_upd::float8 as updated, n_tup_hot_upd::float8 as hot from pg_stat_user_tables`;
  return {
    walOctets: Number(total.octets),
    transactions: total.transactions,
    tables: new Map(tables.map(({ name, ...counts }) => [name, counts])),
  };
}

/** Returns the share of the updates between two measurements that changed no index, in percent. */
export function hotShare(before: Work, after: Work, table: string): number {
  const [from, to] = [before.tables.get(table), after.tables.get(table)];
  const updated = (to?.updated ?? 0) - (from?.updated ?? 0);
  return updated === 0 ? Number.NaN : (((to?.hot ?? 0) - (from?.hot ?? 0)) / updated) * 100;
}
