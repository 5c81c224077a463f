// The size of unclaimed mailboxes: whether a domain may have another unclaimed address, the use by domain, and the excess of one
// mailbox. These reads take no lock: `holdAddress` decides about addresses; concurrent mail may exceed the other bounds a little.
import type { UnclaimedUsage } from '../../directory.js';
import type { Sql } from '../driver/client.js';
import { domainOf } from './address-rows.js';

/** An email counts for at least this many octets, because its rows use space too. */
const LEAST_OCTETS = 4096;

export async function hasUnclaimedRoom(sql: Sql, address: string, limit: number): Promise<boolean> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer as count from addresses where domain = ${domainOf(address)} and unclaimed`;
  return row.count < limit;
}

/** Counts the octets of placed emails and of messages that wait. */
export async function unclaimedUsage(
  sql: Sql,
  exceptNames: readonly string[],
): Promise<ReadonlyMap<string, UnclaimedUsage>> {
  const rows = await sql<{ domain: string; addresses: number; octets: number }[]>`
    with unclaimed as (
      select domain, account_id, split_part(address, '@', 1) <> all(${exceptNames as string[]}::text[]) as counts
      from addresses where unclaimed
    ), message as (
      select h.domain, e.size from unclaimed h join emails e using (account_id) where h.counts
      union all
      select h.domain, b.size from unclaimed h join inbound i using (account_id) join blobs b on b.hash = i.blob where h.counts
    ), size as (
      select domain, sum(greatest(size, ${LEAST_OCTETS}))::float8 as octets from message group by domain
    )
    select domain, addresses, coalesce(octets, 0) as octets
    from (select domain, count(*)::integer as addresses from unclaimed group by domain) d left join size using (domain)`;
  return new Map(rows.map(({ domain, ...use }) => [domain, use]));
}

/** Received time of the newest email beyond what is kept, in ms since the epoch. */
export async function unclaimedSurplus(
  sql: Sql,
  accountId: string,
  kept: { readonly messages: number; readonly octets: number },
): Promise<number | undefined> {
  const [row] = await sql<{ at: number | null }[]>`
    select floor(extract(epoch from max(received_at)) * 1000)::float8 as at
    from (
      select received_at, row_number() over newest as messages, sum(greatest(size, ${LEAST_OCTETS})) over newest as octets
      from emails where account_id = ${accountId}
      window newest as (order by received_at desc, id desc)
    ) x
    where messages > ${kept.messages} or octets > ${kept.octets}`;
  return row?.at ?? undefined;
}
