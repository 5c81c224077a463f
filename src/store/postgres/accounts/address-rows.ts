// The rows of addresses and the lock that guards who gets one. Code that gives an address an owner first locks its domain, so
// that "is it free" and "take it" are one step, and the bound on unclaimed addresses holds.

import { catchAllOf } from '../../../mail-format/alias-expansion.js';
import type { AliasRoute } from '../../addresses/aliases.js';
import { type AccountAddress, type AddressOwner, type AddressRoute, DirectoryConflict } from '../../directory.js';
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

/** Returns a function that finds what an address leads to; concurrent look-ups share a statement. Rejects with a StoreFault. */
export function addressRoutes(sql: Sql): (address: string) => Promise<AddressRoute | undefined> {
  const group = new GroupCommit<string, AddressRoute | undefined>((addresses) => findRoutes(sql, addresses), {
    maxItems: MOST_LOOKED_UP,
    maxWeight: MOST_LOOKED_UP,
    maxWaiting: MOST_WAITING,
    weigh: () => 1,
  });
  return (address) => group.submit(address);
}

/** An account comes first, then the alias of the address, then the catch-all of its domain, then an unclaimed mailbox. */
export async function findRoutes(
  sql: Sql | SqlTransaction,
  addresses: readonly string[],
): Promise<readonly (AddressRoute | undefined)[]> {
  const rows = await sql.unsafe<(AddressOwner & { address: string })[]>(
    'select address, account_id as "accountId", unclaimed as "isUnclaimed" from addresses where address = any($1::text[]) and verified',
    [addresses as string[]],
    { prepare: true },
  );
  const owners = new Map(rows.map(({ address, ...owner }) => [address, owner]));
  const others = addresses.filter((address) => owners.get(address)?.isUnclaimed !== false);
  if (others.length === 0) return addresses.map((address) => owners.get(address));
  const aliases = await sql.unsafe<AliasRoute[]>(
    'select address as alias, targets, send_as as "sendAs" from aliases where address = any($1::text[])',
    [[...new Set([...others, ...others.map(catchAllOf)])]],
    { prepare: true },
  );
  const byAddress = new Map(aliases.map((alias) => [alias.alias, alias]));
  return addresses.map((address) => {
    const owner = owners.get(address);
    if (owner?.isUnclaimed === false) return owner;
    return byAddress.get(address) ?? byAddress.get(catchAllOf(address)) ?? owner;
  });
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
    returning ${addressColumns(tx)}`;
  return added;
}

/** The columns of `AccountAddress`. An address that the account has itself is no mere target. */
export const addressColumns = (sql: Sql | SqlTransaction) =>
  sql`id, address, verified as "isVerified", forwarding_only and not verified as "isForwardingOnly", added_at as "addedAt"`;

/** An account gets no address that is an alias, because the alias would silently end. The domain must be locked. */
export async function isAlias(tx: SqlTransaction, address: string): Promise<boolean> {
  const [alias] = await tx`select from aliases where address = ${address}`;
  return alias !== undefined;
}

/** @throws DirectoryConflict */
export async function refuseAlias(tx: SqlTransaction, address: string): Promise<void> {
  if (await isAlias(tx, address))
    throw new DirectoryConflict(`${address} is an alias: remove it first (mansio alias remove ${address})`);
}
