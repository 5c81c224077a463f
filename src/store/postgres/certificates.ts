// Certificates by ACME in PostgreSQL. Every write of the requesting node checks its lease in the same statement, and locks the row of the lease,
// so that a node that has lost it changes nothing.
import type {
  CertificateLook,
  CertificateState,
  CertificateStore,
  ObtainedCertificate,
  RequestFailure,
  RequestLease,
  ServedCertificate,
} from '../certificates.js';
import { type Sql, storeFault } from './driver/client.js';

/** Longer than any order takes. */
const TOKEN_AGE = '10 minutes';
/** From then on a request waits for longer than a few minutes. */
const MANY_FAILURES = 3;

interface StateRow {
  readonly domain: string | null;
  readonly names: string[];
  readonly notAfter: Date | null;
  readonly renewalId: string | null;
  readonly renewAt: Date | null;
  readonly askAt: Date | null;
  readonly nextAt: Date | null;
  readonly failures: number;
  readonly errorType: string | null;
  readonly error: string | null;
  readonly tried: string[];
}

/** `directory`: the URL of the ACME directory; another one has certificates of its own. */
export function postgresCertificates(sql: Sql, directory: string): CertificateStore {
  return {
    look: (now) => readLook(sql, directory, now).catch(rethrow),
    changed: (revision) => readChanged(sql, directory, revision).catch(rethrow),
    states: () => readStates(sql, directory).catch(rethrow),
    due: (now, most) => readDue(sql, directory, now, most).catch(rethrow),
    nodeStarts: (names, now) => hurry(sql, directory, names, now).catch(rethrow),
    authorizations: () => readTokens(sql).catch(rethrow),
    acquire: (nodeId, ttlMs, newKey) => acquire(sql, directory, nodeId, ttlMs, newKey).catch(rethrow),
    extend: (lease, ttlMs) => extend(sql, directory, lease, ttlMs).catch(rethrow),
    release: (lease) => release(sql, directory, lease).catch(rethrow),
    keepAccount: (lease, url) => keepAccount(sql, directory, lease, url).catch(rethrow),
    publish: (lease, token, authorization) => insertToken(sql, directory, lease, token, authorization).catch(rethrow),
    keep: (lease, domain, certificate) => keep(sql, directory, lease, domain, certificate).catch(rethrow),
    failed: (lease, domain, failure) => keepFailure(sql, directory, lease, domain, failure).catch(rethrow),
    schedule: (lease, domain, times) => schedule(sql, directory, lease, domain, times).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

const dateOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms));

async function readLook(sql: Sql, directory: string, now: number): Promise<CertificateLook> {
  const [row] = await sql<
    { revision: number; isDue: boolean; failing: number; ownFailure: string | null; domainsEnd: Date | null }[]
  >`
    select coalesce((select revision from acme_accounts where directory = ${directory}), 0)::float8 as revision,
      exists (
        select from (select null as name union all select name from domains) as subject
        left join certificates c on c.directory = ${directory} and c.domain is not distinct from subject.name
        where c.directory is null or c.next_at <= ${new Date(now)}
      ) as "isDue",
      count(*) filter (where failures > 0)::integer as failing,
      min(error_type) filter (where domain is null and failures > 0) as "ownFailure",
      min(not_after) filter (where domain is not null) as "domainsEnd"
    from certificates where directory = ${directory}`;
  const { revision, isDue, failing, ownFailure, domainsEnd } = row!;
  return { revision, isDue, failing, ownFailure: ownFailure ?? undefined, domainsEnd: domainsEnd?.getTime() };
}

async function readChanged(sql: Sql, directory: string, revision: number): Promise<readonly ServedCertificate[]> {
  const rows = await sql<{ domain: string | null; names: string[]; chain: string; privateKey: string }[]>`
    select domain, names, chain, private_key as "privateKey" from certificates
    where directory = ${directory} and revision > ${revision} and chain is not null`;
  return rows.map((row) => ({ ...row, domain: row.domain ?? undefined }));
}

const stateColumns = (sql: Sql) => sql`
  coalesce(c.names, '{}') as names, c.not_after as "notAfter", c.renewal_id as "renewalId", c.renew_at as "renewAt",
  c.ask_at as "askAt", c.next_at as "nextAt", coalesce(c.failures, 0) as failures, c.error_type as "errorType", c.error,
  coalesce(c.tried, '{}') as tried`;

