// Signing keys in PostgreSQL, only of hosted domains: they are deleted with their domain.
import type { SigningKey, SigningKeyStore } from '../../signing-keys.js';
import { type Sql, storeFault } from '../driver/client.js';

const MOST_KEYLESS = 1000;

export function postgresSigningKeys(sql: Sql): SigningKeyStore {
  return {
    keysOf: (domain) => newestKeys(sql, domain).catch(rethrow),
    isHosted: (domain) => hasDomain(sql, domain).catch(rethrow),
    domainsWithoutKey: () => keylessDomains(sql).catch(rethrow),
    all: () => allKeys(sql).catch(rethrow),
    add: (key) => insertKey(sql, key).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

async function newestKeys(sql: Sql, domain: string): Promise<readonly SigningKey[]> {
  const rows = await sql<SigningKey[]>`
    select distinct on (algorithm) domain, selector, algorithm, private_key as "privateKey"
    from dkim_keys where domain = ${domain} order by algorithm, created_at desc, selector`;
  return [...rows];
}

async function hasDomain(sql: Sql, domain: string): Promise<boolean> {
  const { count } = await sql`select from domains where name = ${domain}`;
  return count > 0;
}

async function keylessDomains(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from domains d where not exists (select from dkim_keys k where k.domain = d.name)
    order by name limit ${MOST_KEYLESS}`;
  return rows.map(({ name }) => name);
}

async function allKeys(sql: Sql): Promise<readonly SigningKey[]> {
  const rows = await sql<SigningKey[]>`
    select domain, selector, algorithm, private_key as "privateKey"
    from dkim_keys order by domain, created_at desc, selector`;
  return [...rows];
}

/** Locks the domain's row (shared), so that the domain is not removed meanwhile. */
async function insertKey(sql: Sql, { domain, selector, algorithm, privateKey }: SigningKey): Promise<boolean> {
  const { count } = await sql`
    with hosted as (select name from domains where name = ${domain} for key share)
    insert into dkim_keys (domain, selector, algorithm, private_key, created_at)
    select name, ${selector}, ${algorithm}, ${privateKey}, clock_timestamp() from hosted
    on conflict (domain, selector) do nothing`;
  return count > 0;
}
