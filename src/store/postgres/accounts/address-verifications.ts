// Verifications of addresses by mail: each mail has a link, whose hash is here until it is used, too old, or replaced by a newer mail. The
// rates count mails that were sent, also for addresses that were given up meanwhile.
import type {
  AddressVerification,
  TooManyMails,
  VerificationRates,
  VerificationRefusal,
  VerifiedAddress,
} from '../../directory.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { lockDomain } from './address-rows.js';
import { announce } from './directory-changes.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Renews the token of an address that is not verified. */
export async function renewVerification(
  sql: Sql,
  accountId: string,
  addressId: string,
  hash: string,
  rates: VerificationRates,
): Promise<{ readonly kind: 'renewed'; readonly address: string } | VerificationRefusal> {
  return sql.begin(async (tx) => {
    await lockAddresses(tx, accountId);
    const [found] = await tx<{ address: string; isVerified: boolean; isHosted: boolean }[]>`
      select a.address, a.verified as "isVerified",
        ${isHosted(tx, tx`a.domain`)} as "isHosted"
      from addresses a join accounts owner on owner.id = a.account_id
      where a.id = ${addressId} and a.account_id = ${accountId} and owner.email <> a.address`;
    if (found === undefined) return { kind: 'noSuchAddress' as const };
    if (found.isVerified) return { kind: 'verified' as const };
    if (found.isHosted) return { kind: 'hosted' as const };
    const refusal = await recordMail(tx, accountId, found.address, rates);
    if (refusal !== undefined) return refusal;
    await tx`update addresses set verification_hash = ${hash}, verification_sent_at = now() where id = ${addressId}`;
    return { kind: 'renewed' as const, address: found.address };
  });
}

/** Holds the bounds of one account; the lock of an address holds its rate across accounts. */
export async function lockAddresses(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio addresses of ${accountId}`}, 0))`;
}

/** Counts a mail that is about to be sent; undefined when it may be. */
export async function recordMail(
  tx: SqlTransaction,
  accountId: string,
  address: string,
  { perAccountAndDay }: VerificationRates,
): Promise<TooManyMails | undefined> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio verification of ${address}`}, 0))`;
  await tx`delete from verification_mails where account_id = ${accountId} and sent_at <= now() - interval '1 day'`;
  const [counted] = await tx<[{ oldestMs: number | null; lastMs: number | null }]>`
    select
      (select extract(epoch from now() - sent_at) * 1000 from verification_mails
        where account_id = ${accountId} order by sent_at desc offset ${perAccountAndDay - 1} limit 1)::float8 as "oldestMs",
      (select extract(epoch from now() - max(sent_at)) * 1000 from verification_mails
        where address = ${address})::float8 as "lastMs"`;
  const waits = [
    ...(counted.oldestMs === null ? [] : [DAY_MS - counted.oldestMs]),
    ...(counted.lastMs === null ? [] : [HOUR_MS - counted.lastMs]),
  ].filter((ms) => ms > 0);
  if (waits.length > 0) return { kind: 'tooManyMails', againInMs: Math.max(...waits) };
  await tx`insert into verification_mails (account_id, address) values (${accountId}, ${address})`;
  return undefined;
}

/** The mail could not be sent: it does not count. */
export async function withdrawVerification(sql: Sql, accountId: string, address: string): Promise<void> {
  await sql`
    delete from verification_mails where (account_id, address, sent_at) in (
      select account_id, address, sent_at from verification_mails
      where account_id = ${accountId} and address = ${address} order by sent_at desc limit 1)`;
}

export async function findVerification(
  sql: Sql,
  hash: string,
  maxAgeMs: number,
): Promise<AddressVerification | undefined> {
  const [found] = await sql<AddressVerification[]>`
    select a.address, owner.email, owner.display_name as "displayName"
    from addresses a join accounts owner on owner.id = a.account_id
    where a.verification_hash = ${hash} and not a.verified and ${isGood(sql, maxAgeMs)}`;
  return found;
}

/** The hash goes with the verification, so of two calls at the same time the second one finds nothing. */
export async function confirmVerification(sql: Sql, hash: string, maxAgeMs: number): Promise<VerifiedAddress> {
  return sql.begin(async (tx): Promise<VerifiedAddress> => {
    const [asked] = await tx<{ address: string; domain: string }[]>`
      select address, domain from addresses a where verification_hash = ${hash} and not verified`;
    if (asked === undefined) return { kind: 'gone' };
    const { address, domain } = asked;
    await lockDomain(tx, domain);
    // The operator alone verifies addresses at hosted domains, also at one that is hosted since the mail was sent.
    const [{ hosted }] = await tx<[{ hosted: boolean }]>`select ${isHosted(tx, tx`${domain}`)} as hosted`;
    if (hosted) return { kind: 'gone' };
    const [owner] = await tx`select from addresses where address = ${address} and verified`;
    if (owner !== undefined) return { kind: 'taken', address };
    const rows = await tx`
      update addresses a set verified = true, verification_hash = null
      where verification_hash = ${hash} and not verified and ${isGood(tx, maxAgeMs)} returning a.id`;
    if (rows.length === 0) return { kind: 'gone' };
    await announce(tx, { kind: 'address', address });
    return { kind: 'verified', address };
  });
}

/**
 * Ends the verifications by mail of addresses at a domain that is hosted from now on: the operator alone verifies addresses there. The
 * transaction must have the lock of the domain.
 */
export async function endMailedVerifications(tx: SqlTransaction, domain: string): Promise<void> {
  const ended = await tx<{ address: string }[]>`
    update addresses set verified = false, verification_hash = null
    where domain = ${domain} and verified and verification_sent_at is not null returning address`;
  for (const { address } of ended) await announce(tx, { kind: 'address', address });
}

/** Whether mail for addresses at the domain is accepted: a catch-all makes a domain below a hosted one hosted. */
const isHosted = (tx: SqlTransaction, domain: ReturnType<SqlTransaction>) =>
  tx`(exists (select from domains d where d.name = ${domain}) or exists (select from aliases c where c.address = '*@' || ${domain}))`;

const isGood = (sql: Sql | SqlTransaction, maxAgeMs: number) =>
  sql`a.verification_sent_at > now() - ${maxAgeMs}::float8 * interval '1 ms'`;
