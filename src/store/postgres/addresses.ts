// Addresses and who gets their mail. Whatever gives an address an owner first locks its domain, so that "is it free"
// and "take it" are one step, and the bound on held addresses cannot be overrun by deliveries at the same time.
import { randomUUID } from 'node:crypto';
import { type AccountAddress, type AddressOwner, DirectoryConflict, type HoldResult } from '../directory.js';
import { insertAccount } from './account-rows.js';
import type { Sql, Transaction } from './client.js';
import { announce } from './directory-changes.js';

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

export async function findOwner(sql: Sql | Transaction, address: string): Promise<AddressOwner | undefined> {
  const [row] = await sql<AddressOwner[]>`
    select account_id as "accountId", held from addresses where address = ${address} and verified`;
  return row;
}

export async function addAddress(
  sql: Sql,
  accountId: string,
  address: string,
  verified: boolean,
): Promise<AccountAddress> {
  return sql.begin(async (tx) => {
    await lockDomain(tx, domainOf(address));
    const owner = await findOwner(tx, address);
    if (owner !== undefined) throw new DirectoryConflict(`the address ${address} is taken`);
    const added = await insertAddress(tx, { accountId, address, verified, held: false });
    await announce(tx, { kind: 'address', address });
    return added;
  });
}

export async function holdAddress(sql: Sql, shards: number, address: string, limit: number): Promise<HoldResult> {
  const domain = domainOf(address);
  // Asked before the lock too: a full domain under a flood of guesses must not make everyone queue for it.
  const owner = await findOwner(sql, address);
  if (owner !== undefined) return { kind: 'held', accountId: owner.accountId };
  if ((await countHeld(sql, domain)) >= limit) return { kind: 'full' };
  return sql.begin(async (tx): Promise<HoldResult> => {
    await lockDomain(tx, domain);
    const other = await findOwner(tx, address);
    if (other !== undefined) return { kind: 'held', accountId: other.accountId };
    if ((await countHeld(tx, domain)) >= limit) return { kind: 'full' };
    const { id } = await insertAccount(tx, { email: address, displayName: '', held: true }, shards);
    await insertAddress(tx, { accountId: id, address, verified: true, held: true });
    return { kind: 'held', accountId: id };
  });
}

/** Until the transaction ends, nobody else gives an address of this domain an owner. */
export async function lockDomain(tx: Transaction, domain: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio addresses of ${domain}`}, 0))`;
}

async function countHeld(sql: Sql | Transaction, domain: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer as count from addresses where domain = ${domain} and held`;
  return row.count;
}

export async function insertAddress(
  tx: Transaction,
  row: { accountId: string; address: string; verified: boolean; held: boolean },
): Promise<AccountAddress> {
  const [added] = await tx<[AccountAddress]>`
    insert into addresses (id, address, account_id, domain, held, verified)
    values (${randomUUID()}, ${row.address}, ${row.accountId}, ${domainOf(row.address)}, ${row.held}, ${row.verified})
    returning id, address, verified as "isVerified", added_at as "addedAt"`;
  return added;
}
