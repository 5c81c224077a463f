// Hosted domains, for which mail is accepted. Accounts may have addresses elsewhere; removing a domain removes no mail.
import type { Domain } from '../../directory.js';
import type { Sql } from '../driver/client.js';
import { announce } from './directory-changes.js';

export async function listDomains(sql: Sql): Promise<readonly Domain[]> {
  const rows = await sql<Domain[]>`select name, created_at as "createdAt" from domains order by name`;
  return [...rows];
}

export async function insertDomain(sql: Sql, name: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const { count } = await tx`insert into domains (name) values (${name}) on conflict (name) do nothing`;
    if (count > 0) await announce(tx, { kind: 'domains' });
    return count > 0;
  });
}

export async function deleteDomain(sql: Sql, name: string): Promise<boolean> {
  return sql.begin(async (tx) => {
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