async function readStates(sql: Sql, directory: string): Promise<readonly CertificateState[]> {
  const rows = await sql<StateRow[]>`
    select c.domain, ${stateColumns(sql)} from certificates c
    where c.directory = ${directory} order by c.domain nulls first`;
  return rows.map(stateOf);
}

async function readDue(sql: Sql, directory: string, now: number, most: number): Promise<readonly CertificateState[]> {
  const rows = await sql<StateRow[]>`
    select subject.name as domain, ${stateColumns(sql)}
    from (select null as name union all select name from domains) as subject
    left join certificates c on c.directory = ${directory} and c.domain is not distinct from subject.name
    where c.directory is null or c.next_at <= ${new Date(now)}
    order by subject.name is not null, c.next_at nulls first, subject.name limit ${most}`;
  return rows.map(stateOf);
}

function stateOf(row: StateRow): CertificateState {
  const { domain, names, notAfter, renewalId, renewAt, askAt, nextAt, failures, errorType, error, tried } = row;
  return {
    domain: domain ?? undefined,
    names,
    notAfter: notAfter?.getTime(),
    renewalId: renewalId ?? undefined,
    renewAt: renewAt?.getTime(),
    askAt: askAt?.getTime() ?? 0,
    nextAt: nextAt?.getTime() ?? 0,
    failures,
    error: errorType === null ? undefined : { type: errorType, detail: error ?? '' },
    tried,
  };
}

async function hurry(sql: Sql, directory: string, names: readonly string[], now: number): Promise<void> {
  await sql`
    update certificates set next_at = least(next_at, ${new Date(now)})
    where directory = ${directory} and (
      (domain is null and tried is distinct from ${names as string[]}::text[])
      or (failures >= ${MANY_FAILURES} and error_type not like '%:rateLimited')
    )`;
}

async function readTokens(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ token: string; authorization: string }[]>`
    select token, key_authorization as authorization from acme_tokens where expires_at > now()`;
  return new Map(rows.map(({ token, authorization }) => [token, authorization]));
}

const interval = (sql: Sql, ms: number) => sql`${ms}::double precision * interval '1 millisecond'`;

/** Selects a row while the node has the lease; the lock keeps another node from taking it before the commit. */
const held = (sql: Sql, directory: string, { nodeId, epoch }: RequestLease) => sql`
  select directory from acme_accounts
  where directory = ${directory} and node_id = ${nodeId} and epoch = ${epoch} for share`;

async function acquire(
  sql: Sql,
  directory: string,
  nodeId: string,
  ttlMs: number,
  newKey: () => string,
): Promise<RequestLease | undefined> {
  const { count } = await sql`select from acme_accounts where directory = ${directory}`;
  if (count === 0) {
    await sql`
      insert into acme_accounts (directory, private_key) values (${directory}, ${newKey()})
      on conflict (directory) do nothing`;
  }
  const [row] = await sql<{ epoch: string; privateKey: string; account: string | null }[]>`
    update acme_accounts
    set node_id = ${nodeId}, epoch = epoch + 1, expires_at = now() + ${interval(sql, ttlMs)}
    where directory = ${directory} and (expires_at <= now() or node_id = ${nodeId})
    returning epoch, private_key as "privateKey", url as account`;
  if (row === undefined) return undefined;
  return { nodeId, epoch: Number(row.epoch), privateKey: row.privateKey, account: row.account ?? undefined };
}

async function extend(sql: Sql, directory: string, lease: RequestLease, ttlMs: number): Promise<boolean> {
  const { count } = await sql`
    update acme_accounts set expires_at = now() + ${interval(sql, ttlMs)}
    where directory = ${directory} and node_id = ${lease.nodeId} and epoch = ${lease.epoch}`;
  return count > 0;
}

async function release(sql: Sql, directory: string, lease: RequestLease): Promise<boolean> {
  const { count } = await sql`
    update acme_accounts set expires_at = '-infinity'
    where directory = ${directory} and node_id = ${lease.nodeId} and epoch = ${lease.epoch}`;
  return count > 0;
}

