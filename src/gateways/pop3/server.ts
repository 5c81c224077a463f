// A POP3 listener (RFC 1939): with STLS, or with TLS from the first octet (RFC 8314). A session ends with its login, and when
// another session has taken over its maildrop.
import { ListenerLogins } from '../../auth/listener-logins.js';
import { OpenLogins } from '../../auth/open-logins.js';
import {
  type ListenerPlace,
  listenTcp,
  type TcpListener,
  type TcpListenerOptions,
} from '../../net/tcp/tcp-listener.js';
import type { Pop3Context } from './context.js';
import { LOGIN_REPLIES, LOGIN_SCOPES } from './login.js';
import type { Pop3Session, Pop3SessionParts } from './session.js';
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
export async function startPop3({ context, ...place }: Pop3Options): Promise<TcpListener> {
  const { limits, signIn, allowPlaintextAuth } = context;
  const { log } = place;
  const logins = new ListenerLogins({
    protocol: 'pop3',
    scopes: LOGIN_SCOPES,
    signIn,
    allowPlaintextAuth,
    replies: LOGIN_REPLIES,
    log,
  });
  const openLogins = new OpenLogins<Pop3Session>(signIn.ended$, ({ connection }) => connection.cut('login-ended'));
  const parts: Pop3SessionParts = { context, log, openLogins, logins };
  const listener = await listenTcp(
    {
      ...place,
      limits,
      times: { ...limits, ...NO_RATE },
      proxyHeaderMs: limits.proxyHeaderMs,
      lines: { maxLine: limits.lineOctets, bareLf: 'ends-line' },
      farewells: FAREWELLS,
    },
    (connection) => new Pop3SessionLoop(connection, parts, table),
  );
  const renewal = setInterval(() => {
    for (const session of openLogins) void session.renew();
  }, limits.renewMs).unref();
  return {
    address: listener.address,
    get connections() {
      return listener.connections;
    },
    beginDrain: (othersListen) => listener.beginDrain(othersListen),
    async stop(graceMs) {
      await listener.stop(graceMs);
      openLogins.stop();
      clearInterval(renewal);
    },
  };
}
