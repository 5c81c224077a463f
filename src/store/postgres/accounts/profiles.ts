// An account as its owner sees it, with its additional addresses.
import type { AccountAddress, Profile } from '../../directory.js';
import type { Sql } from '../driver/client.js';
import { accountColumns } from './account-rows.js';
import { addressColumns } from './address-rows.js';

export async function findProfile(sql: Sql, id: string): Promise<Profile | undefined> {
  const [account] = await sql<Omit<Profile, 'additionalAddresses'>[]>`
    select ${accountColumns(sql)}, coalesce(
      greatest(
        last_login_at,
        (select max(last_used_at) from api_keys where account_id = accounts.id),
        (select max(last_used_at) from sessions where account_id = accounts.id)
      ), created_at
    ) as "lastLoginAt" from accounts where id = ${id} and not unclaimed`;
  if (account === undefined) return undefined;
  const addresses = await sql<AccountAddress[]>`
    select ${addressColumns(sql)} from addresses
    where account_id = ${id} and address <> ${account.email} order by added_at, id`;
  return { ...account, additionalAddresses: [...addresses] };
}
