// Webhooks in PostgreSQL. This file writes the columns of the position at the request of the account: for a new webhook, a
// replay, an update. Deliveries advance them through the port of consumers.
import { newId } from '../../ids/new-id.js';
import type { EventPlace, ReplayStart, Webhook, WebhookChoices, WebhookStore, WebhookTarget } from '../../webhooks.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';

const shown = (sql: Sql | SqlTransaction) => sql`
  id, url, event_types as "eventTypes", is_enabled as "isEnabled", created_at as "createdAt", updated_at as "updatedAt",
  disabled_reason as "disabledReason", failures, failing_since as "failingSince",
  case when is_enabled then retry_at end as "retryAt"`;

export function postgresWebhooks(sql: Sql): WebhookStore {
  const done = async (statement: () => PromiseLike<{ readonly count: number }>) => (await guarded(statement)).count > 0;

  return {
    list: (accountId) =>
      guarded(() => sql<Webhook[]>`select ${shown(sql)} from webhooks where account_id = ${accountId} order by id`),

    async get(accountId, id) {
      const [row] = await guarded(
        () => sql<Webhook[]>`select ${shown(sql)} from webhooks where account_id = ${accountId} and id = ${id}`,
      );
      return row;
    },

    create: (accountId, webhook, limit) => guarded(() => create(sql, accountId, webhook, limit)),

    update: (accountId, id, { url, eventTypes, isEnabled }: WebhookChoices) =>
      done(
        () => sql`
          update webhooks set url = ${url}, event_types = ${eventTypes as string[]}, is_enabled = ${isEnabled},
            disabled_reason = case when ${isEnabled} then null else disabled_reason end,
            retry_at = case when ${isEnabled} then null else retry_at end,
            failures = case when is_enabled and url = ${url} then failures else 0 end,
            failing_since = case when is_enabled and url = ${url} then failing_since end,
            updated_at = now()
          where account_id = ${accountId} and id = ${id}`,
      ),

    async remove(accountId, id) {
      const [row] = await guarded(
        () => sql<[{ removed: boolean }]>`
          with gone as (delete from webhooks where account_id = ${accountId} and id = ${id} returning id),
            records as (delete from webhook_deliveries where account_id = ${accountId} and webhook_id = ${id})
          select exists (select from gone) as removed`,
      );
      return row.removed;
    },

    rotateSecret: (accountId, id, secret, formerForMs) =>
      done(
        () => sql`
          update webhooks set former_secret = secret, secret = ${secret},
            former_secret_until = now() + ${formerForMs} * interval '1 millisecond', updated_at = now()
          where account_id = ${accountId} and id = ${id}`,
      ),

    replay: (accountId, id, start) => guarded(() => replay(sql, accountId, id, start)),

    async target(accountId, id, disabledToo = false) {
      const [row] = await guarded(
        () => sql<WebhookTarget[]>`
          select url, event_types as "eventTypes",
            case when former_secret_until > now() then array[secret, former_secret] else array[secret] end as secrets,
            case when within_seq is not null
              then json_build_object('seq', within_seq, 'n', within_n, 'k', within_k) end as within
          from webhooks where account_id = ${accountId} and id = ${id} and (is_enabled or ${disabledToo})`,
      );
      return row;
    },

    async doneWithin(accountId, id, before, place) {
      await guarded(
        () => sql`
          update webhooks set ${within(sql, place)}
          where account_id = ${accountId} and id = ${id} and seq = ${before} and seq < ${place.seq}`,
      );
    },

    disable: (accountId, id, reason) =>
      done(
        () => sql`
          update webhooks set is_enabled = false, disabled_reason = ${reason}, updated_at = now()
          where account_id = ${accountId} and id = ${id} and is_enabled`,
      ),
  };
}

function within(sql: Sql, place: EventPlace | null) {
  const { seq, n, k } = place ?? { seq: null, n: null, k: null };
  return sql`within_seq = ${seq}, within_n = ${n}, within_k = ${k}`;
}

/** Locks the account's row, so that the webhooks are counted exactly, and every change after the reply follows the position. */
async function create(
  sql: Sql,
  accountId: string,
  { url, eventTypes, isEnabled, secret }: WebhookChoices & { readonly secret: string },
  limit: number,
): Promise<Webhook | undefined> {
  return sql.begin(async (tx) => {
    const [account] = await tx<{ modseq: number }[]>`
      select modseq::float8 as modseq from accounts where id = ${accountId} for update`;
    if (account === undefined) return undefined;
    const [row] = await tx<Webhook[]>`
      insert into webhooks (account_id, id, url, event_types, is_enabled, secret, seq)
      select ${accountId}, ${newId()}::uuid, ${url}, ${eventTypes as string[]}, ${isEnabled}, ${secret}, ${account.modseq}
      where (select count(*) from webhooks where account_id = ${accountId}) < ${limit}
      returning ${shown(tx)}`;
    return row;
  });
}

async function replay(sql: Sql, accountId: string, id: string, { seq, within: place }: ReplayStart) {
  const [row] = await sql<{ seq: string | null }[]>`
    with account as (select modseq from accounts where id = ${accountId}), moved as (
      update webhooks set seq = ${seq}, ${within(sql, place)}, retry_at = null, updated_at = now()
      where account_id = ${accountId} and id = ${id} and ${seq} <= (select modseq from account)
      returning seq
    )
    select moved.seq from webhooks w left join moved on true where w.account_id = ${accountId} and w.id = ${id}`;
  if (row === undefined) return 'noSuchWebhook';
  return row.seq === null ? 'ahead' : 'done';
}
