// The connection pool; the only importer of the driver. Everything else in this folder takes the `Sql` made here.
import postgres from 'postgres';
import { StoreFault } from '../errors.js';
import { OctetParameters, type Octets } from './octet-parameters.js';
import { type SocketDestination, watchedSockets } from './watched-socket.js';

/** Parameters besides those that the driver has. */
type ParameterTypes = Record<'bytea' | 'byteas' | 'uuids', Octets>;
export type Sql = postgres.Sql<ParameterTypes>;
/** A piece of a statement, for another statement. */
export type Fragment = postgres.Fragment;
export type SqlTransaction = postgres.TransactionSql<ParameterTypes>;

export interface DatabaseAddress {
  /** `postgres://…`; when absent, `host` (a directory of a Unix socket) and the rest are used. */
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
   * For pools whose statements all go to rows by their keys: without these the planner, seeing small tables, reads them
   * whole, and with them every dead version that a busy mailbox leaves behind.
   */
  readonly byKey?: boolean;
  /**
   * How long a statement may go without an answer before its connection is taken for dead. Without it a connection that
   * dies silently (host lost, firewall state dropped) hangs until TCP gives up, a quarter of an hour.
   */
  readonly patienceMs?: number | undefined;
  /** For statements that may read a whole mailbox: they get more memory, and a bound of time. */
  readonly wide?: boolean;
  /** For the question whether the database answers: its connections outlive a stall. */
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
const WIDE = { work_mem: '32MB', statement_timeout: 10_000 };

/**
 * A text that is a parameter of type json is in the form that the database reads. The driver would encode the text once more, and
 * a cast of a text parameter copies the text twice in the database.
 */
const TEXT_AS_IT_IS: postgres.PostgresType = {
  to: 114,
  from: [],
  serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: (text: unknown) => text,
};

/** Opens a pool; connections are made when first used. Callers end it with `sql.end()`. */
export function connect(address: DatabaseAddress, options: PoolOptions): Sql {
  const { patienceMs } = options;
  // Read by the driver, which opens no connection for it.
  const { ssl, sslnegotiation } =
    address.url === undefined ? NO_TLS : (postgres(address.url).options as unknown as TlsOptions);
  const security = ssl ? { ssl, isDirect: sslnegotiation === 'direct' } : undefined;
  const sockets = watchedSockets({ patienceMs, security, isProbe: options.probe === true });
  const octets = new OctetParameters();
  // The driver's own types parse what the database answers.
  const bytea: postgres.PostgresType = {
    to: 17,
    from: [],
    serialize: (value) => octets.serialize(value),
    parse: (text: unknown) => text,
  };
  const settings = {
    max: options.max,
    onnotice: () => {},
    connect_timeout: 10,
    // For what the watch cannot see: an answer that breaks off in the middle, a silent LISTEN.
    ...(patienceMs === undefined ? {} : { keep_alive: Math.max(1, Math.ceil(patienceMs / 1000)) }),
    ssl: false,
    // The driver hands over its options, and has no types for them.
    socket: (destination: unknown) => octets.fillWrites(sockets(destination as SocketDestination)),
    types: { bytea, json: TEXT_AS_IT_IS, byteas: arrayOf(1001, octets), uuids: uuidsOf(octets) },
    backoff: reconnectAfter,
    connection: {
      application_name: options.applicationName,
      TimeZone: 'UTC',
      // Whatever the settings of the role or the database: an answer after the commit means that the commit survives a crash.
      synchronous_commit: 'on',
      ...(options.byKey === true ? BY_KEY : {}),
      ...(options.wide === true ? WIDE : {}),
    },
  };
  if (address.url !== undefined) return postgres(address.url, settings) as Sql;
  return postgres({
    ...settings,
    host: address.host ?? 'localhost',
    port: address.port ?? 5432,
    user: address.user ?? 'mansio',
    database: address.database ?? 'mansio',
  }) as Sql;
}

/** An array that is a parameter only, as octets. */
function arrayOf(type: number, octets: OctetParameters): postgres.PostgresType {
  const parse = (text: string) => text;
  return { to: type, from: [type], serialize: (value) => octets.serialize(value), parse };
}

// Of an array, a backslash stands for the character after it: escapes of JSON would be others.
const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** An array of uuids: as octets, or as a list of texts, which the server refuses when one is no uuid. */
function uuidsOf(octets: OctetParameters): postgres.PostgresType {
  return {
    to: 2951,
    from: [2951],
    serialize: (value: Octets | string | readonly string[]) =>
      octets.serialize(Array.isArray(value) ? `{${value.map(quoted).join()}}` : (value as Octets | string)),
    parse: (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(',')),
  };
}

/** Opens so many connections of the pool, which it does by itself only when one is waited for. */
export async function openConnections(sql: Sql, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => sql`select 1`));
}

/** Seconds: a server that comes back is used again within one, and not by all connections in the same moment. */
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

/** SQLSTATE of a server error, or the driver's own code. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** Of a socket or its TLS, or of a server that crashes: whether the statement was carried out is not known. */
function isOfConnection(error: unknown, code: string): boolean {
  if (CONNECTION_CODES.has(code) || /^ERR_(SSL|TLS|STREAM|SOCKET)_/.test(code)) return true;
  if (!(error instanceof Error)) return false;
  // A commit that cannot be brought to the disk ends the server, and the recovery may find it written.
  return 'syscall' in error || ('severity' in error && error.severity === 'PANIC');
}

/**
 * Turns what the driver threw into a StoreFault. Temporary: connection faults, crashes and SQLSTATE classes 08 (connection),
 * 53 (resources), 57P (shutdown), 57014 (cancelled), 40 (rollback), 25006 (read-only).
 */
export function storeFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
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
