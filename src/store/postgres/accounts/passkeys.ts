// Passkeys in PostgreSQL, and the challenges that they have answered.
import { newId } from '../../ids/new-id.js';
import type {
  AnsweredChallenge,
  NewPasskey,
  Passkey,
  PasskeyCredential,
  PasskeyRefusal,
  PasskeyStore,
  StoredPasskey,
} from '../../sign-in/passkeys.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';

interface Row extends Omit<StoredPasskey, 'credentialId'> {
  readonly credentialId: Uint8Array;
}

const columns = (sql: Sql | SqlTransaction) => sql`
  id, account_id as "accountId", name, credential_id as "credentialId", public_key as "publicKey", counter::float8 as counter, transports,
  proven as "isProven", created_at as "createdAt", last_used_at as "lastUsedAt"`;

export function postgresPasskeys(sql: Sql): PasskeyStore {
  return {
    async list(accountId) {
      const rows = await guarded(
        () => sql<Row[]>`select ${columns(sql)} from passkeys where account_id = ${accountId} order by id`,
      );
      return rows.map(passkeyOf);
    },
    add: (accountId, passkey, challenge, limit) =>
      guarded(() => sql.begin((tx) => add(tx, accountId, passkey, challenge, limit))),
    async remove(accountId, id) {
      const { count } = await guarded(() => sql`delete from passkeys where account_id = ${accountId} and id = ${id}`);
      return count > 0;
    },
    async find(credentialId, rpId) {
      const [row] = await guarded(
        () => sql<Row[]>`
          select ${columns(sql)} from passkeys where credential_id = ${octetsOf(credentialId)} and rp_id = ${rpId}`,
      );
      return row && passkeyOf(row);
    },
    use: (id, counter, challenge) => guarded(() => use(sql, id, counter, challenge)),
    async dropChallenges() {
      return (await guarded(() => sql`delete from spent_challenges where expires_at < now()`)).count;
    },
  };
}

/** Locks the account's row (shared), so that the account is not deleted meanwhile, and serializes the calls per account. */
async function add(
  tx: SqlTransaction,
  accountId: string,
  { name, rpId, isProven, credentialId, publicKey, counter, transports }: NewPasskey,
  { hash, expiresAt }: AnsweredChallenge,
  limit: number,
): Promise<Passkey | PasskeyRefusal> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio passkeys of ${accountId}`}, 0))`;
  const [account] = await tx<{ count: number }[]>`
    select (select count(*)::int from passkeys where account_id = ${accountId}) as count
    from accounts where id = ${accountId} for key share`;
  if (account === undefined) return 'noAccount';
  if (account.count >= limit) return 'full';
  const [known] = await tx`select from passkeys where credential_id = ${octetsOf(credentialId)}`;
  if (known !== undefined) return 'known';
  const { count: spent } = await tx`
    insert into spent_challenges (hash, expires_at) values (${hash}, ${new Date(expiresAt)}) on conflict do nothing`;
  if (spent === 0) return 'spent';
  const [row] = await tx<Row[]>`
    insert into passkeys (id, account_id, name, rp_id, credential_id, public_key, counter, transports, proven)
    values (${newId()}, ${accountId}, ${name}, ${rpId}, ${octetsOf(credentialId)}, ${Buffer.from(publicKey)}, ${counter},
      ${transports as string[]}::text[], ${isProven})
    returning ${columns(tx)}`;
  return passkeyOf(row!);
}

/** The challenge is spent only with a counter that may follow, so that both are one statement. */
async function use(sql: Sql, id: string, counter: number, { hash, expiresAt }: AnsweredChallenge): Promise<boolean> {
  const [row] = await sql<[{ used: boolean }]>`
    with counted as (
      select id from passkeys where id = ${id} and (counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0)) for update
    ), spent as (
      insert into spent_challenges (hash, expires_at) select ${hash}, ${new Date(expiresAt)} from counted
      on conflict do nothing returning hash
    ), used as (
      update passkeys set counter = ${counter}::bigint, last_used_at = now()
      where id in (select id from counted) and exists (select from spent) returning id
    )
    select exists (select from used) as used`;
  return row.used;
}

function passkeyOf({ credentialId, ...row }: Row): StoredPasskey & Passkey & PasskeyCredential {
  return { ...row, credentialId: Buffer.from(credentialId).toString('base64url') };
}

const octetsOf = (credentialId: string): Buffer => Buffer.from(credentialId, 'base64url');
