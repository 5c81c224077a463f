// Accounts as a whole: made, claimed, found, deleted. A held mailbox is an account without a login; claiming it keeps
// its id and so its mail.
import { type Account, DirectoryConflict } from '../directory.js';
import { accountColumns, insertAccount } from './account-rows.js';
import { domainOf, findOwner, insertAddress, lockDomain } from './addresses.js';
import type { Sql, Transaction } from './client.js';
import { announce } from './directory-changes.js';

/** Tables whose rows belong to one account and carry its id; they go with the account. */
export const ACCOUNT_TABLES = ['placements', 'expunged', 'emails', 'folders', 'events', 'inbound'] as const;

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

/**
 * Undefined when the held mailbox was deleted meanwhile. The modseq rises so that a mailbox actor that loaded the
 * account while it was held is fenced at its next write and loads it anew.
 */
async function claimHeld(tx: Transaction, id: string, displayName: string): Promise<Account | undefined> {
  const [account] = await tx<Account[]>`
    update accounts set held = false, display_name = ${displayName}, modseq = modseq + 1
    where id = ${id} and held returning ${accountColumns(tx)}`;
  if (account !== undefined) await tx`update addresses set held = false where account_id = ${id}`;
  return account;
}

/** Without held mailboxes. */
export async function listAccounts(sql: Sql): Promise<readonly Account[]> {
  return await sql<Account[]>`select ${accountColumns(sql)} from accounts where not held order by email`;
}

export async function findAccountByEmail(sql: Sql, email: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`select ${accountColumns(sql)} from accounts where email = ${email}`;
  return account;
}

export async function findAccountById(sql: Sql, id: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`select ${accountColumns(sql)} from accounts where id = ${id}`;
  return account;
}

export async function listHeld(sql: Sql, before: number, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from accounts a
    where held and (created_at < ${new Date(before)} or exists (
      select from emails e where e.account_id = a.id and e.received_at < ${new Date(before)}))
    order by created_at, id limit ${limit}`;
  return rows.map((row) => row.id);
}

/** The account's row is locked first: its mailbox can commit nothing after, and what it committed before is seen. */
export async function deleteAccount(sql: Sql, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [account] = await tx<{ id: string }[]>`select id from accounts where id = ${id} for update`;
    if (account === undefined) return false;
    await registerBlobs(tx, account.id);
    for (const table of ACCOUNT_TABLES) await tx`delete from ${tx(table)} where account_id = ${account.id}`;
    await tx`delete from accounts where id = ${account.id}`;
    await announce(tx, { kind: 'account-deleted', accountId: account.id });
    return true;
  });
}

async function registerBlobs(tx: Transaction, accountId: string): Promise<void> {
  await tx`
    insert into blob_candidates (hash)
    select blob from emails where account_id = ${accountId}
    union select blob from inbound where account_id = ${accountId}`;
}
