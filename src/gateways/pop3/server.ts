// A POP3 listener (RFC 1939): with STLS, or with TLS from the first octet (RFC 8314). Sessions end when their login does, and when
// another session has got their maildrop.
import type { Logger } from 'pino';
import type { CertificateSource } from '../tcp/certificate-source.js';
import type { ConnectionShares } from '../tcp/connection-limits.js';
import { listenTcp, type TcpListenerOptions } from '../tcp/tcp-listener.js';
import type { TrustedNetworks } from '../tcp/trusted-networks.js';
import type { Pop3Context } from './context.js';
import type { Session, SessionParts } from './session.js';
import { SessionLoop } from './session-loop.js';
import { table } from './table.js';

export interface Pop3Options {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** TLS before anything is said. */
  readonly implicitTls: boolean;
  readonly tls: CertificateSource;
  /** Whose PROXY header is believed. */
  readonly trusted: TrustedNetworks;
  readonly context: Pop3Context;
  /** What networks and accounts have of the connections of several listeners; its own when absent. */
  readonly shares?: ConnectionShares;
  readonly log: Logger;
}

export interface Pop3Listener {
  /** `ip:port`. */
  readonly address: string;
  /** Open connections. */
  readonly connections: number;
  /** Each connection ends as soon as its client is between two commands. */
  beginDrain(): void;
  /** Stops listening, and cuts off what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** The last line of each reason to refuse or end a connection. */
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
const EXPIRY_MS = 1000;
/** Octets are never read by number. */
const NO_RATE = { minRate: 1, minRateGraceMs: 60_000 };

/** @throws the system's error when the port cannot be opened */
export async function startPop3(options: Pop3Options): Promise<Pop3Listener> {
  const { bind, port, implicitTls, tls, trusted, context, shares, log } = options;
  const { limits, signIn } = context;
  /** Sessions with a login, and among them those whose credential expires. */
  const sessions = new Set<Session>();
  const expiring = new Set<Session>();
  const parts: SessionParts = {
    context,
    log,
    loggedIn(session) {
      sessions.add(session);
      if (session.login.expiresAt !== undefined) expiring.add(session);
    },
    closed(session) {
      sessions.delete(session);
      expiring.delete(session);
    },
  };
  const listener = await listenTcp(
    {
      bind,
      port,
      tls,
      implicitTls,
      trusted,
      limits,
      ...(shares && { shares }),
      times: { ...limits, ...NO_RATE },
      proxyHeaderMs: limits.proxyHeaderMs,
      lines: { maxLine: limits.lineOctets, bareLf: 'ends-line' },
      farewells: FAREWELLS,
      log,
    },
    (connection) => new SessionLoop(connection, parts, table),
  );
  const ending = signIn.ended$.subscribe((isOver) => {
    for (const session of sessions) if (isOver(session.login)) session.connection.cut('login-ended');
  });
  const expiry = setInterval(() => {
    const now = Date.now();
    for (const session of expiring) if (session.login.expiresAt! <= now) session.connection.cut('login-ended');
  }, EXPIRY_MS).unref();
  const renewal = setInterval(() => {
    for (const session of sessions) void session.renew();
  }, limits.renewMs).unref();
  return {
    address: listener.address,
    get connections() {
      return listener.connections;
    },
    beginDrain: () => listener.beginDrain(),
    async stop(graceMs) {
      await listener.stop(graceMs);
      ending.unsubscribe();
      clearInterval(expiry);
      clearInterval(renewal);
    },
  };
}
