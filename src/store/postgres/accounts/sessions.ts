// Sessions of the page, and links for one sign-in, in PostgreSQL. Only hashes of keys and tokens are stored. `keys.ts` reads sessions together
// with API keys. A push subscription ends with the session that made it, in the same commit.
import { isUuid } from '../../../mail-format/ids.js';
import { newId } from '../../ids/new-id.js';
import {
  type LinkAccount,
  type NewSession,
  type NewSessionLink,
  type PageSession,
  SESSION_AGE_MS,
  SESSION_IDLE_MS,
  type SessionLink,
  type SessionStore,
  type SignInProof,
} from '../../sessions.js';
import { type Sql, type SqlTransaction, storeFault } from '../driver/client.js';
import { announce } from './directory-changes.js';

/** A session that has ended with a commit. */
interface Ended {
  readonly id: string;
  readonly accountId: string;
}

/** What a link says of the session that it makes. */
interface FromLink {
  readonly id: string;
  readonly proof: SignInProof | null;
  /** Null: when the session begins. */
  readonly provenAt: Date | null;
}

/** A new session, and the ids of those that ended with its commit. */
interface Begun {
  readonly session: PageSession;
  readonly ended: readonly string[];
}

/** `announced`: gets sessions whose end is committed; the call that ends them waits for it. */
export function postgresSessions(
  sql: Sql,
  announced: (ids: readonly string[]) => Promise<void> = async () => {},
): SessionStore {
  async function beginning(begun: Promise<Begun | undefined>): Promise<PageSession | undefined> {
    const { session, ended = [] } = (await begun.catch(rethrow)) ?? {};
    if (ended.length > 0) await announced(ended);
    return session;
  }

  return {
    create: (accountId, limit, session) =>
      beginning(
        sql.begin((tx) =>
          beginSession(tx, accountId, limit, session, { id: newId(), proof: session.proof ?? null, provenAt: null }),
        ),
      ),
    list: (accountId) => listSessions(sql, accountId).catch(rethrow),
    async end(accountId, id) {
      const isEnded = isUuid(id) && (await endSession(sql, accountId, id).catch(rethrow));
      if (isEnded) await announced([id.toLowerCase()]);
      return isEnded;
    },
    isProven: (...of) => isProven(sql, ...of).catch(rethrow),
    dropEnded: (maxAgeMs) => deleteEndedSessions(sql, maxAgeMs).catch(rethrow),
    addLink: (accountId, hash, lifetimeMs, limit) => insertLink(sql, accountId, hash, lifetimeMs, limit).catch(rethrow),
    addSessionLink: (link, limit) => insertSessionLink(sql, link, limit).catch(rethrow),
    withdrawLink: (...of) => deleteLink(sql, ...of).catch(rethrow),
    accountOfLink: (hash) => findLink(sql, hash).catch(rethrow),
    redeemLink: (hash, limit, session) => beginning(redeem(sql, hash, limit, session)),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

const columns = (sql: Sql | SqlTransaction) => sql`
  id, account_id as "accountId", user_agent as "userAgent", created_at as "createdAt", last_used_at as "lastUsedAt"`;

/** Locks the account's row (shared), so that the account is not deleted meanwhile. */
async function beginSession(
  tx: SqlTransaction,
  accountId: string,
  limit: number,
  { prefix, hash, userAgent, replaces }: Omit<NewSession, 'proof'>,
  { id, proof, provenAt }: FromLink,
): Promise<Begun | undefined> {
  await lockSessions(tx, accountId);
  const [account] = await tx`select id from accounts where id = ${accountId} for key share`;
  if (account === undefined) return undefined;
  const replaced = replaces ?? null;
  // The browser may have been signed in to another account.
  const ended = await tx<Ended[]>`
    update sessions set ended_at = now()
    where ended_at is null and (id = ${replaced}::uuid or id in (
      select id from sessions where account_id = ${accountId} and ended_at is null and id is distinct from ${replaced}::uuid
      order by last_used_at desc, id desc offset ${limit - 1}))
    returning id, account_id as "accountId"`;
  await notice(tx, ended);
  const [session] = await tx<[PageSession]>`
    insert into sessions (id, account_id, prefix, hash, user_agent, proof, proven_at)
    values (${id}, ${accountId}, ${prefix}, ${hash}, ${userAgent}, ${proof}, ${provenAt}) returning ${columns(tx)}`;
  await announce(tx, { kind: 'sessions', accountId });
  return { session, ended: ended.map(({ id }) => id) };
}

/** Serializes the calls that begin sessions of the account. */
async function lockSessions(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mansio sessions of ${accountId}`}, 0))`;
}

async function listSessions(sql: Sql, accountId: string): Promise<readonly PageSession[]> {
  const rows = await sql<PageSession[]>`
    select ${columns(sql)} from sessions
    where account_id = ${accountId} and ended_at is null order by created_at desc, id desc`;
  return [...rows];
}

async function isProven(sql: Sql, accountId: string, id: string, maxAgeMs: number): Promise<boolean> {
  const rows = await sql`
    select from sessions where id = ${id} and account_id = ${accountId} and ended_at is null and proof is not null
      and coalesce(proven_at, created_at) > now() - ${maxAgeMs}::float8 * interval '1 ms'`;
  return rows.length > 0;
}

async function endSession(sql: Sql, accountId: string, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const ended = await tx<Ended[]>`
      update sessions set ended_at = now() where id = ${id} and account_id = ${accountId} and ended_at is null
      returning id, account_id as "accountId"`;
    await notice(tx, ended);
    return ended.length > 0;
  });
}

