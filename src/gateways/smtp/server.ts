// The SMTP server: smtp-server with limits on connections, the PROXY header of trusted proxies (smtp-server's own is
// version 1 only and takes addresses, not networks), a sweep that ends slow connections, and a stop that lets messages
// finish. The handlers in the options decide about the commands.
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { ListenerLogins } from '../../auth/listener-logins.js';
import type { CertificateSource } from '../../net/tcp/certificate-source.js';
import { ConnectionLimits, type ConnectionSlot } from '../../net/tcp/connection-limits.js';
import { drainAndClose } from '../../net/tcp/draining.js';
import { PeerLeft, type Proxied, readProxied } from '../../net/tcp/first-bytes.js';
import { canonicalAddress, networkOf } from '../../net/tcp/ip-address.js';
import { listenerAddress } from '../../net/tcp/listener-address.js';
import type { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import { type ConnectionOwner, SmtpConnection, type SmtpSocket } from './connection.js';
import { GreetDelayPassList } from './greet-delay-pass-list.js';
import type { SmtpLimits } from './limits.js';
import type { SmtpReply } from './replies.js';

/** A trusted proxy sent no usable PROXY header. */
export class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused';
  readonly proxy: string;

  constructor(proxy: string, cause: unknown) {
    super('unusable PROXY header', { cause });
    this.proxy = proxy;
  }
}

const DRAIN_TICK_MS = 25;
const STOPPING = '421 4.3.2 Service closing, try again later';
const FULL = '421 4.3.2 Too many connections, try again later';
const FULL_FOR_ADDRESS = '421 4.7.0 Too many connections from your address';

/** The map in which the library looks up the context of a handshake. */
class PresentContext extends Map<string, CertificateSource['context']> {
  readonly #tls: CertificateSource;

  constructor(tls: CertificateSource) {
    super();
    this.#tls = tls;
  }

  override get(): CertificateSource['context'] {
    return this.#tls.context;
  }
}

export class SmtpServer extends SMTPServer implements ConnectionOwner {
  readonly limits: SmtpLimits;
  readonly logins: ListenerLogins<SmtpReply> | undefined;
  readonly passList: GreetDelayPassList;
  /** Whether new connections are refused and open ones end after their current message. */
  stopping = false;
  readonly #trusted: TrustedNetworks;
  readonly #limits: ConnectionLimits;
  readonly #open = new Set<SmtpConnection>();
  /** Connections from proxies that have not yet sent the address of the client. */
  readonly #unopened = new Set<SmtpSocket>();
  readonly #sweeper: NodeJS.Timeout;
  #drainer: NodeJS.Timeout | undefined;

  /** `logins` is undefined for a server that accepts mail from anyone and does not offer AUTH. */
  constructor(
    options: SMTPServerOptions,
    limits: SmtpLimits,
    trusted: TrustedNetworks,
    tls: CertificateSource,
    logins?: ListenerLogins<SmtpReply>,
  ) {
    super({
      // A public server must not have the library's defaults for these.
      logger: false,
      heloResponse: '%s',
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      hideDSN: true,
      hideREQUIRETLS: true,
      rejectOversized: true,
      // The library calls this for each client that names a host.
      SNICallback: (host, done) => done(null, tls.contextFor(host)),
      socketTimeout: limits.idleMs,
      // Used for the announcement only: all mechanisms are accepted.
      ...(logins && { authMethods: [...logins.mechanisms] }),
      authRequiredMessage: '5.7.0 Authentication required',
      maxRecipients: limits.recipients,
      ...options,
    });
    this.secureContext = new PresentContext(tls);
    this.limits = limits;
    this.#limits = new ConnectionLimits(limits);
    this.logins = logins;
    this.passList = new GreetDelayPassList(limits);
    this.#trusted = trusted;
    const { idleMs, stressIdleMs, loginMs, stressLoginMs, handshakeMs, minRateGraceMs } = limits;
    const shortest = Math.min(idleMs, stressIdleMs, loginMs, stressLoginMs, handshakeMs, minRateGraceMs);
    const period = Math.min(1000, Math.max(10, shortest / 4));
    this.#sweeper = setInterval(() => this.#sweep(), period);
    this.#sweeper.unref();
  }

  get openConnections(): number {
    return this.#open.size;
  }

