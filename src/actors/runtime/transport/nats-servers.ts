// The servers of NATS_URL: parses how to reach one, and explains why none could be reached. Messages never contain passwords.
import { StartFault } from '../../../concurrency/start-fault.js';

export interface NatsServer {
  /** A name or address, without brackets. */
  readonly host: string;
  /** host:port, to connect to and to show. */
  readonly address: string;
  readonly credentials:
    | { readonly user: string; readonly pass: string }
    | { readonly token: string }
    | Readonly<Record<string, never>>;
  readonly tls: boolean;
}

/** No NATS server accepted this node when it started. */
export class BusUnavailable extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('bus-unavailable', message, options);
  }
}

const DEFAULT_PORT = '4222';
const REFUSED = ['AUTHORIZATION_VIOLATION', 'BAD_AUTHENTICATION', 'AUTHENTICATION_EXPIRED', 'ACCOUNT_EXPIRED'];

/** A user name without a password is a token, as usual in NATS. */
export function natsServer(text: string): NatsServer {
  const url = new URL(text);
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const credentials = user === '' ? {} : pass === '' ? { token: user } : { user, pass };
  const port = url.port === '' ? DEFAULT_PORT : url.port;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, address: `${url.hostname}:${port}`, credentials, tls: url.protocol === 'tls:' };
}

/** True when the server was reached but refused this node: a retry will not help soon. */
export function isRefusal(error: unknown): boolean {
  return REFUSED.includes(codeOf(error));
}

/** Explains why the server could not be connected to. */
export function whyNot({ address, credentials }: NatsServer, error: unknown): string {
  if (isRefusal(error)) {
    if ('user' in credentials) return `${address} refuses user ${credentials.user} or the password`;
    return 'token' in credentials ? `${address} refuses the token` : `${address} wants a user and a password`;
  }
  switch (codeOf(error)) {
    case 'CONNECTION_REFUSED':
      return `${address} refuses the connection`;
    case 'TIMEOUT':
      return `${address} does not answer`;
    case 'ENOTFOUND':
      return `${address} is not known to DNS`;
    case 'SERVER_OPT_NA':
      return `${address} lacks a feature: ${messageOf(error)}`;
    default:
      return `${address}: ${messageOf(error)}`;
  }
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | undefined)?.code ?? '');
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'the connection was closed';
}
