// The connection pool. Only this file imports the driver; the rest of this folder takes the `Sql` that it creates.
import postgres from 'postgres';
import { StoreFault } from '../../errors.js';
import { OctetParameters, type Octets } from './octet-parameters.js';
import { ClosedConnections, guardTransactions } from './transactions.js';
import { cutWatched, type SocketDestination, watchedSockets } from './watched-socket.js';

/** Parameter types in addition to those of the driver. */
type ParameterTypes = Record<'bytea' | 'byteas' | 'uuids', Octets>;
export type Sql = postgres.Sql<ParameterTypes>;
/** A piece of a statement, for another statement. */
export type Fragment = postgres.Fragment;
export type SqlTransaction = postgres.TransactionSql<ParameterTypes>;

export interface DatabaseAddress {
  /** `postgres://…`; when absent, `host` (also a directory of a Unix socket) and the other fields count. */
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly database?: string;
}

export interface PoolOptions {
  readonly max: number;
  readonly applicationName: string;
  /**
   * All statements of the pool find rows by key. The planner gets settings that forbid what it would choose for small tables: to
   * read them whole, including every dead row version that a busy mailbox leaves.
   */
  readonly byKey?: boolean;
  /**
   * How long a statement may wait for an answer before its connection counts as dead. Without it, a connection that dies silently
   * (host lost, firewall state dropped) hangs until TCP gives up, after a quarter of an hour.
   */
  readonly patienceMs?: number | undefined;
  /** The pool is for statements that may read a whole mailbox: they get more memory and a time limit. */
  readonly wide?: boolean;
  /** The pool is for the probe of the circuit breaker: its connections outlive a stall. */
  readonly probe?: boolean;
}

const BY_KEY = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
  // A group must not wait for one account that is being deleted.
  lock_timeout: 1000,
};

interface TlsOptions {
  readonly ssl: unknown;
  readonly sslnegotiation: unknown;
}

const NO_TLS: TlsOptions = { ssl: false, sslnegotiation: null };

/** The driver only parses the URL here, together with PGHOST and the like; it opens no connection. */
function parsed(url: string): SocketDestination & TlsOptions {
  return postgres(url).options as unknown as SocketDestination & TlsOptions;
}

export interface DatabaseServers {
  /** Names and addresses of the servers of the URL; none for a Unix socket. */
  readonly hosts: readonly string[];
  /** Connections without TLS are never used; `sslmode=prefer` uses them when the server has no TLS. */
  readonly demandsTls: boolean;
}

export function databaseServers(url: string): DatabaseServers {
  const { host, path, ssl } = parsed(url);
  return { hosts: path === false ? host : [], demandsTls: Boolean(ssl) && ssl !== 'prefer' };
}

/** Only statements that read have a time limit. */
const WIDE = { work_mem: '32MB', statement_timeout: 10_000 };

/**
 * A text parameter of type json is sent unchanged. The driver would encode the text again, and a cast of a text parameter copies
 * the text twice in the database.
 */
const TEXT_AS_IT_IS: postgres.PostgresType = {
  to: 114,
  from: [],
  serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: (text: unknown) => text,
};

/** Opens a pool; connections open at their first use. Callers end it with `sql.end()`. */
export function connect(address: DatabaseAddress, options: PoolOptions): Sql {
  const { patienceMs } = options;
  const { ssl, sslnegotiation } = address.url === undefined ? NO_TLS : parsed(address.url);
  const security = ssl ? { ssl, isDirect: sslnegotiation === 'direct' } : undefined;
  const sockets = watchedSockets({ patienceMs, security, isProbe: options.probe === true });
  const octets = new OctetParameters();
  // The driver's own types parse the results.
  const bytea: postgres.PostgresType = {
    to: 17,
    from: [],
    serialize: (value) => octets.serialize(value),
    parse: (text: unknown) => text,
  };
  const closed = new ClosedConnections();
  const settings = {
    max: options.max,
    onclose: () => closed.closed(),
    onnotice: () => {},
    connect_timeout: 10,
    // Keep-alive detects what the watch cannot see: an answer that breaks off, a silent LISTEN.
    ...(patienceMs === undefined ? {} : { keep_alive: Math.max(1, Math.ceil(patienceMs / 1000)) }),
    ssl: false,
    // The driver passes its options, for which it has no types.
    socket: (destination: unknown) => octets.fillWrites(sockets(destination as SocketDestination)),
    types: { bytea, json: TEXT_AS_IT_IS, byteas: arrayOf(1001, octets), uuids: uuidsOf(octets) },
    backoff: reconnectAfter,
    connection: {
      application_name: options.applicationName,
      TimeZone: 'UTC',
      // This overrides the settings of role and database: an answer after the commit means that the commit survives a crash.
      synchronous_commit: 'on',
      // A commit that is cancelled while it waits for a synchronous standby is answered like any other, and lost with the primary.
      // As a text, because the driver leaves out a number that is 0.
      statement_timeout: '0' as unknown as number,
      ...(options.byKey === true ? BY_KEY : {}),
      ...(options.wide === true ? WIDE : {}),
    },
  };
  const sql =
    address.url === undefined
      ? postgres({
          ...settings,
          host: address.host ?? 'localhost',
          port: address.port ?? 5432,
          user: address.user ?? 'mansio',
          database: address.database ?? 'mansio',
        })
      : postgres(address.url, settings);
  readArrayTypesOnce(sql);
  return guardTransactions(sql as Sql, closed);
}

