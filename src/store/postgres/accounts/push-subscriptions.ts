// Push subscriptions in PostgreSQL.
import { newId } from '../../ids/new-id.js';
import type {
  NewSubscription,
  PushSubscription,
  PushSubscriptionStore,
  StoredSubscription,
} from '../../push-subscriptions.js';
import { SESSION_AGE_MS, SESSION_IDLE_MS } from '../../sessions.js';
import { type Sql, storeFault } from '../driver/client.js';

export function postgresPushSubscriptions(sql: Sql): PushSubscriptionStore {
  return {
    subscribe: (accountId, subscription, limit) => subscribe(sql, accountId, subscription, limit).catch(rethrow),
    subscriptions: (accountId) => listSubscriptions(sql, accountId).catch(rethrow),
    find: (accountId, id) => findSubscription(sql, accountId, id).catch(rethrow),
    unsubscribe: (accountId, endpoint) => deleteSubscriptions(sql, accountId, endpoint).catch(rethrow),
    remove: (accountId, subscription) => deleteSubscription(sql, accountId, subscription).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

/** Locks the account's row (shared), so that the account is not deleted meanwhile and this row left behind. */
async function subscribe(
  sql: Sql,
  accountId: string,
  { endpoint, p256dh, auth, sessionId }: NewSubscription,
  limit: number,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio push of ${accountId}`}, 0))`;
    const { count } = await tx`
      with account as (select id, modseq from accounts where id = ${accountId} for key share)
      insert into push_subscriptions (account_id, id, endpoint, p256dh, auth, session_id, created_at, seq)
      select id, ${newId()}::uuid, ${endpoint}, ${p256dh}, ${auth}, ${sessionId ?? null}::uuid, clock_timestamp(), modseq
      from account
      on conflict (account_id, endpoint) do update
        set p256dh = excluded.p256dh, auth = excluded.auth, session_id = excluded.session_id, created_at = excluded.created_at,
          retry_at = null, failures = 0, failing_since = null`;
    await tx`
      delete from push_subscriptions where account_id = ${accountId} and id in (
        select id from push_subscriptions where account_id = ${accountId}
        order by created_at desc, id desc offset ${limit})`;
    return count > 0;
  });
}

async function listSubscriptions(sql: Sql, accountId: string): Promise<readonly PushSubscription[]> {
  const rows = await sql<PushSubscription[]>`
    select endpoint, p256dh, auth from push_subscriptions where account_id = ${accountId} order by created_at, id`;
  return [...rows];
}

async function findSubscription(sql: Sql, accountId: string, id: string): Promise<StoredSubscription | undefined> {
  const [row] = await sql<StoredSubscription[]>`
    select id, endpoint, p256dh, auth from push_subscriptions p
    where account_id = ${accountId} and id = ${id} and (session_id is null or exists (
      select from sessions s
      where s.id = p.session_id and s.ended_at is null
        and s.created_at > now() - ${SESSION_AGE_MS}::float8 * interval '1 ms'
        and s.last_used_at > now() - ${SESSION_IDLE_MS}::float8 * interval '1 ms'))`;
  return row;
}

async function deleteSubscriptions(sql: Sql, accountId: string, endpoint: string | undefined): Promise<void> {
  await sql`
    delete from push_subscriptions
    where account_id = ${accountId} and ${endpoint === undefined ? sql`true` : sql`endpoint = ${endpoint}`}`;
}

async function deleteSubscription(
  sql: Sql,
  accountId: string,
  { id, p256dh, auth }: StoredSubscription,
): Promise<void> {
  await sql`
    delete from push_subscriptions
    where account_id = ${accountId} and id = ${id} and p256dh = ${p256dh} and auth = ${auth}`;
}
