// The queue of outbound mail of all accounts. A node reads its own shards, each by its own range of an index that has only
// waiting emails, so neither sent emails nor those of other shards slow a read.
import type { OutboundListing, OutboundStore, QueuedOutbound } from '../../outbound.js';
import { SUPPRESSIONS } from '../commit/suppressions-commit.js';
import { type Fragment, type Sql, storeFault } from '../driver/client.js';
import { outboundColumns } from './outbound-rows.js';
import { withParked } from './parked-queue.js';

export function postgresOutbound(sql: Sql): OutboundStore {
  return {
    due: (shards, limit, except, exceptAccounts) => due(sql, shards, limit, { except, exceptAccounts }),
    interrupted: (shards, incarnation, limit, except) => rowsOf(interrupted(sql, shards, incarnation, limit, except)),
    held: (shards, withinMs, limit, except) => rowsOf(held(sql, shards, withinMs, limit, except)),
    dsnsDue: (shards, limit, except, exceptAccounts) =>
      rowsOf(sql`
        select account_id as "accountId", id as "outboundId" from outbound
        where dsn_due is not null and coalesce(dsn_at <= now(), true) and shard = any(${withParked(shards)}::int[])
          and id <> all(${except as string[]}::uuid[]) and account_id <> all(${exceptAccounts as string[]}::uuid[])
        limit ${limit}`),
    expired: (before, limit) =>
      rowsOf(sql`
        select account_id as "accountId", id as "outboundId" from outbound
        where status in ('Sent', 'Failed') and dsn_due is null and updated_at < to_timestamp(${before}::float8 / 1000.0)
        order by updated_at limit ${limit}`),
    requests: (shards, limit) =>
      rowsOf(sql`
        select r.account_id as "accountId", r.outbound_id as "outboundId", r.action
        from outbound_requests r join accounts a on a.id = r.account_id
        where a.shard = any(${shards as number[]}::int[]) order by r.at limit ${limit}`),
    suppressionRequests: (shards, limit) =>
      rowsOf(sql`
        select s.account_id as "accountId", s.address from suppressions s join accounts a on a.id = s.account_id
        where s.lifting and a.shard = any(${shards as number[]}::int[]) limit ${limit}`),
    async settleRequest({ accountId, outboundId, action }) {
      // A request that has replaced it meanwhile must still be done.
      await rowsOf(sql`
        delete from outbound_requests
        where account_id = ${accountId} and outbound_id = ${outboundId} and action = ${action}`);
    },
    async overdueMs(shards) {
      const [row] = await rowsOf<{ ms: number | null }>(sql`
        select greatest(0, floor(extract(epoch from now() - min(first.at)) * 1000))::float8 as ms
        from unnest(${shards as number[]}::int[]) as s (shard) cross join lateral (
          select next_retry_at as at from outbound
          where status = 'Queued' and not awaits_release and shard = s.shard and ${mayBeSent(sql)}
          order by next_retry_at limit 1) first`);
      return row?.ms ?? 0;
    },
    async isStranded(shards) {
      const found = await rowsOf(sql`
        select from outbound o
        where status = 'Sending' and not awaits_release and ${mayBeSent(sql)} and shard = any(${shards as number[]}::int[])
          and not exists (select from nodes n where n.incarnation = o.attempt_by and n.expires_at > now()) limit 1`);
      return found.length > 0;
    },
    async awaitingRelease() {
      const [row] = await rowsOf<{ count: number }>(
        sql`select count(*)::int as count from outbound where awaits_release`,
      );
      return row!.count;
    },
    list(status, limit) {
      const wanted = status === undefined ? sql`o.status <> 'Draft'` : sql`o.status = ${status}`;
      return rowsOf(
        listings(
          sql,
          sql`(select account_id, id from outbound o where ${wanted} order by created_at desc, id desc limit ${limit})`,
        ),
      );
    },
    async find(outboundId) {
      return (
        await rowsOf<OutboundListing>(
          listings(sql, sql`(select account_id, id from outbound where id = ${outboundId})`),
        )
      )[0];
    },
    async request({ accountId, outboundId, action }) {
      await rowsOf(sql`
        insert into outbound_requests (account_id, outbound_id, action)
        select account_id, id, ${action} from outbound where account_id = ${accountId} and id = ${outboundId}
        on conflict (account_id, outbound_id) do update set action = excluded.action, at = now()`);
    },
    async requestReleases() {
      await rowsOf(sql`
        insert into outbound_requests (account_id, outbound_id, action)
        select account_id, id, 'release' from outbound where awaits_release
        on conflict (account_id, outbound_id) do nothing`);
    },
    async isRequested({ accountId, outboundId }) {
      const rows = await rowsOf(sql`
        select from outbound_requests where account_id = ${accountId} and outbound_id = ${outboundId}`);
      return rows.length > 0;
    },
    suppressions: (accountId) =>
      rowsOf(
        sql`${sql.unsafe(SUPPRESSIONS)} where account_id = ${accountId} and until > now() order by since, address`,
      ),
    async requestLift({ accountId, address }) {
      await rowsOf(sql`
        update suppressions set lifting = true where account_id = ${accountId} and address = ${address}`);
    },
  };
}

