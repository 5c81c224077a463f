// Opens the ports of the HTTP server. The server library listens on the plain port itself, or a proxy listener stands in front of it where
// the operator trusts any network to send PROXY headers. A proxy listener with certificates has the port of HTTPS (decision 0076).
import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerEndpoint } from '../../../net/tcp/anchor-request.js';
import type { CertificateSource } from '../../../net/tcp/certificate-source.js';
import type { ConnectionLimitOptions } from '../../../net/tcp/connection-limits.js';
import { freePort, listenProbe } from '../../../net/tcp/listen-probe.js';
import { ProxyListener, type ProxyListenerOptions } from '../../../net/tcp/proxy-listener.js';
import { TrustedNetworks } from '../../../net/tcp/trusted-networks.js';
import type { Log } from '../exchange.js';
import { clientAddress, clientSecurity, peerAddress, type ReadAddress, type ReadSecurity } from './client-address.js';
import type { ServerLibrary } from './server-library.js';

/** The time that the kernel needs to pass the last replies on. */
const LINGER_MS = 200;

export interface ListenOptions {
  readonly bind: string;
  /** 0 picks a free port; `off`: the server listens with TLS only. */
  readonly port: number | 'off';
  /** Set when other processes share the port; absent: the port belongs to this server alone. */
  readonly sharing?: PortSharing | undefined;
  /** The port with TLS. */
  readonly tls?: TlsPort | undefined;
  /** The networks whose PROXY header and X-Forwarded-For are believed. */
  readonly trusted?: TrustedNetworks;
  readonly log: Log;
}

interface PortSharing {
  /** The port on which the other processes already listen; undefined for the first process, which takes an unused port. */
  readonly port: number | undefined;
}

interface TlsPort {
  readonly bind: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly certificates: CertificateSource;
  readonly limits?: ConnectionLimitOptions | undefined;
}

export interface Listening {
  /** Undefined when the plain port is off. */
  readonly port: number | undefined;
  readonly tlsPort: number | undefined;
  /** The address of this very server. */
  readonly self: ServerEndpoint;
  readonly addressOf: ReadAddress;
  /** Whether the client came over https. */
  readonly isSecure: ReadSecurity;
  /** Whether the request came over TLS that ends here. */
  endsTls(response: Pick<HttpResponse, 'getProxiedRemoteAddress'>): boolean;
  /** Stops accepting connections. */
  end(): void;
  /** Waits for the proxy listeners after the server has closed its own connections. */
  closed(): Promise<void>;
}

interface OwnSocket {
  readonly path: string;
  remove(): Promise<void>;
}

const NOBODY = new TrustedNetworks([]);

/** @throws when a port cannot be opened */
export async function listen(uws: ServerLibrary, app: TemplatedApp, options: ListenOptions): Promise<Listening> {
  const { trusted = NOBODY, port, sharing, tls } = options;
  const isBehind = !trusted.isEmpty;
  // The port of the library comes first, because nothing has to be closed when it fails.
  const direct = isBehind || port === 'off' ? undefined : await listenItself(uws, app, { ...options, port });
  if (!isBehind && tls === undefined && sharing === undefined) return directOnly(direct!, options.bind);
  const own = await listenPrivately(app);
  const proxied = port === 'off' || !isBehind ? [] : [frontOf(own, trusted, options, { bind: options.bind, port })];
  const secured = tls && frontOf(own, trusted, options, { ...tls, tls: tls.certificates });
  const listeners = [...proxied, ...(secured === undefined ? [] : [secured])];
  try {
    const [plainPort] = await Promise.all(proxied.map((listener) => listener.open()));
    return {
      port: direct?.port ?? plainPort,
      tlsPort: await secured?.open(),
      self: { path: own.path },
      addressOf: listeners.length === 0 ? peerAddress : clientAddress(listeners, trusted),
      isSecure: clientSecurity(listeners, secured, trusted),
      endsTls: (response) => secured?.addressOf(new Uint8Array(response.getProxiedRemoteAddress())) !== undefined,
      end() {
        direct?.end();
        for (const listener of listeners) listener.stopListening();
      },
      async closed() {
        await Promise.all(listeners.map((listener) => listener.close(LINGER_MS)));
        await own.remove();
      },
    };
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close(0)));
    app.close();
    await own.remove();
    throw error;
  }
}

interface DirectPort {
  readonly port: number;
  end(): void;
}

function directOnly({ port, end }: DirectPort, bind: string): Listening {
  return {
    port,
    tlsPort: undefined,
    self: { host: loopbackOf(bind), port },
    addressOf: peerAddress,
    isSecure: () => false,
    endsTls: () => false,
    end,
    closed: async () => {},
  };
}

async function listenItself(
  uws: ServerLibrary,
  app: TemplatedApp,
  { bind, port: wanted, sharing }: ListenOptions & { readonly port: number },
): Promise<DirectPort> {
  // Only the other processes share the port knowingly, so the first process takes an unused one. It also chooses the port for 0, because
  // the library does not share a port that the system has picked.
  const port = sharing === undefined ? wanted : (sharing.port ?? (await freePort(bind, wanted)));
  const listener = await new Promise<us_listen_socket | false>((resolve) => {
    // Without the option two servers silently share a port, and each gets some of the connections.
    app.listen(bind, port, sharing === undefined ? EXCLUSIVE_PORT : SHARED_PORT, resolve);
  });
  if (listener === false) throw (await listenProbe(bind, port)) ?? new Error(`cannot listen on ${bind}:${port}`);
  return { port: uws.us_socket_local_port(listener), end: () => uws.us_listen_socket_close(listener) };
}

/** Makes a listener in front of the server's own socket. */
function frontOf(
  own: OwnSocket,
  trusted: TrustedNetworks,
  { log }: ListenOptions,
  place: Pick<ProxyListenerOptions, 'bind' | 'port' | 'tls' | 'limits'>,
): ProxyListener {
  const refused = (err: unknown, proxy: string) => log.warn({ err, proxy }, 'unusable PROXY header');
  return new ProxyListener({ ...place, server: own.path, trusted, refused });
}

/** Listens on a Unix socket as well; no other user may enter its directory. */
async function listenPrivately(app: TemplatedApp): Promise<OwnSocket> {
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
