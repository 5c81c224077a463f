// Hosted domains, for which mail is accepted. Accounts may have addresses elsewhere; removing a domain removes no mail.
import type { RoutedDomain } from '../../addresses/aliases.js';
import { DirectoryConflict, type Domain } from '../../directory.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { lockDomain } from './address-rows.js';
import { endMailedVerifications } from './address-verifications.js';
import { announce } from './directory-changes.js';

export async function listDomains(sql: Sql): Promise<readonly Domain[]> {
  const rows = await sql<Domain[]>`select name, created_at as "createdAt" from domains order by name`;
  return [...rows];
}

export async function insertDomain(sql: Sql, name: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    await lockDomain(tx, name);
    const { count } = await tx`insert into domains (name) values (${name}) on conflict (name) do nothing`;
    if (count === 0) return false;
    await endMailedVerifications(tx, name);
    await announce(tx, { kind: 'domains' });
    return true;
  });
}

export async function deleteDomain(sql: Sql, name: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const aliases = await tx<{ name: string }[]>`select name from domain_aliases where target = ${name} order by name`;
    if (aliases.length > 0) {
      const names = aliases.map((alias) => alias.name).join(', ');
      throw new DirectoryConflict(`other domains are aliases of ${name}: remove them first (${names})`);
    }
    const { count } = await tx`delete from domains where name = ${name}`;
    if (count > 0) await announce(tx, { kind: 'domains' });
    return count > 0;
  });
}

export async function countAddresses(sql: Sql, domain: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer as count from addresses where domain = ${domain} and not unclaimed`;
  return row.count;
}

/** @throws DirectoryConflict */
export async function insertDomainAlias(sql: Sql, name: string, target: string): Promise<void> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('mansio aliases', 0))`;
    const why = await domainAliasFault(tx, name, target);
    if (why !== undefined) throw new DirectoryConflict(why);
    await tx`
      insert into domain_aliases (name, target) values (${name}, ${target})
      on conflict (name) do update set target = excluded.target`;
    await announce(tx, { kind: 'domains' });
  });
}

async function domainAliasFault(tx: SqlTransaction, name: string, target: string): Promise<string | undefined> {
  if (name === target) return `${name} cannot be an alias of itself`;
  const hosted = await tx<{ name: string; aliasOf: string | null; isTarget: boolean; hasCatchAll: boolean }[]>`
    select d.name, a.target as "aliasOf", exists (select from domain_aliases o where o.target = d.name) as "isTarget",
      exists (select from aliases c where c.address = '*@' || d.name) as "hasCatchAll"
    from domains d left join domain_aliases a using (name) where d.name in (${name}, ${target}) for key share of d`;
  const [alias, whole] = [name, target].map((one) => hosted.find((row) => row.name === one));
  if (alias === undefined) return `not a hosted domain: ${name}`;
  if (whole === undefined) return `not a hosted domain: ${target}`;
  if (whole.aliasOf !== null) return `${target} is an alias of ${whole.aliasOf}: name that domain`;
  if (alias.isTarget) return `other domains are aliases of ${name}: it cannot be an alias itself`;
  if (alias.hasCatchAll) return `*@${name} is an alias: remove it first (mansio alias remove '*@${name}')`;
  return undefined;
}

/** Mail is accepted for a domain below a hosted one, too, when it has a catch-all. */
export async function listRoutedDomains(sql: Sql | SqlTransaction): Promise<readonly RoutedDomain[]> {
  const rows = await sql<RoutedDomain[]>`
    select d.name, a.target as "aliasOf", false as "isBelow" from domains d left join domain_aliases a using (name)
    union all
    select c.name, null, true from (select substr(address, 3) as name from aliases where address like '*@%') c
    where exists (select from domains d where c.name like '%.' || d.name)
      and not exists (select from domains d where d.name = c.name)`;
  return [...rows];
}
