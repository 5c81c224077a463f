// A ManageSieve listener (RFC 5804).

import type { ListenerPlace, TcpListener, TcpListenerOptions } from '../../net/tcp/tcp-listener.js';
import { listenForSessions } from '../sessions/listener.js';
import type { SieveContext } from './context.js';
import { LOGIN_REPLIES, LOGIN_SCOPES } from './login.js';
import { SieveSessionLoop } from './session-loop.js';
import { table } from './table.js';

interface SieveOptions extends ListenerPlace {
  readonly context: SieveContext;
}

/** The BYE for each reason to refuse or end a connection. */
const FAREWELLS: TcpListenerOptions['farewells'] = {
  idle: 'BYE "The connection was idle for too long"\r\n',
  'no-login': 'BYE "No login in time"\r\n',
  'too-slow': 'BYE "The literal comes too slowly"\r\n',
  stopping: 'BYE (TRYLATER) "The server is stopping, connect again"\r\n',
  'login-ended': 'BYE "The credential is no longer valid"\r\n',
  'line-too-long': 'BYE "A line is too long"\r\n',
  'bare-line-feed': 'BYE "Lines end in CR LF"\r\n',
  full: 'BYE (TRYLATER) "Too many connections, try again later"\r\n',
  'address-full': 'BYE (TRYLATER) "Too many connections from your address"\r\n',
  bug: 'BYE "Internal error"\r\n',
};

/** Nothing is due between commands. */
const TICK_MS = 60_000;

/** @throws the error of the system when the port cannot be opened */
export function startSieve({ context, ...place }: SieveOptions): Promise<TcpListener> {
  return listenForSessions(
    {
      ...place,
      context,
      protocol: 'sieve',
      scopes: LOGIN_SCOPES,
      replies: LOGIN_REPLIES,
      farewells: FAREWELLS,
      rate: context.limits,
      tickMs: TICK_MS,
      tick() {},
    },
    (parts) => (connection) => new SieveSessionLoop(connection, parts, table),
  );
}
