// A POP3 listener (RFC 1939). A session also ends when another one has taken over its maildrop.

import type { ListenerPlace, TcpListener, TcpListenerOptions } from '../../net/tcp/tcp-listener.js';
import { listenForSessions } from '../sessions/listener.js';
import type { Pop3Context } from './context.js';
import { LOGIN_REPLIES, LOGIN_SCOPES } from './login.js';
import type { Pop3Session } from './session.js';
import { Pop3SessionLoop } from './session-loop.js';
import { table } from './table.js';

interface Pop3Options extends ListenerPlace {
  readonly context: Pop3Context;
}

/** The last line that a client gets, by the reason to refuse or end its connection. */
const FAREWELLS: TcpListenerOptions['farewells'] = {
  idle: '-ERR The connection was idle for too long\r\n',
  'no-login': '-ERR No login in time\r\n',
  'too-slow': '-ERR The line comes too slowly\r\n',
  stopping: '-ERR [SYS/TEMP] The server is stopping, connect again\r\n',
  'login-ended': '-ERR [AUTH] The credential is no longer valid\r\n',
  'line-too-long': '-ERR The line is too long\r\n',
  'bare-line-feed': '-ERR Lines end in CR LF\r\n',
  full: '-ERR [SYS/TEMP] Too many connections, try again later\r\n',
  'address-full': '-ERR [SYS/TEMP] Too many connections from your address\r\n',
  bug: '-ERR [SYS/PERM] Internal error\r\n',
};
/** POP3 never reads a counted number of octets, so the minimum rate has no effect. */
const NO_RATE = { minRate: 1, minRateGraceMs: 60_000 };

/** @throws the error of the system when the port cannot be opened */
export function startPop3({ context, ...place }: Pop3Options): Promise<TcpListener> {
  return listenForSessions(
    {
      ...place,
      context,
      protocol: 'pop3',
      scopes: LOGIN_SCOPES,
      replies: LOGIN_REPLIES,
      farewells: FAREWELLS,
      rate: NO_RATE,
      tickMs: context.limits.renewMs,
      tick(sessions: Iterable<Pop3Session>) {
        for (const session of sessions) void session.renew();
      },
    },
    (parts) => (connection) => new Pop3SessionLoop(connection, parts, table),
  );
}
