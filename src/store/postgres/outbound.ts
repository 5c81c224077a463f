// The queue of outbound mail of all accounts. Who delivers looks at its own shards, each by its own piece of an index that
// holds what waits and nothing else: neither what was sent before nor what others have to send slows a look.
import type { OutboundListing, OutboundRequest, OutboundStatus, OutboundStore } from '../outbound.js';
import { type Fragment, type Sql, storeFault } from './client.js';
import { outboundColumns } from './outbound-rows.js';

export function postgresOutbound(sql: Sql): OutboundStore {
  return {
    due: (shards, limit, except, exceptAccounts) =>
      dueRows(sql, shards, limit, except, exceptAccounts).then((rows) => rows, rethrow),
    async interrupted(shards, incarnation, limit, except) {
      return sql<{ accountId: string; outboundId: string; interrupted: string }[]>`
        select account_id as "accountId", id as "outboundId", attempt_id as interrupted from outbound o
        where status = 'Sending' and shard = any(${shards as number[]}::int[])
          and case when attempt_by = ${incarnation} then id <> all(${except as string[]}::uuid[])
            else not exists (select 1 from nodes n where n.incarnation = o.attempt_by and n.expires_at > now()) end
        limit ${limit}`.catch(rethrow);
    },
    async reportsDue(shards, limit, except) {
      return sql<{ accountId: string; outboundId: string }[]>`
        select account_id as "accountId", id as "outboundId" from outbound
        where report_due is not null and shard = any(${shards as number[]}::int[])
          and id <> all(${except as string[]}::uuid[]) limit ${limit}`.catch(rethrow);
    },
    async requests(shards, limit) {
      return sql<OutboundRequest[]>`
        select r.account_id as "accountId", r.outbound_id as "outboundId", r.action
        from outbound_requests r join accounts a on a.id = r.account_id
        where a.shard = any(${shards as number[]}::int[]) order by r.at limit ${limit}`.catch(rethrow);
    },
    async settleRequest({ accountId, outboundId, action }) {
      // One that has replaced it since is still to be done.
      await sql`
        delete from outbound_requests
        where account_id = ${accountId} and outbound_id = ${outboundId} and action = ${action}`.catch(rethrow);
    },
    async overdueMs(shards) {
      const [row] = await sql<[{ ms: number | null }]>`
        select greatest(0, floor(extract(epoch from now() - min(first.at)) * 1000))::float8 as ms
        from unnest(${shards as number[]}::int[]) as s (shard) cross join lateral (
          select next_retry_at as at from outbound where status = 'Queued' and shard = s.shard
          order by next_retry_at limit 1) first`.catch(rethrow);
      return row.ms ?? 0;
    },
    async list(status, limit) {
      const wanted =
        status === undefined ? sql`o.status <> 'Draft'` : sql`o.status = ${status satisfies OutboundStatus}`;
      return listings(sql, sql`where ${wanted} order by o.created_at desc, o.id desc limit ${limit}`).catch(rethrow);
    },
    async find(outboundId) {
      const [found] = await listings(sql, sql`where o.id = ${outboundId}`).catch(rethrow);
      return found;
    },
    async request({ accountId, outboundId, action }) {
      await sql`
        insert into outbound_requests (account_id, outbound_id, action)
        select account_id, id, ${action} from outbound where account_id = ${accountId} and id = ${outboundId}
        on conflict (account_id, outbound_id) do update set action = excluded.action, at = now()`.catch(rethrow);
    },
    async isRequested({ accountId, outboundId }) {
      const rows = await sql`
        select from outbound_requests where account_id = ${accountId} and outbound_id = ${outboundId}`.catch(rethrow);
      return rows.length > 0;
    },
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

function dueRows(
  sql: Sql,
  shards: readonly number[],
  limit: number,
  except: readonly string[],
  exceptAccounts: readonly string[],
) {
  return sql<{ accountId: string; outboundId: string; interrupted: null }[]>`
    select due.account_id as "accountId", due.id as "outboundId", null as interrupted
    from unnest(${shards as number[]}::int[]) as s (shard) cross join lateral (
      select account_id, id, next_retry_at from outbound
      where status = 'Queued' and shard = s.shard and next_retry_at <= now() and id <> all(${except as string[]}::uuid[])
        and account_id <> all(${exceptAccounts as string[]}::uuid[])
      order by next_retry_at limit ${limit}
    ) due
    order by due.next_retry_at limit ${limit}`;
}

function listings(sql: Sql, which: Fragment): Promise<OutboundListing[]> {
  return sql<OutboundListing[]>`
    select ${outboundColumns(sql)}, o.account_id as "accountId", a.email as "accountEmail"
    from outbound o join accounts a on a.id = o.account_id ${which}`.then((rows) => [...rows]);
}
