// Creates accounts, or claims them when their address is unclaimed; finds and deletes them.
import { type Account, DirectoryConflict } from '../../directory.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { accountColumns, deleteAccountRows, insertAccount } from './account-rows.js';
import { domainOf, findOwner, insertAddress, lockDomain, refuseAlias } from './address-rows.js';
import { announce } from './directory-changes.js';
import { claimUnclaimed } from './unclaimed-mailboxes.js';

export async function createAccount(sql: Sql, shards: number, email: string, displayName: string): Promise<Account> {
  return sql.begin(async (tx) => {
    await lockDomain(tx, domainOf(email));
    const owner = await findOwner(tx, email);
    if (owner !== undefined && !owner.isUnclaimed) throw new DirectoryConflict(`the address ${email} is taken`);
    await refuseAlias(tx, email);
    return openAccount(tx, shards, { email, displayName, unclaimedId: owner?.accountId });
  });
}

/** The domain must be locked, and the address free or held by the unclaimed mailbox `unclaimedId`. */
export async function openAccount(
  tx: SqlTransaction,
  shards: number,
  { email, displayName, unclaimedId }: { email: string; displayName: string; unclaimedId: string | undefined },
): Promise<Account> {
  const claimed = unclaimedId === undefined ? undefined : await claimUnclaimed(tx, unclaimedId, displayName);
  const account = claimed ?? (await insertAccount(tx, { email, displayName, isUnclaimed: false }, shards));
  if (claimed === undefined) {
    await insertAddress(tx, { accountId: account.id, address: email, verified: true, isUnclaimed: false });
  }
  await announce(tx, { kind: 'address', address: email });
  return account;
}

/** Lists accounts without unclaimed mailboxes. */
export async function listAccounts(sql: Sql): Promise<readonly Account[]> {
  return [...(await sql<Account[]>`select ${accountColumns(sql)} from accounts where not unclaimed order by email`)];
}

export async function findAccountByEmail(sql: Sql, email: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`select ${accountColumns(sql)} from accounts where email = ${email}`;
  return account;
}

export async function findAccountsWith(sql: Sql, address: string): Promise<readonly Account[]> {
  return sql<Account[]>`
    select ${accountColumns(sql)} from accounts
    where not unclaimed and id in (select account_id from addresses where address = ${address}) order by email`;
}

export async function findAccountById(sql: Sql, id: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`select ${accountColumns(sql)} from accounts where id = ${id}`;
  return account;
}

export async function setDisplayName(sql: Sql, id: string, displayName: string): Promise<boolean> {
  const { count } = await sql`update accounts set display_name = ${displayName} where id = ${id} and not unclaimed`;
  return count > 0;
}

export async function deleteAccount(sql: Sql, id: string): Promise<boolean> {
  return sql.begin((tx) => deleteAccountRows(tx, id));
}
