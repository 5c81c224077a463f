// The queue of outbound mail of all accounts. Who delivers looks at its own shards, each by its own piece of an index that
// holds what waits and nothing else: neither what was sent before nor what others have to send slows a look.
import type { OutboundListing, OutboundStore } from '../outbound.js';
import { type Fragment, type Sql, storeFault } from './client.js';
import { outboundColumns } from './outbound-rows.js';

export function postgresOutbound(sql: Sql): OutboundStore {
  return {
    due: (shards, limit, except, exceptAccounts) => rowsOf(due(sql, shards, limit, except, exceptAccounts)),
    interrupted: (shards, incarnation, limit, except) => rowsOf(interrupted(sql, shards, incarnation, limit, except)),
    reportsDue: (shards, limit, except) =>
      rowsOf(sql`
        select account_id as "accountId", id as "outboundId" from outbound
        where report_due is not null and shard = any(${shards as number[]}::int[])
          and id <> all(${except as string[]}::uuid[]) limit ${limit}`),
    requests: (shards, limit) =>
      rowsOf(sql`
        select r.account_id as "accountId", r.outbound_id as "outboundId", r.action
        from outbound_requests r join accounts a on a.id = r.account_id
        where a.shard = any(${shards as number[]}::int[]) order by r.at limit ${limit}`),
    async settleRequest({ accountId, outboundId, action }) {
      // One that has replaced it since is still to be done.
      await rowsOf(sql`
        delete from outbound_requests
        where account_id = ${accountId} and outbound_id = ${outboundId} and action = ${action}`);
    },
    async overdueMs(shards) {
      const [row] = await rowsOf<{ ms: number | null }>(sql`
        select greatest(0, floor(extract(epoch from now() - min(first.at)) * 1000))::float8 as ms
        from unnest(${shards as number[]}::int[]) as s (shard) cross join lateral (
          select next_retry_at as at from outbound where status = 'Queued' and shard = s.shard
          order by next_retry_at limit 1) first`);
      return row?.ms ?? 0;
    },
    list(status, limit) {
      const wanted = status === undefined ? sql`o.status <> 'Draft'` : sql`o.status = ${status}`;
      return rowsOf(listings(sql, sql`where ${wanted} order by o.created_at desc, o.id desc limit ${limit}`));
    },
    async find(outboundId) {
      return (await rowsOf<OutboundListing>(listings(sql, sql`where o.id = ${outboundId}`)))[0];
    },
    async request({ accountId, outboundId, action }) {
      await rowsOf(sql`
        insert into outbound_requests (account_id, outbound_id, action)
        select account_id, id, ${action} from outbound where account_id = ${accountId} and id = ${outboundId}
        on conflict (account_id, outbound_id) do update set action = excluded.action, at = now()`);
    },
    async isRequested({ accountId, outboundId }) {
      const rows = await rowsOf(sql`
        select from outbound_requests where account_id = ${accountId} and outbound_id = ${outboundId}`);
      return rows.length > 0;
    },
  };
}

/** @throws StoreFault */
async function rowsOf<T>(statement: PromiseLike<readonly unknown[]>): Promise<readonly T[]> {
  try {
    return [...(await statement)] as T[];
  } catch (error) {
    throw storeFault(error);
  }
}

function due(
  sql: Sql,
  shards: readonly number[],
  limit: number,
  except: readonly string[],
  exceptAccounts: readonly string[],
) {
  return sql`
    select due.account_id as "accountId", due.id as "outboundId", null as interrupted
    from unnest(${shards as number[]}::int[]) as s (shard) cross join lateral (
      select account_id, id, next_retry_at from outbound
      where status = 'Queued' and shard = s.shard and next_retry_at <= now() and id <> all(${except as string[]}::uuid[])
        and account_id <> all(${exceptAccounts as string[]}::uuid[])
      order by next_retry_at limit ${limit}
    ) due
    order by due.next_retry_at limit ${limit}`;
}

function interrupted(
  sql: Sql,
  shards: readonly number[],
  incarnation: string,
  limit: number,
  except: readonly string[],
) {
  return sql`
    select account_id as "accountId", id as "outboundId", attempt_id as interrupted from outbound o
    where status = 'Sending' and shard = any(${shards as number[]}::int[])
      and case when attempt_by = ${incarnation} then id <> all(${except as string[]}::uuid[])
        else not exists (select from nodes n where n.incarnation = o.attempt_by and n.expires_at > now()) end
    limit ${limit}`;
}

function listings(sql: Sql, which: Fragment) {
  return sql`
    select ${outboundColumns(sql)}, o.account_id as "accountId", a.email as "accountEmail"
    from outbound o join accounts a on a.id = o.account_id ${which}`;
}
