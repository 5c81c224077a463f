// API keys. Only hashes are stored; a revoked key stays as a row so that its id is never another key's.
import { randomUUID } from 'node:crypto';
import type { ApiKey, DirectoryStore, Scope, StoredKey } from '../directory.js';
import type { Sql } from './client.js';
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

const columns = (sql: Sql) => sql`
  k.id, k.account_id as "accountId", k.name, k.scopes, k.service_wide as "serviceWide", k.created_at as "createdAt",
  k.last_used_at as "lastUsedAt"`;

export async function insertKey(sql: Sql, key: Parameters<DirectoryStore['createKey']>[0]): Promise<ApiKey> {
  const [row] = await sql<[KeyRow]>`
    insert into api_keys as k (id, account_id, name, prefix, hash, scopes, service_wide)
    values (${randomUUID()}, ${key.accountId}, ${key.name}, ${key.prefix}, ${key.hash},
      ${sql.array([...key.scopes])}::text[], ${key.serviceWide})
    returning ${columns(sql)}`;
  return row;
}

export async function activeKeys(sql: Sql, accountId: string): Promise<readonly ApiKey[]> {
  const rows = await sql<KeyRow[]>`
    select ${columns(sql)} from api_keys k
    where k.account_id = ${accountId} and k.revoked_at is null order by k.created_at, k.id`;
  return [...rows];
}

export async function activeKeysByPrefix(sql: Sql, prefix: string): Promise<readonly StoredKey[]> {
  const rows = await sql<(KeyRow & { hash: string; email: string })[]>`
    select ${columns(sql)}, k.hash, a.email from api_keys k join accounts a on a.id = k.account_id
    where k.prefix = ${prefix} and k.revoked_at is null`;
  return [...rows];
}

export async function markKeyRevoked(sql: Sql, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const { count } = await tx`update api_keys set revoked_at = now() where id = ${id} and revoked_at is null`;
    if (count > 0) await announce(tx, { kind: 'key-revoked', keyId: id.toLowerCase() });
    return count > 0;
  });
}