/** `text[]` */
const TEXT_ARRAY = 1009;

/**
 * The driver asks for the types of arrays over each new connection, and a connection that ends before their answer ends the process. Those of
 * the first connection hold for all of the pool.
 */
function readArrayTypesOnce({ options }: postgres.Sql): void {
  Object.defineProperty(options, 'fetch_types', { get: () => options.parsers[TEXT_ARRAY] === undefined });
}

/** The type of an array that is only a parameter, sent as octets. */
function arrayOf(type: number, octets: OctetParameters): postgres.PostgresType {
  const parse = (text: string) => text;
  return { to: type, from: [type], serialize: (value) => octets.serialize(value), parse };
}

// In an array, a backslash quotes the next character; JSON escapes mean something else.
const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** The type of an array of uuids: octets, or a list of texts, which the server refuses when one is not a uuid. */
function uuidsOf(octets: OctetParameters): postgres.PostgresType {
  return {
    to: 2951,
    from: [2951],
    serialize: (value: Octets | string | readonly string[]) =>
      octets.serialize(Array.isArray(value) ? `{${value.map(quoted).join()}}` : (value as Octets | string)),
    parse: (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(',')),
  };
}

/** Opens connections of the pool in advance; the pool itself opens one only when a statement needs it. */
export async function openConnections(sql: Sql, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => sql`select 1`));
}

/**
 * Returns seconds to wait: a server that returns is used again within about one second, but not by all connections at the same
 * moment.
 */
function reconnectAfter(attempt: number): number {
  return Math.min(1, 0.05 * 2 ** attempt) * (0.75 + Math.random() / 2);
}

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECTION_CONNECT_TIMEOUT',
]);

/** A standby, or a primary that was demoted, refuses a statement that writes. */
const READ_ONLY = '25006';
/** Connections of the server that was left are not cut more often. */
const LEAVE_AGAIN_MS = 5_000;

/** SQLSTATE of a server error, or the driver's own code. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/**
 * Whether the error comes from a socket, its TLS or a crash of the server: then it is unknown whether the statement was carried
 * out.
 */
function isOfConnection(error: unknown, code: string): boolean {
  if (CONNECTION_CODES.has(code) || /^ERR_(SSL|TLS|STREAM|SOCKET)_/.test(code)) return true;
  if (!(error instanceof Error)) return false;
  // A commit that cannot be written to the disk ends the server, and the recovery may find it written.
  return 'syscall' in error || ('severity' in error && error.severity === 'PANIC');
}

let leftAt = Number.NEGATIVE_INFINITY;

/** A database that is only set to be read-only, on the same server, serves reads between two cuts. */
function leaveStandby(): void {
  const now = performance.now();
  if (now - leftAt < LEAVE_AGAIN_MS) return;
  leftAt = now;
  cutWatched('the database server has become a standby');
}

/**
 * Converts an error of the driver to a StoreFault. Temporary: connection faults, crashes and SQLSTATE classes 08 (connection), 53
 * (resources), 57P (shutdown), 57014 (cancelled), 40 (rollback), 25006 (read-only).
 */
export function storeFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  // All connections lead to that server, which stays read-only: new ones find the primary, by a balancer or at the next host of the URL.
  if (code === READ_ONLY) leaveStandby();
  const temporary = isOfConnection(error, code) || /^(08|53|57P|57014|40|25006|58030)/.test(code);
  if (code === '55P03') {
    return new StoreFault('store-locked', `rows are locked: ${message}`, { temporary: true, cause: error });
  }
  if (temporary) {
    return new StoreFault('store-unavailable', `database unavailable: ${message}`, { temporary, cause: error });
  }
  const conflict = code === '23505';
  return new StoreFault(conflict ? 'store-conflict' : 'store-failed', `database refused: ${message}`, {
    temporary: false,
    cause: error,
  });
}

/** Runs a statement. @throws StoreFault */
export async function guarded<T>(statement: () => PromiseLike<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw storeFault(error);
  }
}
