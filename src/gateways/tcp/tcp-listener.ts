// A listener for protocols of lines: limits the connections, believes the PROXY header of trusted proxies, makes TLS, and runs
// one session a connection. A session that returns has its connection closed; one that is cut short has a farewell sent.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { CertificateSource } from './certificate-source.js';
import { closeAfter } from './closing.js';
import { type ConnectionLimitOptions, ConnectionLimits, type ConnectionSlot } from './connection-limits.js';
import { canonicalAddress, networkOf } from './ip-address.js';
import { ConnectionEnd, type ConnectionTimes, type EndReason, LineConnection } from './line-connection.js';
import { FramingError, type LineFramerOptions } from './line-framer.js';
import { listenerAddress } from './listener-address.js';
import { PeerLeft, readProxied } from './peek.js';
import type { Endpoint } from './proxy-header.js';
import type { WriterLimits } from './socket-writer.js';
import type { TrustedNetworks } from './trusted-networks.js';

/** Why a connection is turned away or cut short. */
type FarewellReason = Exclude<EndReason, 'lost'> | FramingError['reason'] | 'full' | 'address-full' | 'bug';

export interface TcpListenerOptions {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls: CertificateSource;
  /** TLS before anything is said. */
  readonly implicitTls: boolean;
  /** Whose PROXY header is believed. */
  readonly trusted: TrustedNetworks;
  readonly limits: ConnectionLimitOptions;
  readonly times: ConnectionTimes;
  /** ms that a trusted proxy has for its PROXY header. */
  readonly proxyHeaderMs: number;
  readonly lines: LineFramerOptions;
  readonly writer?: WriterLimits;
  /** Whole lines of the protocol with their ends. */
  readonly farewells: Readonly<Record<FarewellReason, string>>;
  readonly log: Logger;
}

export type LineSession = (connection: LineConnection) => Promise<void>;

export interface TcpListener {
  /** `ip:port`. */
  readonly address: string;
  /** Open connections. */
  readonly connections: number;
  /** The listener is to stop soon: connections are taken as before, and end when their peers are between two lines. */
  beginDrain(): void;
  /** Stops listening, and cuts off what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** @throws the system's error when the port cannot be opened; Error when key and certificate cannot be used */
export async function listenTcp(options: TcpListenerOptions, session: LineSession): Promise<TcpListener> {
  const listener = new LineListener(options, session);
  await listener.open();
  return listener;
}

class LineListener implements TcpListener {
  address = '';
  readonly #options: TcpListenerOptions;
  readonly #session: LineSession;
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  readonly #sockets = new Set<Socket>();
  /** Of proxies that have not yet said whose connection it is. */
  readonly #unopened = new Set<Socket>();
  readonly #open = new Set<LineConnection>();
  #secureContext: SecureContext;
  #isDraining = false;
  #isStopping = false;

  constructor(options: TcpListenerOptions, session: LineSession) {
    this.#options = options;
    this.#session = session;
    this.#limits = new ConnectionLimits(options.limits);
    this.#secureContext = contextOf(options.tls);
    options.tls.onChange(() => this.#renew());
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void this.#accept(socket));
  }

  get connections(): number {
    return this.#limits.open;
  }

  open(): Promise<void> {
    const { bind: host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port, exclusive: true }, () => {
        this.#server.off('error', reject);
        this.address = listenerAddress(this.#server);
        resolve();
      });
    });
  }

  beginDrain(): void {
    this.#isDraining = true;
    for (const connection of this.#open) connection.drain();
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#unopened) socket.destroy();
    this.beginDrain();
    const late = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await closed;
    // The server counts a socket as closed before the socket says so.
    await Promise.all([...this.#sockets].map((socket) => once(socket, 'close')));
    clearTimeout(late);
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const { farewells } = this.#options;
    const slot = this.#limits.enter();
    if (slot === undefined) return this.#turnAway(socket, farewells.full);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      slot.leave();
    });
    const peer = await this.#peerOf(socket);
    if (peer === undefined) return;
    const exhausted = this.#isStopping ? undefined : slot.ofNetwork(networkOf(peer.address));
    if (!this.#isStopping && exhausted === undefined) return this.#run(socket, peer, slot);
    slot.leave();
    const isOfAddress = exhausted === 'share';
    this.#turnAway(socket, this.#isStopping ? farewells.stopping : farewells[isOfAddress ? 'address-full' : 'full']);
  }

  /** The client, told by the socket or a trusted proxy; undefined when the connection is over. */
  async #peerOf(socket: Socket): Promise<Endpoint | undefined> {
    const { trusted, proxyHeaderMs, log } = this.#options;
    const address = canonicalAddress(socket.remoteAddress ?? '');
    if (address === undefined) {
      socket.destroy();
      return undefined;
    }
    const own = { address, port: socket.remotePort ?? 0 };
    if (!trusted.includes(address)) return own;
    this.#unopened.add(socket);
    try {
      return (await readProxied(socket, proxyHeaderMs)).source ?? own;
    } catch (error) {
      socket.destroy();
      if (!(error instanceof PeerLeft)) log.warn({ err: error, proxy: address }, 'unusable PROXY header');
      return undefined;
    } finally {
      this.#unopened.delete(socket);
    }
  }

  async #run(socket: Socket, peer: Endpoint, slot: ConnectionSlot): Promise<void> {
    const { times, lines, writer, implicitTls, farewells, log } = this.#options;
    const secureContext = () => this.#secureContext;
    const connection = new LineConnection(socket, {
      peer,
      slot,
      times,
      lines,
      secureContext,
      ...(writer && { writer }),
    });
    this.#open.add(connection);
    if (this.#isDraining) connection.drain();
    try {
      if (implicitTls) await connection.beginWithTls();
      await this.#session(connection);
      connection.end();
    } catch (error) {
      if (error instanceof FramingError) connection.end(farewells[error.reason]);
      else if (!(error instanceof ConnectionEnd)) {
        log.error({ err: error, remoteAddress: peer.address }, 'a session failed');
        connection.end(farewells.bug);
      } else if (error.reason === 'lost') connection.destroy();
      else connection.end(farewells[error.reason]);
    } finally {
      this.#open.delete(connection);
    }
  }

  /** Where TLS comes first nothing can be said. */
  #turnAway(socket: Socket, words: string): void {
    if (this.#options.implicitTls) socket.destroy();
    else closeAfter(socket, words);
  }

  #renew(): void {
    const { tls, log } = this.#options;
    try {
      this.#secureContext = contextOf(tls);
    } catch (error) {
      log.error({ err: error }, 'new certificate cannot be used, keeping the old one');
    }
  }
}

function contextOf(tls: CertificateSource): SecureContext {
  const { key, cert } = tls.current();
  return createSecureContext({ key, cert, minVersion: 'TLSv1.2' });
}
