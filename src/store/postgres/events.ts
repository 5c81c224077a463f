// The event log in PostgreSQL: reading for consumers that missed something, and pruning.
import { EVENT_PAGE_OCTETS, type EventLog } from '../events.js';
import type { EventRow } from '../mailboxes.js';
import { type Sql, storeFault } from './client.js';

export function postgresEvents(sql: Sql): EventLog {
  async function read(accountId: string, after: number, limit: number): Promise<readonly EventRow[]> {
    try {
      const rows = await sql<{ seq: string; entries: { type: string; payload: unknown }[]; at: Date }[]>`
        with changes as (
          select seq, entries, at from events
          where account_id = ${accountId} and seq > ${after} order by seq limit ${limit}
        ), sized as (
          select seq, entries, at, sum(pg_column_size(entries)) over (order by seq) - pg_column_size(entries) as before
          from changes
        )
        select seq, entries, at from sized where before < ${EVENT_PAGE_OCTETS} order by seq`;
      return rows.flatMap(({ seq, entries, at }) =>
        entries.map(({ type, payload }, n) => ({ seq: Number(seq), n, type, payload, at: at.getTime() })),
      );
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function newest(accountId: string): Promise<number> {
    try {
      const [row] = await sql<[{ seq: string | null }]>`
        select max(seq) as seq from events where account_id = ${accountId}`;
      return Number(row.seq ?? 0);
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function prune(maxAgeMs: number, maxLength: number): Promise<number> {
    try {
      const old = await sql`delete from events where at < now() - ${maxAgeMs} * interval '1 millisecond'`;
      const long = await sql`
        with long as (
          select account_id from events group by account_id having count(*) > ${maxLength}
        ), bound as (
          select l.account_id, (
            select e.seq from events e where e.account_id = l.account_id
            order by e.seq desc offset ${maxLength} limit 1) as seq
          from long l
        )
        delete from events e using bound b where e.account_id = b.account_id and e.seq <= b.seq`;
      return old.count + long.count;
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { read, newest, prune };
}
