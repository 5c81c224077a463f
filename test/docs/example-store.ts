// The counters of example-actor.ts in PostgreSQL, with their log. A commit is one statement, whose `where` refuses a fenced-out writer.
import type { EventRecord } from '../../src/actors/runtime/transport/packet.js';
import type { EventLog } from '../../src/store/events.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import type { CounterRow, CounterStore } from './example-actor.js';

export const SCHEMA = `
  create table counters (
    account_id uuid primary key, epoch int not null default 0, seq int not null default 1,
    total int not null default 0, replies json not null default '[]');
  create table counter_events (account_id uuid, seq int, event json not null, primary key (account_id, seq))`;

export function postgresCounters(sql: Sql): CounterStore {
  return {
    async claim(accountId, epoch) {
      const [row] = await sql<CounterRow[]>`
        update counters set epoch = ${epoch} where account_id = ${accountId} and epoch <= ${epoch}
        returning total, seq, replies`;
      if (row !== undefined) return row;
      const known = await sql`select from counters where account_id = ${accountId}`;
      return known.length === 0 ? 'noSuchAccount' : 'fenced';
    },
    async commit(accountId, epoch, { total, seq, replies }, events) {
      const written = await sql`
        with fenced as (
          update counters set total = ${total}, seq = ${seq}, replies = ${JSON.stringify(replies)}
          where account_id = ${accountId} and epoch = ${epoch} returning account_id
        )
        insert into counter_events
        select account_id, (event->>'seq')::int, event
        from fenced, json_array_elements(${JSON.stringify(events)}) event returning seq`;
      return written.length > 0;
    },
  };
}

export function postgresCounterLog(sql: Sql): EventLog {
  return {
    async read(accountId, after, limit) {
      const rows = await sql<{ event: EventRecord }[]>`
        select event from counter_events where account_id = ${accountId} and seq > ${after} order by seq limit ${limit}`;
      return rows.map(({ event }) => event);
    },
    async newest(accountId) {
      const [row] = await sql<{ seq: number }[]>`select seq from counters where account_id = ${accountId}`;
      return row?.seq ?? 0;
    },
    prune: async () => 0,
  };
}
