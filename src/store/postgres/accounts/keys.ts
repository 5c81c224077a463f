// API keys. Only hashes are stored. The row of a revoked key stays for a while, so that nodes that were away learn of the
// revocation. Keys are looked up and their uses noted together with sessions, whose rows `sessions.ts` writes.

import type { ApiKey, MintedKey, NewKey, Scope, StoredKey } from '../../directory.js';
import { newId } from '../../ids/new-id.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { announce } from './directory-changes.js';

interface KeyRow {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scopes: Scope[];
  readonly serviceWide: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** A new key, and the ids of the keys that it replaces. */
interface Rekeyed {
  readonly made: ApiKey;
  readonly revoked: readonly string[];
}

const columns = (sql: Sql | SqlTransaction) => sql`
  k.id, k.account_id as "accountId", k.name, k.scopes, k.service_wide as "serviceWide", k.created_at as "createdAt",
  k.last_used_at as "lastUsedAt"`;

export async function insertKey(sql: Sql | SqlTransaction, key: NewKey): Promise<ApiKey> {
  const [row] = await sql<[KeyRow]>`
    insert into api_keys as k (id, account_id, name, prefix, hash, scopes, service_wide, device_id)
    values (${newId()}, ${key.accountId}, ${key.name}, ${key.prefix}, ${key.hash},
      ${sql.array([...key.scopes])}::text[], ${key.serviceWide}, ${key.deviceId ?? null})
    returning ${columns(sql)}`;
  return row;
}

/** Serializes the calls per account, so that the limit holds and a device has one key. */
export async function insertKeyWithin(sql: Sql, limit: number, key: NewKey): Promise<Rekeyed | undefined> {
  return sql.begin(async (tx) => {
    await lockKeysOf(tx, key.accountId);
    const { deviceId = null } = key;
    const [row] = await tx<{ active: number }[]>`
      select (select count(*)::integer from api_keys k where k.account_id = a.id and k.revoked_at is null
        and k.device_id is distinct from coalesce(${deviceId}::text, '')) as active
      from accounts a where a.id = ${key.accountId}`;
    if (row === undefined || row.active >= limit) return undefined;
    const replaced = await tx<{ id: string }[]>`
      update api_keys set revoked_at = now()
      where account_id = ${key.accountId} and device_id = ${deviceId} and revoked_at is null returning id`;
    for (const { id } of replaced) await announce(tx, { kind: 'key-revoked', keyId: id });
    return { made: await insertKey(tx, key), revoked: replaced.map(({ id }) => id) };
  });
}

async function lockKeysOf(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio keys of ${accountId}`}, 0))`;
}

export async function activeKeys(sql: Sql, accountId: string): Promise<readonly ApiKey[]> {
  const rows = await sql<KeyRow[]>`
    select ${columns(sql)} from api_keys k
    where k.account_id = ${accountId} and k.revoked_at is null order by k.created_at, k.id`;
  return [...rows];
}

export async function activeKeysByPrefixes(sql: Sql, prefixes: readonly string[]): Promise<readonly StoredKey[]> {
  const wanted = sql`any(${sql.array([...prefixes])}::text[])`;
  const rows = await sql<(KeyRow & Pick<StoredKey, 'prefix' | 'hash' | 'email' | 'kind'>)[]>`
    select ${columns(sql)}, k.prefix, k.hash, a.email, 'key' as kind from api_keys k join accounts a on a.id = k.account_id
    where k.prefix = ${wanted} and k.revoked_at is null
    union all
    select s.id, s.account_id, 'Session', '{app}', false, s.created_at, s.last_used_at, s.prefix, s.hash, a.email, 'session'
    from sessions s join accounts a on a.id = s.account_id
    where s.prefix = ${wanted} and s.ended_at is null`;
  return [...rows];
}

export async function markKeyRevoked(sql: Sql, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const { count } = await tx`update api_keys set revoked_at = now() where id = ${id} and revoked_at is null`;
    if (count > 0) await announce(tx, { kind: 'key-revoked', keyId: id.toLowerCase() });
    return count > 0;
  });
}

export async function markKeyOfRevoked(sql: Sql, accountId: string, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const { count } = await tx`
      update api_keys set revoked_at = now() where id = ${id} and account_id = ${accountId} and revoked_at is null`;
    if (count > 0) await announce(tx, { kind: 'key-revoked', keyId: id.toLowerCase() });
    return count > 0;
  });
}

/** One statement rotates the key, so only one of several concurrent calls gets a new key. */
export async function replaceKey(
  sql: Sql,
  accountId: string,
  id: string,
  { prefix, hash }: MintedKey,
): Promise<ApiKey | undefined> {
  return sql.begin(async (tx) => {
    await lockKeysOf(tx, accountId);
    const [row] = await tx<KeyRow[]>`
      with old as (
        update api_keys set revoked_at = now()
        where id = ${id} and account_id = ${accountId} and revoked_at is null and not service_wide
        returning account_id, name, scopes, device_id)
      insert into api_keys as k (id, account_id, name, prefix, hash, scopes, device_id)
      select ${newId()}::uuid, old.account_id, old.name, ${prefix}, ${hash}, old.scopes, old.device_id from old
      returning ${columns(tx)}`;
    if (row !== undefined) await announce(tx, { kind: 'key-revoked', keyId: id.toLowerCase() });
    return row;
  });
}

/** Forgets which accounts were deleted, too. Keeps the last use of the deleted keys in the account, which shows when it was last used. */
export async function deleteRevokedKeys(sql: Sql, maxAgeMs: number): Promise<number> {
  await sql`delete from deleted_accounts where deleted_at < now() - ${maxAgeMs}::float8 * interval '1 ms'`;
  const rows = await sql`
    with gone as (
      delete from api_keys where revoked_at < now() - ${maxAgeMs}::float8 * interval '1 ms' returning account_id, last_used_at
    ), used as (
      update accounts a set last_login_at = greatest(a.last_login_at, g.at)
      from (select account_id, max(last_used_at) as at from gone group by account_id) g
      where a.id = g.account_id and g.at is not null and (a.last_login_at is null or a.last_login_at < g.at)
    )
    select from gone`;
  return rows.length;
}

/** Locks rows in one order, because other nodes write the same keys and sessions. */
export async function noteKeyUses(sql: Sql, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return;
  await sql`
    with used as (
      select * from unnest(${sql.array([...uses.keys()])}::uuid[], ${sql.array([...uses.values()])}::timestamptz[])
        as used (id, at)),
    due as (
      select k.id, used.at from api_keys k join used on used.id = k.id
      where k.last_used_at is null or k.last_used_at < used.at
      order by k.id for no key update of k),
    due_sessions as (
      select s.id, used.at from sessions s join used on used.id = s.id
      where s.last_used_at < used.at
      order by s.id for no key update of s),
    used_sessions as (
      update sessions s set last_used_at = greatest(s.last_used_at, due.at) from due_sessions due where s.id = due.id)
    update api_keys k set last_used_at = greatest(k.last_used_at, due.at) from due where k.id = due.id`;
}
