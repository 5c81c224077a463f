// The message for the operator when a node does not start. An expected reason (StartFault, an unavailable store, a full disk) has one
// message; anything else is a bug and keeps its stack.

import { StartFault } from '../concurrency/start-fault.js';
import { StoreFault } from '../store/errors.js';

/** A listener cannot be opened. */
class ListenFault extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('port-unusable', message, options);
  }
}

/** The message of an expected failure; undefined for a bug. */
export function explain(error: unknown): string | undefined {
  if (isForSpace(error)) return `no space is left on the disk: free some, then start again (${firstLine(error)})`;
  if (!(error instanceof StartFault || error instanceof StoreFault)) return undefined;
  const { message } = error;
  const database = error instanceof StoreFault && error.code === 'store-unavailable';
  return database ? `${message} (is the server of DATABASE_URL running and reachable from here?)` : message;
}

/** `ENOSPC` and `EDQUOT` of files, 53100 of PostgreSQL, or PostgreSQL's message. */
function isForSpace(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (['ENOSPC', 'EDQUOT', '53100'].includes(code ?? '') || /No space left on device/.test(error.message)) return true;
  return isForSpace(error.cause);
}

function firstLine({ message }: Error): string {
  return message.split('\n', 1)[0]!;
}

/** The operator's setting of a listener. */
export interface ListenAttempt {
  /** The name for the operator. */
  readonly name: string;
  /** The variable of the port. */
  readonly variable: string;
  /** The variable of the address; `MANSIO_BIND` when absent. */
  readonly bindVariable?: 'MANSIO_HTTP_BIND';
  readonly bind: string;
  readonly port: number;
}

/** Converts an error of listening: a StartFault for a fault that an operator can repair, otherwise `error` itself. */
export function listenFailure(error: unknown, attempt: ListenAttempt): unknown {
  const { name: what, variable, bindVariable = 'MANSIO_BIND', bind, port } = attempt;
  const anyPort = variable === 'MANSIO_METRICS_PORT' ? '' : ', to 0 for any';
  const at = `${what} cannot listen on port ${port} of ${bind}`;
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'EADDRINUSE':
      return new ListenFault(`${at}: the port is in use; set ${variable} to another${anyPort}, or to off`, {
        cause: error,
      });
    case 'EACCES':
      return new ListenFault(`${at}: not permitted; ports below 1024 need a privilege, see ${variable}`, {
        cause: error,
      });
    case 'EADDRNOTAVAIL':
      return new ListenFault(`${at}: this machine has no such address; see ${bindVariable}`, { cause: error });
    default:
      return error;
  }
}
