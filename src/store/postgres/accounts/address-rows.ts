// The rows of addresses and the lock that guards who gets one. Code that gives an address an owner first locks its domain, so
// that "is it free" and "take it" are one step, and the bound on unclaimed addresses holds.

import type { AccountAddress, AddressOwner } from '../../directory.js';
import { newId } from '../../ids/new-id.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { GroupCommit } from '../driver/group-commit.js';

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

export async function findOwner(sql: Sql | SqlTransaction, address: string): Promise<AddressOwner | undefined> {
  const [row] = await sql<AddressOwner[]>`
    select account_id as "accountId", unclaimed as "isUnclaimed" from addresses where address = ${address} and verified`;
  return row;
}

/** One statement looks up at most this many addresses. */
const MOST_LOOKED_UP = 64;
const MOST_WAITING = 1_000_000;

/** Returns a function that finds the owner of an address; concurrent look-ups share a statement. Rejects with a StoreFault. */
export function addressOwners(sql: Sql): (address: string) => Promise<AddressOwner | undefined> {
  const findAll = async (addresses: readonly string[]) => {
    const rows = await sql.unsafe<(AddressOwner & { address: string })[]>(
      'select address, account_id as "accountId", unclaimed as "isUnclaimed" from addresses where address = any($1::text[]) and verified',
      [addresses as string[]],
      { prepare: true },
    );
    const owners = new Map(rows.map(({ address, ...owner }) => [address, owner]));
    return addresses.map((address) => owners.get(address));
  };
  const group = new GroupCommit<string, AddressOwner | undefined>(findAll, {
    maxItems: MOST_LOOKED_UP,
    maxWeight: MOST_LOOKED_UP,
    maxWaiting: MOST_WAITING,
    weigh: () => 1,
  });
  return (address) => group.submit(address);
}

/** Locks the domain: until the transaction ends, no other transaction gives one of its addresses an owner. */
export async function lockDomain(tx: SqlTransaction, domain: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio addresses of ${domain}`}, 0))`;
}

/** Returns undefined when the account already has the address, unless this verifies it. */
export async function insertAddress(
  tx: SqlTransaction,
  row: { accountId: string; address: string; verified: boolean; isUnclaimed: boolean },
): Promise<AccountAddress | undefined> {
  const [added] = await tx<AccountAddress[]>`
    insert into addresses (id, address, account_id, domain, unclaimed, verified)
    values (${newId()}, ${row.address}, ${row.accountId}, ${domainOf(row.address)}, ${row.isUnclaimed}, ${row.verified})
    on conflict (account_id, address) do update set verified = true where excluded.verified and not addresses.verified
    returning id, address, verified as "isVerified", added_at as "addedAt"`;
  return added;
}
