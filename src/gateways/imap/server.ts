// An IMAP listener (RFC 9051).

import type { ListenerPlace, TcpListener, TcpListenerOptions } from '../../net/tcp/tcp-listener.js';
import { listenForSessions } from '../sessions/listener.js';
import type { ImapContext } from './context.js';
import type { ImapSession } from './imap-session.js';
import { LOGIN_REPLIES, LOGIN_SCOPES } from './login.js';
import { writeUpdates } from './responses/updates.js';
import { ImapSessionLoop } from './session-loop.js';
import { capabilities, table } from './table.js';

interface ImapOptions extends ListenerPlace {
  readonly context: ImapContext;
}

/** The BYE for each reason to refuse or end a connection. */
const FAREWELLS: TcpListenerOptions['farewells'] = {
  idle: '* BYE The connection was idle for too long\r\n',
  'no-login': '* BYE No login in time\r\n',
  'too-slow': '* BYE The literal comes too slowly\r\n',
  stopping: '* BYE [UNAVAILABLE] The server is stopping, connect again\r\n',
  'login-ended': '* BYE [EXPIRED] The credential is no longer valid\r\n',
  'line-too-long': '* BYE [LIMIT] A line is too long\r\n',
  'bare-line-feed': '* BYE Lines end in CR LF\r\n',
  full: '* BYE [UNAVAILABLE] Too many connections, try again later\r\n',
  'address-full': '* BYE [LIMIT] Too many connections from your address\r\n',
  bug: '* BYE [SERVERBUG] Internal error\r\n',
};

/** The longest time between two checks of suspended commands. */
const LONGEST_TICK_MS = 1000;

/** @throws the error of the system when the port cannot be opened */
export function startImap({ context, ...place }: ImapOptions): Promise<TcpListener> {
  const { limits } = context;
  return listenForSessions(
    {
      ...place,
      context,
      protocol: 'imap',
      scopes: LOGIN_SCOPES,
      replies: LOGIN_REPLIES,
      farewells: FAREWELLS,
      rate: limits,
      tickMs: Math.min(LONGEST_TICK_MS, limits.heartbeatMs),
      tick(sessions: Iterable<ImapSession>) {
        const now = performance.now();
        for (const { suspended } of sessions) suspended?.suspension.tick(now);
      },
    },
    (parts) => {
      const shared = { ...parts, capabilities, sendUpdates: writeUpdates };
      return (connection) => new ImapSessionLoop(connection, shared, table);
    },
  );
}
