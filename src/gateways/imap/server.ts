// An IMAP listener (RFC 9051): with STARTTLS, or with TLS from the first octet (RFC 8314). Sessions end when their login does.
import type { Logger } from 'pino';
import type { CertificateSource } from '../tcp/certificate-source.js';
import type { ConnectionShares } from '../tcp/connection-limits.js';
import { listenTcp, type TcpListenerOptions } from '../tcp/tcp-listener.js';
import type { TrustedNetworks } from '../tcp/trusted-networks.js';
import type { ImapContext } from './context.js';
import type { ImapSession, SessionParts } from './imap-session.js';
import { writeUpdates } from './responses/updates.js';
import { SessionLoop } from './session-loop.js';
import { capabilities, table } from './table.js';

export interface ImapOptions {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** TLS before anything is said. */
  readonly implicitTls: boolean;
  readonly tls: CertificateSource;
  /** Whose PROXY header is believed. */
  readonly trusted: TrustedNetworks;
  readonly context: ImapContext;
  /** What networks and accounts have of the connections of several listeners; its own when absent. */
  readonly shares?: ConnectionShares;
  readonly log: Logger;
}

export interface ImapListener {
  /** `ip:port`. */
  readonly address: string;
  /** Open connections. */
  readonly connections: number;
  /** Each connection ends as soon as its client is between two commands. */
  beginDrain(): void;
  /** Stops listening, and cuts off what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** The BYE of each reason to refuse or end a connection. */
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
const TICK_MS = 1000;

/** @throws the system's error when the port cannot be opened */
export async function startImap(options: ImapOptions): Promise<ImapListener> {
  const { bind, port, implicitTls, tls, trusted, context, shares, log } = options;
  const { limits, signIn } = context;
  /** Sessions with a login, and among them those whose credential expires. */
  const sessions = new Set<ImapSession>();
  const expiring = new Set<ImapSession>();
  const parts: SessionParts = {
    context,
    log,
    capabilities,
    sendUpdates: writeUpdates,
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
      shares,
      times: limits,
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
  const ticking = setInterval(
    () => {
      const now = Date.now();
      for (const session of expiring) if (session.login.expiresAt! <= now) session.connection.cut('login-ended');
      const ticks = performance.now();
      for (const session of sessions) session.suspended?.suspension.tick(ticks);
    },
    Math.min(TICK_MS, limits.heartbeatMs),
  ).unref();
  return {
    address: listener.address,
    get connections() {
      return listener.connections;
    },
    beginDrain: () => listener.beginDrain(),
    async stop(graceMs) {
      await listener.stop(graceMs);
      ending.unsubscribe();
      clearInterval(ticking);
    },
  };
}
