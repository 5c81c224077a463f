// The condition of the database server for `mansio doctor`: version, settings, space, connections, standbys, clock. It only reads, and needs
// no rights beyond those of Mansio's role; columns that PostgreSQL hides from that role are null.
import { type Sql, storeFault } from './client.js';
import { type DatabaseFacts, readFacts } from './durability-check.js';

export interface DatabaseCondition {
  readonly facts: DatabaseFacts;
  readonly database: string;
  readonly sizeOctets: number;
  readonly connections: { readonly used: number; readonly most: number };
  /** Transactions until the database refuses writes, because nothing has vacuumed it. */
  readonly transactionsLeft: number;
  readonly autovacuum: boolean;
  /** `synchronous_standby_names`: the standbys that each commit waits for; '' for none. */
  readonly synchronousNames: string;
  /** Patroni runs the server: it changes settings, and promotes standbys. */
  readonly hasPatroni: boolean;
  readonly standbys: readonly Standby[];
  /** Slots without a reader, for which the server keeps its log. */
  readonly idleSlots: readonly { readonly name: string; readonly keptOctets: number | null }[];
}

interface Standby {
  readonly name: string;
  readonly state: string | null;
  readonly syncState: string | null;
  /** Octets of the log that it has not replayed. */
  readonly lagOctets: number | null;
}

interface ServerRow {
  readonly database: string;
  readonly size: number;
  readonly used: number;
  readonly most: number;
  readonly age: number;
  readonly autovacuum: string;
  readonly synchronousNames: string;
  readonly hasPatroni: boolean;
}

/** The last transaction id that is given out, minus the reserve at which PostgreSQL stops (transam/varsup.c). */
const MOST_TRANSACTIONS = 2 ** 31 - 3_000_000;

/** @throws StoreFault */
export async function readDatabaseCondition(sql: Sql): Promise<DatabaseCondition> {
  try {
    const facts = await readFacts(sql);
    const [server] = await sql<[ServerRow]>`
      select current_database()::text as database, pg_database_size(current_database())::float8 as size,
        (select sum(numbackends)::int from pg_stat_database) as used,
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
        (select max(age(datfrozenxid))::float8 from pg_database) as age,
        current_setting('autovacuum') as autovacuum,
        trim(replace(current_setting('synchronous_standby_names'), '"', '')) as "synchronousNames",
        exists (select from pg_stat_activity where application_name like 'Patroni%') as "hasPatroni"`;
    // A standby has no write-ahead log of its own to compare with.
    const standbys = facts.recovery
      ? []
      : await sql<Standby[]>`
          select coalesce(nullif(application_name, ''), host(client_addr), 'a standby') as name, state,
            sync_state as "syncState", pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 as "lagOctets"
          from pg_stat_replication order by 1`;
    const idleSlots = facts.recovery
      ? []
      : await sql<{ name: string; keptOctets: number | null }[]>`
          select slot_name::text as name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 as "keptOctets"
          from pg_replication_slots where not active order by 1`;
    return {
      facts,
      database: server.database,
      sizeOctets: server.size,
      connections: { used: server.used, most: server.most },
      transactionsLeft: MOST_TRANSACTIONS - server.age,
      autovacuum: server.autovacuum === 'on',
      synchronousNames: server.synchronousNames,
      hasPatroni: server.hasPatroni,
      standbys: [...standbys],
      idleSlots: [...idleSlots],
    };
  } catch (error) {
    throw storeFault(error);
  }
}

/** ms since the epoch, by the database's clock. @throws StoreFault */
export async function readDatabaseClock(sql: Sql): Promise<number> {
  try {
    const [row] = await sql<[{ now: number }]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    return row.now;
  } catch (error) {
    throw storeFault(error);
  }
}
