// A listener of IMAP or POP3: with STARTTLS, or with TLS from the first octet (RFC 8314). A session ends with its login.
import { ListenerLogins, type ListenerLoginsOptions } from '../../auth/listener-logins.js';
import { OpenLogins } from '../../auth/open-logins.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import {
  type ListenerPlace,
  listenTcp,
  type SessionStart,
  type TcpListener,
  type TcpListenerOptions,
} from '../../net/tcp/tcp-listener.js';
import type { SessionContext, SessionParts } from './mail-session.js';

interface OpenSession {
  readonly login: ProtocolLogin;
  readonly connection: LineConnection;
}

export interface SessionListenerOptions<C extends SessionContext, R extends object, S extends OpenSession>
  extends ListenerPlace,
    Pick<TcpListenerOptions, 'farewells'>,
    Pick<ListenerLoginsOptions<R>, 'protocol' | 'scopes' | 'replies'> {
  readonly context: C;
  readonly rate: Pick<TcpListenerOptions['times'], 'minRate' | 'minRateGraceMs'>;
  /** ms between two calls of `tick`, which gets the sessions that are logged in. */
  readonly tickMs: number;
  tick(sessions: Iterable<S>): void;
}

/** `starting`: called once; returns how the session of a connection begins. @throws the system's error when the port cannot be opened */
export async function listenForSessions<C extends SessionContext, R extends object, S extends OpenSession>(
  { context, protocol, scopes, replies, rate, tickMs, tick, ...place }: SessionListenerOptions<C, R, S>,
  starting: (parts: SessionParts<R> & { readonly context: C }) => SessionStart,
): Promise<TcpListener> {
  const { limits, signIn, allowPlaintextAuth } = context;
  const { log } = place;
  const openLogins = new OpenLogins<S>(signIn.ended$, ({ connection }) => connection.cut('login-ended'));
  const logins = new ListenerLogins<R>({ protocol, scopes, replies, signIn, allowPlaintextAuth, log });
  const listener = await listenTcp(
    {
      ...place,
      limits,
      times: { ...limits, ...rate },
      proxyHeaderMs: limits.proxyHeaderMs,
      lines: { maxLine: limits.lineOctets, bareLf: 'ends-line' },
    },
    starting({ context, log, logins, openLogins }),
  );
  const ticking = setInterval(() => tick(openLogins), tickMs).unref();
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