/** What follows from the end of sessions, in its transaction. */
async function notice(tx: SqlTransaction, ended: readonly Ended[]): Promise<void> {
  for (const { id, accountId } of ended) {
    await tx`delete from push_subscriptions where account_id = ${accountId} and session_id = ${id}`;
    await announce(tx, { kind: 'key-revoked', keyId: id });
  }
  for (const accountId of new Set(ended.map((one) => one.accountId)))
    await announce(tx, { kind: 'sessions', accountId });
}

async function deleteEndedSessions(sql: Sql, maxAgeMs: number): Promise<number> {
  const rows = await sql`
    with gone as (
      delete from sessions
      where coalesce(ended_at, least(created_at + ${SESSION_AGE_MS}::float8 * interval '1 ms',
        last_used_at + ${SESSION_IDLE_MS}::float8 * interval '1 ms')) < now() - ${maxAgeMs}::float8 * interval '1 ms'
      returning id, account_id, last_used_at
    ), unsubscribed as (
      delete from push_subscriptions p using gone g where p.account_id = g.account_id and p.session_id = g.id
    ), used as (
      update accounts a set last_login_at = greatest(a.last_login_at, g.at)
      from (select account_id, max(last_used_at) as at from gone group by account_id) g
      where a.id = g.account_id and (a.last_login_at is null or a.last_login_at < g.at)
    )
    select from gone`;
  return rows.length;
}

async function insertLink(
  sql: Sql,
  accountId: string,
  hash: string,
  lifetimeMs: number | undefined,
  limit: number,
): Promise<Date | undefined> {
  return sql.begin(async (tx) => {
    const [link] = await tx<[{ expiresAt: Date | null }]>`
      insert into sign_in_links (hash, account_id, expires_at)
      values (${hash}, ${accountId}, now() + ${lifetimeMs ?? null}::float8 * interval '1 ms')
      returning expires_at as "expiresAt"`;
    await tx`
      delete from sign_in_links where expires_at <= now() and hash <> ${hash} or hash in (
        select hash from sign_in_links where account_id = ${accountId} and maker_id is null and hash <> ${hash}
        order by created_at desc, hash offset ${limit - 1})`;
    return link.expiresAt ?? undefined;
  });
}

async function insertSessionLink(
  sql: Sql,
  { accountId, makerId, hash, lifetimeMs }: NewSessionLink,
  limit: number,
): Promise<SessionLink | undefined> {
  return sql.begin(async (tx) => {
    const [link] = await tx<SessionLink[]>`
      insert into sign_in_links (hash, account_id, expires_at, maker_id, session_id)
      select ${hash}, account_id, now() + ${lifetimeMs}::float8 * interval '1 ms', id, ${newId()}
      from sessions where id = ${makerId} and account_id = ${accountId} and ended_at is null
      on conflict (maker_id) do update set hash = excluded.hash, expires_at = excluded.expires_at,
        session_id = excluded.session_id, created_at = excluded.created_at
      returning session_id as "sessionId", expires_at as "expiresAt"`;
    await tx`
      delete from sign_in_links where expires_at <= now() or hash in (
        select hash from sign_in_links where account_id = ${accountId} and maker_id <> ${makerId}
        order by created_at desc, hash offset ${limit - 1})`;
    return link;
  });
}

async function deleteLink(sql: Sql, accountId: string, sessionId: string): Promise<boolean> {
  if (!isUuid(sessionId)) return false;
  const rows = await sql`
    delete from sign_in_links where account_id = ${accountId} and session_id = ${sessionId} returning hash`;
  return rows.length > 0;
}

/** Whether the session that has made the link is alive; `s` is its row. It was used when it made the link. */
const isMakerAlive = (sql: Sql | SqlTransaction) => sql`
  s.ended_at is null and s.created_at > now() - ${SESSION_AGE_MS}::float8 * interval '1 ms'`;

async function findLink(sql: Sql, hash: string): Promise<LinkAccount | undefined> {
  const [account] = await sql<LinkAccount[]>`
    select a.id, a.email, a.display_name as "displayName" from sign_in_links l join accounts a on a.id = l.account_id
    left join sessions s on s.id = l.maker_id
    where l.hash = ${hash} and (l.expires_at is null or l.expires_at > now())
      and (l.maker_id is null or ${isMakerAlive(sql)})`;
  return account;
}

/** The row of the link is deleted first: of two calls at the same time, the second one waits and finds nothing. */
async function redeem(
  sql: Sql,
  hash: string,
  limit: number,
  session: Omit<NewSession, 'proof'>,
): Promise<Begun | undefined> {
  return sql.begin(async (tx) => {
    const [link] = await tx<{ accountId: string; makerId: string | null; sessionId: string | null }[]>`
      delete from sign_in_links where hash = ${hash} and (expires_at is null or expires_at > now())
      returning account_id as "accountId", maker_id as "makerId", session_id as "sessionId"`;
    if (link === undefined) return undefined;
    const { accountId, makerId, sessionId } = link;
    const proven =
      makerId === null ? ({ proof: 'link', provenAt: null } as const) : await proofOf(tx, accountId, makerId);
    return proven && beginSession(tx, accountId, limit, session, { ...proven, id: sessionId ?? newId() });
  });
}

/** The proof of a session that has made a link; undefined when it has ended. It does not end before this transaction does. */
async function proofOf(tx: SqlTransaction, accountId: string, id: string): Promise<Omit<FromLink, 'id'> | undefined> {
  // The row is locked behind the account, so that two links of each other's sessions do not wait for each other.
  await lockSessions(tx, accountId);
  const [maker] = await tx<Omit<FromLink, 'id'>[]>`
    select s.proof, coalesce(s.proven_at, s.created_at) as "provenAt" from sessions s
    where s.id = ${id} and ${isMakerAlive(tx)} for share`;
  return maker;
}