/** Mail of suspended accounts waits. Most of it is parked; this leaves out the rest. There are few such accounts, so the list is cheap. */
const mayBeSent = (sql: Sql) => sql`account_id not in (select id from accounts where suspended_at is not null)`;

/** @throws StoreFault */
async function rowsOf<T>(statement: PromiseLike<readonly unknown[]>): Promise<readonly T[]> {
  try {
    return [...(await statement)] as T[];
  } catch (error) {
    throw storeFault(error);
  }
}

interface LeftOut {
  /** Outbound ids. */
  readonly except: readonly string[];
  readonly exceptAccounts: readonly string[];
}

interface DueRow {
  readonly account_id: string;
  readonly id: string;
  readonly shard: number;
  readonly at: number;
}

/**
 * Reads a few emails of every shard first: all wanted ones may be in one shard, but reading that many of each shard would touch
 * thousands of rows. Shards that may have more of the wanted emails are read again.
 */
async function due(
  sql: Sql,
  shards: readonly number[],
  limit: number,
  leftOut: LeftOut,
): Promise<readonly QueuedOutbound[]> {
  const few = Math.ceil(limit / Math.max(1, shards.length)) + 2;
  const rows = await dueOf(sql, shards, Math.min(limit, few), leftOut);
  const last = rows[limit - 1]?.at ?? Number.POSITIVE_INFINITY;
  const counts = new Map<number, { count: number; at: number }>();
  for (const { shard, at } of rows) counts.set(shard, { count: (counts.get(shard)?.count ?? 0) + 1, at });
  const cut = [...counts].flatMap(([shard, { count, at }]) => (count === few && at <= last ? [shard] : []));
  const more = few < limit && cut.length > 0 ? await dueOf(sql, cut, limit, leftOut) : [];
  const asked = new Set(more.length > 0 ? cut : []);
  const found = [...rows.filter(({ shard }) => !asked.has(shard)), ...more].sort((a, b) => a.at - b.at);
  return found
    .slice(0, limit)
    .map(({ account_id, id }) => ({ accountId: account_id, outboundId: id, interrupted: null }));
}

/** Reads at most `limit` emails of each shard, longest due first. */
function dueOf(sql: Sql, shards: readonly number[], limit: number, { except, exceptAccounts }: LeftOut) {
  return rowsOf<DueRow>(sql`
    select due.account_id, due.id, s.shard, extract(epoch from due.next_retry_at)::float8 as at
    from unnest(${shards as number[]}::int[]) as s (shard) cross join lateral (
      select account_id, id, next_retry_at from outbound
      where status = 'Queued' and not awaits_release and shard = s.shard and next_retry_at <= now() and ${mayBeSent(sql)} and id <> all(${except as string[]}::uuid[])
        and account_id <> all(${exceptAccounts as string[]}::uuid[])
      order by next_retry_at limit ${limit}
    ) due
    order by due.next_retry_at`);
}

/**
 * Only this many rows are ranked, which bounds how long emails of one account that are released together delay those of others.
 */
const RANKED = 5_000;

function held(sql: Sql, shards: readonly number[], withinMs: number, limit: number, except: readonly string[]) {
  return sql`
    select account_id as "accountId", id as "outboundId", (extract(epoch from held_until) * 1000)::float8 as "heldUntil"
    from (
      select account_id, id, held_until, row_number() over (partition by account_id order by held_until) as rank from (
        select account_id, id, held_until from outbound
        where held_until is not null and not awaits_release and ${mayBeSent(sql)} and held_until <= now() + ${withinMs}::float8 * interval '1 ms'
          and shard = any(${shards as number[]}::int[]) and id <> all(${except as string[]}::uuid[])
        order by held_until limit ${RANKED}
      ) first
    ) ranked
    order by rank, held_until limit ${limit}`;
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
    where status = 'Sending' and not awaits_release and ${mayBeSent(sql)} and shard = any(${shards as number[]}::int[])
      and case when attempt_by = ${incarnation} then id <> all(${except as string[]}::uuid[])
        else not exists (select from nodes n where n.incarnation = o.attempt_by and n.expires_at > now()) end
    limit ${limit}`;
}

/** `which`: selects keys, so that only the listed rows are read completely. */
function listings(sql: Sql, which: Fragment) {
  return sql`
    select ${outboundColumns(sql)}, o.account_id as "accountId", a.email as "accountEmail"
    from ${which} which join outbound o on o.account_id = which.account_id and o.id = which.id
    join accounts a on a.id = o.account_id
    order by o.created_at desc, o.id desc`;
}
