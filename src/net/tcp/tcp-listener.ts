// A listener for line protocols: limits the connections, accepts the PROXY header of trusted proxies, starts TLS, and runs one session per
// connection. When a session returns, its connection is closed; when it is cut short, a farewell is sent first.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import type { CertificateSource } from './certificate-source.js';
import { ConnectionEnd, type EndReason } from './connection-end.js';
import {
  type ConnectionLimiters,
  type ConnectionLimitOptions,
  ConnectionLimits,
  type ConnectionSlot,
} from './connection-limits.js';
import { drainAndClose } from './draining.js';
import { PeerLeft, readProxied } from './first-bytes.js';
import { canonicalAddress, networkOf } from './ip-address.js';
import { type ConnectionTimes, LineConnection, type OwningListener } from './line-connection.js';
import { FramingError, type LineFramerOptions } from './line-framer.js';
import type { LineSession } from './line-session.js';
import { listenerAddress } from './listener-address.js';
import type { Endpoint } from './proxy-header.js';
import type { WriterLimits } from './socket-writer.js';
import type { TrustedNetworks } from './trusted-networks.js';

/** The reasons for which a connection is refused or cut short. */
type FarewellReason = Exclude<EndReason, 'lost' | 'over'> | FramingError['reason'] | 'full' | 'address-full' | 'bug';

/** The options that a node sets for a listener of any protocol. */
export interface ListenerPlace {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls: CertificateSource;
  /** TLS starts before the first line. */
  readonly implicitTls: boolean;
  /** The networks whose PROXY header is believed. */
  readonly trusted: TrustedNetworks;
  /** Those of several listeners together; absent: the listener has its own. */
  readonly limiters?: ConnectionLimiters | undefined;
  readonly log: Logger;
}

export interface TcpListenerOptions extends ListenerPlace {
  readonly limits: ConnectionLimitOptions;
  readonly times: ConnectionTimes;
  /** The time, in ms, that a trusted proxy has for its PROXY header. */
  readonly proxyHeaderMs: number;
  readonly lines: LineFramerOptions;
  readonly writer?: WriterLimits;
  /** Whole lines of the protocol with their ends. */
  readonly farewells: Readonly<Record<FarewellReason, string>>;
}

export type SessionStart = (connection: LineConnection) => LineSession;

export interface TcpListener {
  /** `ip:port`. */
  readonly address: string;
  /** The number of open connections. */
  readonly connections: number;
  /**
   * Announces a stop: connections end when their peers are between two lines. New ones are accepted as before, unless `othersListen`: then
   * other processes that share the port accept them.
   */
  beginDrain(othersListen?: boolean): void;
  /** Stops listening, and cuts off the remaining connections after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** @throws the system's error when the port cannot be opened */
export async function listenTcp(options: TcpListenerOptions, start: SessionStart): Promise<TcpListener> {
  const listener = new LineListener(options, start);
  await listener.open();
  return listener;
}

class LineListener implements TcpListener, OwningListener {
  address = '';
  readonly #options: TcpListenerOptions;
  readonly #start: SessionStart;
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  readonly #sockets = new Map<Socket, ConnectionSlot>();
  /** The sockets of proxies that have not named their client yet. */
  readonly #unopened = new Set<Socket>();
  readonly #open = new Set<LineConnection>();
  readonly #sweeper: NodeJS.Timeout;
  /** One function for the sockets of all connections. */
  readonly #onSocketClose: (this: Socket) => void;
  #isDraining = false;
  #isStopping = false;

  constructor(options: TcpListenerOptions, start: SessionStart) {
    this.#options = options;
    this.#start = start;
    this.#limits = new ConnectionLimits(options.limits, options.limiters);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    const { idleMs, loginMs, stressLoginMs, minRateGraceMs } = options.times;
    const shortest = Math.min(idleMs, loginMs, stressLoginMs, minRateGraceMs);
    const period = Math.min(1000, Math.max(10, shortest / 4));
    this.#sweeper = setInterval(() => this.#sweep(), period).unref();
    const left = (socket: Socket) => this.#left(socket);
    this.#onSocketClose = function (this: Socket) {
      left(this);
    };
  }

  get tls(): CertificateSource {
    return this.#options.tls;
  }

  get times(): ConnectionTimes {
    return this.#options.times;
  }

