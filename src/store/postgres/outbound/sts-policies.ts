// MTA-STS policies in PostgreSQL: one row per domain. Expired policies are ignored, and deleted when another policy is kept.
import type { StsPolicy, StsPolicyStore } from '../../sts-policies.js';
import { type Sql, storeFault } from '../driver/client.js';

/** At most this many expired rows are deleted when a policy is kept. */
const SWEPT = 100;

export function postgresStsPolicies(sql: Sql): StsPolicyStore {
  return {
    policyOf: (domain) => findPolicy(sql, domain).catch(rethrow),
    keep: (domain, policy) => keepPolicy(sql, domain, policy).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

async function findPolicy(sql: Sql, domain: string): Promise<StsPolicy | undefined> {
  const [row] = await sql<{ id: string; policy: Pick<StsPolicy, 'mode' | 'mx' | 'maxAge'>; expiresAt: Date }[]>`
    select policy_id as id, policy, expires_at as "expiresAt" from sts_policies
    where domain = ${domain} and expires_at > now()`;
  if (row === undefined) return undefined;
  const { id, policy, expiresAt } = row;
  return { ...policy, id, expiresAt: expiresAt.getTime() };
}

/** When two nodes fetch at the same time, the policy that is valid longer wins. */
async function keepPolicy(sql: Sql, domain: string, { id, mode, mx, maxAge, expiresAt }: StsPolicy): Promise<void> {
  const policy = JSON.stringify({ mode, mx, maxAge });
  await sql`
    with expired as (
      delete from sts_policies where domain in (
        select domain from sts_policies where expires_at < now() and domain <> ${domain}
        limit ${SWEPT} for update skip locked))
    insert into sts_policies (domain, policy_id, policy, expires_at)
    values (${domain}, ${id}, ${policy}::text::json, ${new Date(expiresAt)})
    on conflict (domain) do update
      set policy_id = excluded.policy_id, policy = excluded.policy, expires_at = excluded.expires_at
      where sts_policies.policy_id <> excluded.policy_id or sts_policies.expires_at < excluded.expires_at`;
}
