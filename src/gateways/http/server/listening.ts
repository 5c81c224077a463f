// Opens the port of the HTTP server: the server library listens itself, or a proxy listener stands in front of it where the operator trusts
// any network to send PROXY headers.
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerEndpoint } from '../../../net/tcp/anchor-request.js';
import { freePort, listenProbe } from '../../../net/tcp/listen-probe.js';
import { ProxyListener } from '../../../net/tcp/proxy-listener.js';
import type { TrustedNetworks } from '../../../net/tcp/trusted-networks.js';
import type { Log } from '../exchange.js';
import { clientAddress, type ReadAddress } from './client-address.js';
import type { ServerLibrary } from './server-library.js';

/** The time that the kernel needs to pass the last replies on. */
const LINGER_MS = 200;

export interface ListenOptions {
  readonly bind: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Set when other processes share the port; absent: the port belongs to this server alone. */
  readonly sharing?: PortSharing | undefined;
  /** The networks whose PROXY header and X-Forwarded-For are believed. */
  readonly trusted?: TrustedNetworks;
  readonly log: Log;
}

interface PortSharing {
  /** The port on which the other processes already listen; undefined for the first process, which takes an unused port. */
  readonly port: number | undefined;
}

export interface Listening {
  readonly port: number;
  /** The address of this very server. */
  readonly self: ServerEndpoint;
  readonly addressOf?: ReadAddress;
  /** Stops accepting connections. */
  end(): void;
  /** Waits for the proxy listener after the server has closed its own connections. */
  closed?(): Promise<void>;
}

/** @throws when the port cannot be opened */
export function listen(uws: ServerLibrary, app: TemplatedApp, options: ListenOptions): Promise<Listening> {
  const { trusted } = options;
  return trusted === undefined || trusted.isEmpty
    ? listenItself(uws, app, options)
    : listenBehind(app, options, trusted);
}

async function listenItself(
  uws: ServerLibrary,
  app: TemplatedApp,
  { bind, port: wanted, sharing }: ListenOptions,
): Promise<Listening> {
  // Only the other processes share the port knowingly, so the first process takes an unused one. It also chooses the port for 0, because
  // the library does not share a port that the system has picked.
  const port = sharing === undefined ? wanted : (sharing.port ?? (await freePort(bind, wanted)));
  const listener = await new Promise<us_listen_socket | false>((resolve) => {
    // Without the option two servers silently share a port, and each gets some of the connections.
    app.listen(bind, port, sharing === undefined ? EXCLUSIVE_PORT : SHARED_PORT, resolve);
  });
  if (listener === false) throw (await listenProbe(bind, port)) ?? new Error(`cannot listen on ${bind}:${port}`);
  const own = sharing === undefined ? undefined : await listenPrivately(app);
  const actual = uws.us_socket_local_port(listener);
  return {
    port: actual,
    self: own === undefined ? { host: loopbackOf(bind), port: actual } : { path: own.path },
    end: () => uws.us_listen_socket_close(listener),
    ...(own && { closed: own.remove }),
  };
}

/** Listens behind a proxy listener, the only one that reaches the server's socket. */
async function listenBehind(app: TemplatedApp, options: ListenOptions, trusted: TrustedNetworks): Promise<Listening> {
  const { bind, port, log } = options;
  const own = await listenPrivately(app);
  const refused = (err: unknown, proxy: string) => log.warn({ err, proxy }, 'unusable PROXY header');
  const proxyListener = new ProxyListener({ bind, port, server: own.path, trusted, refused });
  try {
    return {
      port: await proxyListener.open(),
      self: { path: own.path },
      addressOf: clientAddress(proxyListener, trusted),
      end: () => proxyListener.stopListening(),
      async closed() {
        await proxyListener.close(LINGER_MS);
        await own.remove();
      },
    };
  } catch (error) {
    app.close();
    await own.remove();
    throw error;
  }
}

/** Listens on a Unix socket as well; no other user may enter its directory. */
async function listenPrivately(app: TemplatedApp): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'mansio-http-'));
  const path = join(directory, 'socket');
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await new Promise<void>((resolve, reject) => {
      // The value is false when listening fails, whatever the types of the library say.
      const listens = (listener: us_listen_socket | false) =>
        listener === false ? reject(new Error(`cannot listen on ${path}`)) : resolve();
      app.listen_unix(listens, path);
    });
    return { path, remove };
  } catch (error) {
    app.close();
    await remove();
    throw error;
  }
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the types of the library declare in another place than the code. */
const EXCLUSIVE_PORT = 1;
/** LIBUS_LISTEN_DEFAULT: with SO_REUSEPORT, so that the kernel spreads connections over the processes. */
const SHARED_PORT = 0;

/** An address of this machine on which `bind` accepts connections. */
function loopbackOf(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1';
  return bind === '::' ? '::1' : bind;
}