  /** Opens the port; resolves to `ip:port`. */
  open(port: number, bind: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.listen(port, bind, () => {
        this.server.removeListener('error', reject);
        resolve(listenerAddress(this.server));
      });
    });
  }

  /** All listeners share their contexts, so the library makes none of its own. */
  override updateSecureContext(): void {}

  override connect(socket: SmtpSocket, options?: SMTPConnectionOptions | null): void {
    const peer = canonicalAddress(socket.remoteAddress ?? '') ?? '';
    const slot = this.stopping ? undefined : this.#limits.enter();
    if (slot === undefined) this.#turnAway(socket, this.stopping ? STOPPING : FULL);
    else if (this.#trusted.includes(peer)) void this.#connectBehind(peer, socket, slot, options);
    else this.#connect(peer, socket, slot, options);
  }

  /** The peer is a proxy or in a proxy's network: its first octets decide, before anything is sent. */
  async #connectBehind(
    peer: string,
    socket: SmtpSocket,
    slot: ConnectionSlot,
    options?: SMTPConnectionOptions | null,
  ): Promise<void> {
    socket.on('error', () => socket.destroy());
    this.#unopened.add(socket);
    let proxied: Proxied;
    try {
      proxied = await readProxied(socket, this.limits.proxyHeaderMs);
    } catch (error) {
      slot.leave();
      socket.destroy();
      if (!(error instanceof PeerLeft)) this._onError(new ProxyRefused(peer, error));
      return;
    } finally {
      this.#unopened.delete(socket);
    }
    const { source } = proxied;
    if (source === undefined) this.#connect(peer, socket, slot, options);
    else {
      const { address: remoteAddress, port: remotePort } = source;
      this.#connect(remoteAddress, socket, slot, { ...options, remoteAddress, remotePort });
    }
  }

  #connect(address: string, socket: SmtpSocket, slot: ConnectionSlot, options?: SMTPConnectionOptions | null): void {
    const exhausted = this.stopping ? undefined : slot.ofNetwork(networkOf(address));
    if (this.stopping || exhausted !== undefined) {
      slot.leave();
      this.#turnAway(socket, this.stopping ? STOPPING : exhausted === 'share' ? FULL_FOR_ADDRESS : FULL);
      return;
    }
    const connection = new SmtpConnection(this, socket, options ?? undefined, slot);
    this.#open.add(connection);
    this.connections.add(connection);
    connection.on('error', (error) => this._onError(error));
    connection.on('connect', (about) => this._onClientConnect(about));
    connection.init();
  }

  /** Called when the socket of a connection has closed. */
  release(connection: SmtpConnection): void {
    this.#open.delete(connection);
  }

  /** Ends connections as they become idle: their peers connect to another node for the next message. */
  beginDrain(othersListen = false): void {
    if (othersListen) this.server.close();
    // Input that arrived while this process was busy is read before a connection counts as idle.
    this.#drainer ??= setInterval(() => setImmediate(() => this.#endIdle()), DRAIN_TICK_MS).unref();
  }

  /** Stops listening, ends connections as soon as they receive no message, and after `graceMs` all that are left. */
  async drain(graceMs: number): Promise<void> {
    this.stopping = true;
    clearInterval(this.#sweeper);
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
    for (const socket of this.#unopened) socket.destroy();
    this.beginDrain();
    const timer = setTimeout(() => {
      for (const connection of this.#open) connection.expire();
    }, graceMs);
    await closed;
    clearInterval(this.#drainer);
    clearTimeout(timer);
  }

  /** Ends the sessions of the matching users. */
  dismiss(matches: (user: unknown) => boolean, text: string): void {
    for (const connection of this.#open) {
      const { user } = connection.session;
      if (user && matches(user)) connection.dismiss(text);
    }
  }

  #endIdle(): void {
    const now = performance.now();
    for (const connection of this.#open) connection.drain(now);
  }

  /** A listener with implicit TLS cannot send text before the handshake. */
  #turnAway(socket: SmtpSocket, reply: string): void {
    if (this.options.secure) socket.destroy();
    else drainAndClose(socket, `${reply}\r\n`);
  }

  #sweep(): void {
    const now = performance.now();
    const { idleMs, stressIdleMs, stressConnections, loginMs, stressLoginMs } = this.limits;
    // With few free slots, silent peers have to go sooner (Postfix: stress-adaptive behaviour).
    const isStressed = this.#limits.open >= stressConnections;
    const mostMs = isStressed ? Math.min(idleMs, stressIdleMs) : idleMs;
    const mostLoginMs = this.#limits.isHalfFull ? Math.min(loginMs, stressLoginMs) : loginMs;
    for (const connection of this.#open) connection.sweep(now, mostMs, mostLoginMs);
  }
}
