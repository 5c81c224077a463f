// Logins of the identity provider and their accounts. An account belongs to the first login that claims it. The lock on the
// domain of the address makes "whose is it" and "take it" one step.
import type { Account, Login, LoginAccount, NewLogin, Provisioned } from '../../directory.js';
import { codeOf, type Sql, type SqlTransaction } from '../driver/client.js';
import { accountColumns } from './account-rows.js';
import { openAccount } from './accounts.js';
import { domainOf, findOwner, isAlias, lockDomain } from './address-rows.js';

const UNIQUE_VIOLATION = '23505';

/** Most logins find a recent time and write nothing. */
export async function findLogin(sql: Sql, { issuer, subject }: Login): Promise<LoginAccount | undefined> {
  const [row] = await sql<(LoginAccount & { due: boolean })[]>`
    select id, email, coalesce(last_login_at < now() - interval '1 hour', true) as due
    from accounts where oidc_issuer = ${issuer} and oidc_subject = ${subject}`;
  if (row === undefined) return undefined;
  if (row.due) await sql`update accounts set last_login_at = now() where id = ${row.id}`;
  return { id: row.id, email: row.email };
}

export async function provisionLogin(sql: Sql, shards: number, login: NewLogin): Promise<Provisioned> {
  try {
    return await sql.begin((tx) => provision(tx, shards, login));
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    // The same login arrived concurrently with another address and got its account first.
    return await sql.begin((tx) => provision(tx, shards, login));
  }
}

async function provision(tx: SqlTransaction, shards: number, login: NewLogin): Promise<Provisioned> {
  const { issuer, subject, email, displayName, emailVerified } = login;
  await lockDomain(tx, domainOf(email));
  const [known] = await tx<Account[]>`
    select ${accountColumns(tx)} from accounts where oidc_issuer = ${issuer} and oidc_subject = ${subject}`;
  if (known !== undefined) return { kind: 'account', account: known };
  if (emailVerified === false) return { kind: 'unverified' };
  const owner = await findOwner(tx, email);
  if (owner !== undefined && !owner.isUnclaimed) return claim(tx, owner.accountId, login);
  if (await isAlias(tx, email)) return { kind: 'taken' };
  const account = await openAccount(tx, shards, { email, displayName, unclaimedId: owner?.accountId });
  await setLogin(tx, account.id, login);
  return { kind: 'account', account };
}

/** Claims an existing account, which its creator intended for the owner of the address. */
async function claim(tx: SqlTransaction, accountId: string, login: NewLogin): Promise<Provisioned> {
  const [account] = await tx<(Account & { isFree: boolean })[]>`
    select ${accountColumns(tx)}, oidc_subject is null and email = ${login.email} as "isFree"
    from accounts where id = ${accountId} for no key update`;
  if (account === undefined || !account.isFree) return { kind: 'taken' };
  await setLogin(tx, accountId, login);
  const { isFree: _, ...claimed } = account;
  return { kind: 'account', account: claimed };
}

async function setLogin(tx: SqlTransaction, accountId: string, { issuer, subject }: Login): Promise<void> {
  await tx`
    update accounts set oidc_issuer = ${issuer}, oidc_subject = ${subject}, last_login_at = now() where id = ${accountId}`;
}
