// An IMAP listener (RFC 9051): with STARTTLS, or with TLS from the first octet (RFC 8314). A session ends with its login.
import { ListenerLogins } from '../../auth/listener-logins.js';
import { OpenLogins } from '../../auth/open-logins.js';
import {
  type ListenerPlace,
  listenTcp,
  type TcpListener,
  type TcpListenerOptions,
} from '../../net/tcp/tcp-listener.js';
import type { ImapContext } from './context.js';
import type { ImapSession, SessionParts } from './imap-session.js';
import { LOGIN_REPLIES, LOGIN_SCOPES } from './login.js';
import { writeUpdates } from './responses/updates.js';
import { SessionLoop } from './session-loop.js';
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
export async function startImap({ context, ...place }: ImapOptions): Promise<TcpListener> {
  const { limits, signIn, allowPlaintextAuth } = context;
  const { log } = place;
  const logins = new ListenerLogins({
    protocol: 'imap',
    scopes: LOGIN_SCOPES,
    signIn,
    allowPlaintextAuth,
    replies: LOGIN_REPLIES,
    log,
  });
  const openLogins = new OpenLogins<ImapSession>(signIn.ended$, ({ connection }) => connection.cut('login-ended'));
  const parts: SessionParts = { context, log, capabilities, sendUpdates: writeUpdates, openLogins, logins };
  const listener = await listenTcp(
    {
      ...place,
      limits,
      times: limits,
      proxyHeaderMs: limits.proxyHeaderMs,
      lines: { maxLine: limits.lineOctets, bareLf: 'ends-line' },
      farewells: FAREWELLS,
    },
    (connection) => new SessionLoop(connection, parts, table),
  );
  const tickMs = Math.min(LONGEST_TICK_MS, limits.heartbeatMs);
  const ticking = setInterval(() => {
    const now = performance.now();
    for (const { suspended } of openLogins) suspended?.suspension.tick(now);
  }, tickMs).unref();
  return {
    address: listener.address,
    get connections() {
      return listener.connections;
    },
    beginDrain: (othersListen) => listener.beginDrain(othersListen),
    async stop(graceMs) {
      await listener.stop(graceMs);
      openLogins.stop();
      clearInterval(ticking);
    },
  };
}
