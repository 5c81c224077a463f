// The event log in PostgreSQL: reads it for consumers that missed something, and prunes it.
import { EVENT_PAGE_OCTETS, type EventLog } from '../../events.js';
import type { EventRow } from '../../mailboxes.js';
import { type StoredEntry, withIds } from '../commit/packed-entries.js';
import { type Fragment, guarded, type Sql } from '../driver/client.js';

interface LogRow {
  readonly seq: string;
  readonly entries: readonly StoredEntry[];
  readonly ids: Uint8Array | null;
  readonly at: Date;
}

export function postgresEvents(sql: Sql): EventLog {
  async function read(accountId: string, after: number, limit: number): Promise<readonly EventRow[]> {
    const rows = await guarded(
      () => sql<LogRow[]>`
        with changes as (
          select seq, entries, ids, at from events
          where account_id = ${accountId} and seq > ${after} order by seq limit ${limit}
        ), sized as (
          select e.*, sum(octets) over (order by seq) - octets as before
          from changes e, lateral (select pg_column_size(entries) + coalesce(pg_column_size(ids), 0) as octets) size
        )
        select seq, entries, ids, at from sized where before < ${EVENT_PAGE_OCTETS} order by seq`,
    );
    return rows.flatMap(({ seq, entries, ids, at }) =>
      entries.map((entry, n) => {
        const { type, payload } = ids === null ? entry : withIds(entry, ids);
        return { seq: Number(seq), n, type, payload, at: at.getTime() };
      }),
    );
  }

  async function newest(accountId: string): Promise<number> {
    const [row] = await guarded(
      () => sql<[{ seq: string }]>`
        select coalesce(
          (select max(seq) from events where account_id = ${accountId}),
          (select modseq from accounts where id = ${accountId}), 0) as seq`,
    );
    return Number(row.seq);
  }

  /** Drops the entries up to a seq of each account, and the UIDs that were expunged until then. */
  async function pruneUpTo(bounds: Fragment): Promise<number> {
    const [row] = await guarded(
      () => sql<[{ count: number }]>`
        with asked as (${bounds}), bound as materialized (
          -- Flags that are not written to the emails yet have their ids here.
          select account_id, least(seq, (
            select min(o.seq) - 1 from deferred_flag_writes o where o.account_id = asked.account_id)) as seq
          from asked
        ), gone as (
          delete from events e using bound b where e.account_id = b.account_id and e.seq <= b.seq returning e.seq
        ), forgotten as (
          delete from expunged x using bound b where x.account_id = b.account_id and x.modseq <= b.seq
        )
        select count(*)::int as count from gone`,
    );
    return row.count;
  }

  async function prune(maxAgeMs: number, maxLength: number): Promise<number> {
    const old = await pruneUpTo(sql`
      select account_id, max(seq) as seq from events where at < now() - ${maxAgeMs} * interval '1 millisecond'
      group by account_id`);
    const long = await pruneUpTo(sql`
      select l.account_id, (
        select e.seq from events e where e.account_id = l.account_id
        order by e.seq desc offset ${maxLength} limit 1) as seq
      from (select account_id from events group by account_id having count(*) > ${maxLength}) l`);
    return old + long;
  }

  return { read, newest, prune };
}
