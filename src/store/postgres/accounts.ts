// Accounts as a whole: made, or claimed when their address is held; found; deleted.
import { type Account, DirectoryConflict } from '../directory.js';
import { accountColumns, deleteAccountRows, insertAccount } from './account-rows.js';
import { domainOf, findOwner, insertAddress, lockDomain } from './address-rows.js';
import type { Sql } from './client.js';
import { announce } from './directory-changes.js';
import { claimHeld } from './held.js';

export async function createAccount(sql: Sql, shards: number, email: string, displayName: string): Promise<Account> {
  return sql.begin(async (tx) => {
    await lockDomain(tx, domainOf(email));
    const owner = await findOwner(tx, email);
    if (owner !== undefined && !owner.held) throw new DirectoryConflict(`the address ${email} is taken`);
    const claimed = owner === undefined ? undefined : await claimHeld(tx, owner.accountId, displayName);
    const account = claimed ?? (await insertAccount(tx, { email, displayName, held: false }, shards));
    if (claimed === undefined) {
      await insertAddress(tx, { accountId: account.id, address: email, verified: true, held: false });
    }
    await announce(tx, { kind: 'address', address: email });
    return account;
  });
}

/** Without held mailboxes. */
export async function listAccounts(sql: Sql): Promise<readonly Account[]> {
  return [...(await sql<Account[]>`select ${accountColumns(sql)} from accounts where not held order by email`)];
}

export async function findAccountByEmail(sql: Sql, email: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`select ${accountColumns(sql)} from accounts where email = ${email}`;
  return account;
}

export async function findAccountById(sql: Sql, id: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`select ${accountColumns(sql)} from accounts where id = ${id}`;
  return account;
}

export async function deleteAccount(sql: Sql, id: string): Promise<boolean> {
  return sql.begin((tx) => deleteAccountRows(tx, id));
}
