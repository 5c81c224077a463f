// Push subscriptions in PostgreSQL.
import { newId } from '../../ids/new-id.js';
import type { PushSubscription, PushSubscriptionStore, StoredSubscription } from '../../push-subscriptions.js';
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
  { endpoint, p256dh, auth }: PushSubscription,
  limit: number,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio push of ${accountId}`}, 0))`;
    const { count } = await tx`
      with account as (select id, modseq from accounts where id = ${accountId} for key share)
      insert into push_subscriptions (account_id, id, endpoint, p256dh, auth, created_at, seq)
      select id, ${newId()}::uuid, ${endpoint}, ${p256dh}, ${auth}, clock_timestamp(), modseq from account
      on conflict (account_id, endpoint) do update
        set p256dh = excluded.p256dh, auth = excluded.auth, created_at = excluded.created_at,
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
    select id, endpoint, p256dh, auth from push_subscriptions where account_id = ${accountId} and id = ${id}`;
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