  get loginMs(): number {
    const { loginMs, stressLoginMs } = this.times;
    return this.#limits.isHalfFull ? Math.min(loginMs, stressLoginMs) : loginMs;
  }

  get lines(): LineFramerOptions {
    return this.#options.lines;
  }

  get writerLimits(): WriterLimits | undefined {
    return this.#options.writer;
  }

  get connections(): number {
    return this.#limits.open;
  }

  open(): Promise<void> {
    const { bind: host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.address = listenerAddress(this.#server);
        resolve();
      });
    });
  }

  beginDrain(othersListen = false): void {
    this.#isDraining = true;
    if (othersListen) this.#server.close();
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
      for (const socket of this.#sockets.keys()) socket.destroy();
    }, graceMs);
    await closed;
    // The server counts a socket as closed before the socket emits `close`.
    await Promise.all([...this.#sockets.keys()].map((socket) => once(socket, 'close')));
    clearTimeout(late);
    clearInterval(this.#sweeper);
  }

  #accept(socket: Socket): void {
    socket.on('error', destroyOnError);
    const slot = this.#limits.enter();
    if (slot === undefined) {
      this.#turnAway(socket, this.#options.farewells.full);
      return;
    }
    this.#sockets.set(socket, slot);
    socket.on('close', this.#onSocketClose);
    const address = canonicalAddress(socket.remoteAddress ?? '');
    if (address === undefined) socket.destroy();
    else {
      const own = { address, port: socket.remotePort ?? 0 };
      if (this.#options.trusted.includes(address)) void this.#acceptBehind(socket, own, slot);
      else this.#admit(socket, own, slot);
    }
  }

  /** Accepts a connection from a trusted network, which may be a proxy or the client itself. */
  async #acceptBehind(socket: Socket, own: Endpoint, slot: ConnectionSlot): Promise<void> {
    const { proxyHeaderMs, log } = this.#options;
    let source: Endpoint | undefined;
    this.#unopened.add(socket);
    try {
      source = (await readProxied(socket, proxyHeaderMs)).source;
    } catch (error) {
      socket.destroy();
      if (!(error instanceof PeerLeft)) log.warn({ err: error, proxy: own.address }, 'unusable PROXY header');
      return;
    } finally {
      this.#unopened.delete(socket);
    }
    this.#admit(socket, source ?? own, slot);
  }

  #admit(socket: Socket, peer: Endpoint, slot: ConnectionSlot): void {
    const { farewells } = this.#options;
    const exhausted = this.#isStopping ? undefined : slot.ofNetwork(networkOf(peer.address));
    if (!this.#isStopping && exhausted === undefined) this.#begin(socket, peer, slot);
    else {
      slot.leave();
      const isOfAddress = exhausted === 'share';
      this.#turnAway(socket, this.#isStopping ? farewells.stopping : farewells[isOfAddress ? 'address-full' : 'full']);
    }
  }

  #begin(socket: Socket, peer: Endpoint, slot: ConnectionSlot): void {
    const connection = new LineConnection(socket, peer, slot, this);
    this.#open.add(connection);
    if (this.#isDraining) connection.drain();
    if (!this.#options.implicitTls) connection.start(this.#start(connection));
    else {
      connection.beginWithTls().then(
        () => connection.start(this.#start(connection)),
        (error) => this.over(connection, error),
      );
    }
  }

  /** Says farewell and closes. */
  over(connection: LineConnection, error?: unknown): void {
    const { farewells, log } = this.#options;
    this.#open.delete(connection);
    if (error === undefined) connection.end();
    else if (error instanceof FramingError) connection.end(farewells[error.reason]);
    else if (!(error instanceof ConnectionEnd)) {
      log.error({ err: error, remoteAddress: connection.peer.address }, 'a session failed');
      connection.end(farewells.bug);
    } else if (error.reason === 'lost') connection.destroy();
    else if (error.reason === 'over') connection.end();
    else connection.end(farewells[error.reason]);
  }

  #left(socket: Socket): void {
    this.#sockets.get(socket)?.leave();
    this.#sockets.delete(socket);
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of this.#open) connection.sweep(now);
  }

  /** Sends the words and closes; where TLS starts first, nothing can be sent. */
  #turnAway(socket: Socket, words: string): void {
    if (this.#options.implicitTls) socket.destroy();
    else drainAndClose(socket, words);
  }
}

function destroyOnError(this: Socket): void {
  this.destroy();
}