async function keepAccount(sql: Sql, directory: string, lease: RequestLease, url: string): Promise<boolean> {
  const { count } = await sql`
    update acme_accounts set url = ${url}
    where directory = ${directory} and node_id = ${lease.nodeId} and epoch = ${lease.epoch}`;
  return count > 0;
}

async function insertToken(
  sql: Sql,
  directory: string,
  lease: RequestLease,
  token: string,
  authorization: string,
): Promise<boolean> {
  await sql`delete from acme_tokens where expires_at <= now()`;
  const { count } = await sql`
    with held as (${held(sql, directory, lease)})
    insert into acme_tokens (token, key_authorization, expires_at)
    select ${token}, ${authorization}, now() + ${TOKEN_AGE}::interval from held
    on conflict (token) do update
      set key_authorization = excluded.key_authorization, expires_at = excluded.expires_at`;
  return count > 0;
}

/** Selects a row for the deployment's own names, or for a domain that is hosted; the lock keeps it from being removed before the commit. */
const subject = (sql: Sql, domain: string | undefined) =>
  domain === undefined
    ? sql`select null::text as name`
    : sql`select name from domains where name = ${domain} for key share`;

async function keep(
  sql: Sql,
  directory: string,
  lease: RequestLease,
  domain: string | undefined,
  certificate: ObtainedCertificate,
): Promise<boolean> {
  const { names, chain, privateKey, notAfter, renewalId, renewAt, askAt, nextAt } = certificate;
  const { count } = await sql`
    with held as (
      update acme_accounts set revision = revision + 1
      where directory = ${directory} and node_id = ${lease.nodeId} and epoch = ${lease.epoch}
      returning revision
    ), subject as (${subject(sql, domain)})
    insert into certificates (directory, domain, names, chain, private_key, not_after, renewal_id, renew_at, ask_at, next_at,
      tried, revision)
    select ${directory}, subject.name, ${names as string[]}::text[], ${chain}, ${privateKey}, ${dateOf(notAfter)}::timestamptz,
      ${renewalId ?? null}, ${dateOf(renewAt)}::timestamptz, ${dateOf(askAt)}::timestamptz, ${dateOf(nextAt)}::timestamptz,
      ${names as string[]}::text[], held.revision
    from held, subject
    on conflict (directory, domain) do update set names = excluded.names, chain = excluded.chain,
      private_key = excluded.private_key, not_after = excluded.not_after, renewal_id = excluded.renewal_id,
      renew_at = excluded.renew_at, ask_at = excluded.ask_at, next_at = excluded.next_at, tried = excluded.tried,
      revision = excluded.revision, failures = 0, error_type = null, error = null`;
  return count > 0;
}

async function keepFailure(
  sql: Sql,
  directory: string,
  lease: RequestLease,
  domain: string | undefined,
  { type, detail, tried, nextAt }: RequestFailure,
): Promise<boolean> {
  const { count } = await sql`
    with held as (${held(sql, directory, lease)}), subject as (${subject(sql, domain)})
    insert into certificates (directory, domain, next_at, failures, error_type, error, tried)
    select held.directory, subject.name, ${dateOf(nextAt)}::timestamptz, 1, ${type}, ${detail}, ${tried as string[]}::text[]
    from held, subject
    on conflict (directory, domain) do update set next_at = excluded.next_at, failures = certificates.failures + 1,
      error_type = excluded.error_type, error = excluded.error, tried = excluded.tried`;
  return count > 0;
}

async function schedule(
  sql: Sql,
  directory: string,
  lease: RequestLease,
  domain: string | undefined,
  { nextAt, renewAt, askAt }: Parameters<CertificateStore['schedule']>[2],
): Promise<boolean> {
  const { count } = await sql`
    with held as (${held(sql, directory, lease)}), subject as (${subject(sql, domain)})
    insert into certificates (directory, domain, next_at)
    select held.directory, subject.name, ${dateOf(nextAt)}::timestamptz from held, subject
    on conflict (directory, domain) do update set next_at = excluded.next_at,
      renew_at = coalesce(${dateOf(renewAt)}::timestamptz, certificates.renew_at),
      ask_at = coalesce(${dateOf(askAt)}::timestamptz, certificates.ask_at)`;
  return count > 0;
}
