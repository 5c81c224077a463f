// Why a node did not start, in words for its operator. What is expected (a wrong setting, a port in use, a database that is
// away) gets one message; anything else is a bug and keeps its stack.
import { BusUnavailable } from '../actors/runtime/nats-servers.js';
import { StoreInUse } from '../actors/runtime/ownership.js';
import { ConfigError } from '../config/error.js';
import { ServerLibraryFault } from '../gateways/http/server-library.js';
import { StoreFault } from '../store/errors.js';
import { LocalFault } from '../store/local-fault.js';
import { UnsafeDatabase } from '../store/postgres/durability-check.js';
import { MigrationMismatch } from '../store/postgres/migrate.js';
import { TlsFault } from './tls.js';

/** A listener that could not be opened. */
class ListenFault extends Error {
  override readonly name = 'ListenFault';
}

const EXPECTED = [
  BusUnavailable,
  ConfigError,
  LocalFault,
  ListenFault,
  MigrationMismatch,
  ServerLibraryFault,
  StoreFault,
  StoreInUse,
  TlsFault,
  UnsafeDatabase,
];

/** The message of an expected failure; undefined for a bug. */
export function explain(error: unknown): string | undefined {
  if (isForSpace(error)) return `no space is left on the disk: free some, then start again (${firstLine(error)})`;
  if (!EXPECTED.some((type) => error instanceof type)) return undefined;
  const { message } = error as Error;
  const database = error instanceof StoreFault && error.code === 'store-unavailable';
  return database ? `${message} (is the server of DATABASE_URL running and reachable from here?)` : message;
}

/** `ENOSPC` and `EDQUOT` of files, 53100 of PostgreSQL, or PostgreSQL's own words. */
function isForSpace(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (['ENOSPC', 'EDQUOT', '53100'].includes(code ?? '') || /No space left on device/.test(error.message)) return true;
  return isForSpace(error.cause);
}

function firstLine({ message }: Error): string {
  return message.split('\n', 1)[0]!;
}

/** What `error` of listening means. `variable` names the setting of the port, `zero` what it means as 0. */
export function listenFailure(
  error: unknown,
  what: string,
  variable: string,
  bind: string,
  port: number,
  zero = 'for any',
): unknown {
  const at = `${what} cannot listen on port ${port} of ${bind}`;
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'EADDRINUSE':
      return new ListenFault(`${at}: the port is in use; set ${variable} to another, or 0 ${zero}`, { cause: error });
    case 'EACCES':
      return new ListenFault(`${at}: not permitted; ports below 1024 need a privilege, see ${variable}`, {
        cause: error,
      });
    case 'EADDRNOTAVAIL':
      return new ListenFault(`${at}: this machine has no such address; see MANSIO_BIND`, { cause: error });
    default:
      return error;
  }
}
