// Positions of durable consumers in PostgreSQL: columns in the tables of push subscriptions and webhooks. An update names the
// position that it replaces, so a node that has lost the account's shard, or does not know about a replay, changes nothing.
import type {
  ConsumerAdvance,
  ConsumerFailure,
  ConsumerKind,
  ConsumerPosition,
  ConsumerStore,
} from '../../consumers.js';
import { guarded, type Sql } from '../driver/client.js';

const TABLES = { push: 'push_subscriptions', webhook: 'webhooks' } as const satisfies Record<ConsumerKind, string>;

export function postgresConsumers(sql: Sql): ConsumerStore {
  const isEnabled = (kind: ConsumerKind) => (kind === 'webhook' ? sql`c.is_enabled` : sql`true`);

  return {
    async accounts(kind, shards) {
      const rows = await guarded(
        () => sql<{ id: string }[]>`
          select a.id from accounts a
          where a.shard = any(${shards as number[]}::int[])
            and exists (select from ${sql(TABLES[kind])} c where c.account_id = a.id and ${isEnabled(kind)})`,
      );
      return rows.map(({ id }) => id);
    },

    async behind(kind, shards, after, limit) {
      const rows = await guarded(
        () => sql<{ id: string }[]>`
          select a.id from accounts a
          where a.shard = any(${shards as number[]}::int[]) and ${after === undefined ? sql`true` : sql`a.id > ${after}`}
            and exists (
              select from ${sql(TABLES[kind])} c
              where c.account_id = a.id and c.seq < a.modseq
                and (c.retry_at is null or c.retry_at <= now()) and ${isEnabled(kind)})
          order by a.id limit ${limit}`,
      );
      return rows.map(({ id }) => id);
    },

    of: (kind, accountId) =>
      guarded(
        () => sql<ConsumerPosition[]>`
          select account_id as "accountId", id, seq::float8 as seq, failures,
            case when retry_at > now() then floor(extract(epoch from retry_at) * 1000)::float8 end as "retryAt",
            floor(extract(epoch from failing_since) * 1000)::float8 as "failingSince"
          from ${sql(TABLES[kind])} c where account_id = ${accountId} and ${isEnabled(kind)} order by id`,
      ),

    async advance(kind, advances) {
      const rows = await guarded(
        () => sql<{ id: string }[]>`
          with advance as (
            select a, id, before, seq, recovered from json_to_recordset(${JSON.stringify(advances.map(rowOf))}::text::json)
              as x (a uuid, id uuid, before bigint, seq bigint, recovered boolean)
          )
          update ${sql(TABLES[kind])} c set seq = p.seq,
            retry_at = case when p.recovered then null else c.retry_at end,
            failures = case when p.recovered then 0 else c.failures end,
            failing_since = case when p.recovered then null else c.failing_since end
          from advance p
          where c.account_id = p.a and c.id = p.id and c.seq = p.before and ${isEnabled(kind)}
          returning c.id`,
      );
      return new Set(rows.map(({ id }) => id));
    },

    async fail(kind, { accountId, id, before, seq, retryAt, failures, failingSince }: ConsumerFailure) {
      const { count } = await guarded(
        () => sql`
          update ${sql(TABLES[kind])} c set seq = ${seq}, failures = ${failures},
            retry_at = to_timestamp(${retryAt} / 1000.0::float8),
            failing_since = to_timestamp(${failingSince}::float8 / 1000.0)
          where account_id = ${accountId} and id = ${id} and seq = ${before} and ${isEnabled(kind)}`,
      );
      return count > 0;
    },
  };
}

const rowOf = ({ accountId: a, ...rest }: ConsumerAdvance) => ({ a, ...rest });
