// A listener in front of a server that cannot read PROXY headers, and whose TLS cannot change its certificate. It accepts connections, learns
// the client's address, ends TLS where it has certificates, and carries octets between the client and the server's Unix socket, each side at
// the other's pace. The server learns the address by a token, which the listener sends as the address of a PROXY header (version 2).
// uWebSockets.js accepts such a header before every request, so a client could send one too, but no client knows a token.
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { CertificateSource } from './certificate-source.js';
import { type ConnectionLimitOptions, ConnectionLimits } from './connection-limits.js';
import { firstBytes, PeerLeft, readProxied } from './first-bytes.js';
import { canonicalAddress, networkOf } from './ip-address.js';
import { encodeProxyHeader } from './proxy-header.js';
import { HandshakeFailed, secure } from './starttls.js';
import type { TrustedNetworks } from './trusted-networks.js';

export interface ProxyListenerOptions {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The path of the server's Unix socket. */
  readonly server: string;
  readonly trusted: TrustedNetworks;
  /** Set: TLS begins after the PROXY header. */
  readonly tls?: CertificateSource | undefined;
  /** A network above its share is disconnected; trusted ones, which are balancers, have no share. Absent: no limit. */
  readonly limits?: ConnectionLimitOptions | undefined;
  /** Called when a trusted peer sends no usable PROXY header. */
  readonly refused: (error: unknown, peer: string) => void;
  /** The time for which a connection may be silent; 10 s when absent, which is the limit of uWebSockets.js. */
  readonly firstOctetsMs?: number;
}

const FIRST_OCTETS_MS = 10_000;
/** The queue is as long as the kernel allows: a client that finds the queue full tries again a second later. */
const BACKLOG = 4096;
/** A request without a body has fewer octets than this. */
const BULK = 16 * 1024;
/** The client has this long to receive the server's last octets. */
const LINGER_MS = 30_000;
/** The server accepts connections in each turn of the event loop; its queue has room for 512. */
const CONNECTS_A_TURN = 128;
const QUEUE_RETRY_MS = 50;
const QUEUE_RETRIES = 40;

export class ProxyListener {
  readonly #options: ProxyListenerOptions;
  readonly #limits: ConnectionLimits | undefined;
  readonly #listener: Server;
  readonly #clients = new Set<Socket>();
  readonly #reaching: (() => void)[] = [];
  /** Token → address of the open connections. */
  readonly #addresses = new Map<string, string>();

  constructor(options: ProxyListenerOptions) {
    this.#options = options;
    this.#limits = options.limits && new ConnectionLimits(options.limits);
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => void this.#take(client));
  }

  /** Resolves to the port. @throws the system's error */
  open(): Promise<number> {
    const { bind, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#listener.once('error', reject);
      this.#listener.listen({ host: bind, port, backlog: BACKLOG }, () => {
        this.#listener.off('error', reject);
        const address = this.#listener.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** The address of the client; undefined for a token that this listener did not make. */
  addressOf(token: Uint8Array): string | undefined {
    return this.#addresses.get(keyOf(token));
  }

  stopListening(): void {
    this.#listener.close();
  }

  /** Called after the server has closed its side of all connections: its last octets have `lingerMs` to reach the clients. */
  async close(lingerMs: number): Promise<void> {
    this.stopListening();
    const until = performance.now() + lingerMs;
    while (this.#clients.size > 0 && performance.now() < until) await delay(5);
    for (const client of this.#clients) client.destroy();
  }

  async #take(client: Socket): Promise<void> {
    const { trusted, tls, firstOctetsMs = FIRST_OCTETS_MS, refused } = this.#options;
    const peer = canonicalAddress(client.remoteAddress ?? '');
    client.on('error', () => client.destroy());
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
    try {
      if (peer === undefined) throw new PeerLeft('gone at once');
      // A trusted peer that is silent so far may still send a header: its first octets decide.
      const { source } = trusted.includes(peer) ? await readProxied(client, firstOctetsMs) : { source: undefined };
      const address = source?.address ?? peer;
      if (!this.#admits(client, address)) return void client.destroy();
      const stream = tls === undefined ? client : await secure(client, tls, firstOctetsMs);
      const start = await firstBytes(stream, firstOctetsMs, anything);
      if (start === undefined) client.destroy();
      else this.#join(stream, start, address);
    } catch (error) {
      client.destroy();
      if (!(error instanceof PeerLeft || error instanceof HandshakeFailed)) refused(error, peer ?? '');
    }
  }

  /** Whether there is room for the connection, which occupies its place until it closes. */
  #admits(client: Socket, address: string): boolean {
    if (this.#limits === undefined) return true;
    const slot = this.#limits.enter();
    if (slot === undefined || client.destroyed) {
      slot?.leave();
      return false;
    }
    client.on('close', () => slot.leave());
    return this.#options.trusted.includes(address) || slot.ofNetwork(networkOf(address)) === undefined;
  }

  #join(client: Socket, start: Buffer, address: string): void {
    const token = randomBytes(16);
    const key = keyOf(token);
    this.#addresses.set(key, address);
    client.on('close', () => this.#addresses.delete(key));
    const opening = Buffer.concat([encodeProxyHeader(token, 0), start]);
    this.#reach(client, QUEUE_RETRIES, (server) => {
      // One write: uWebSockets.js accepts a PROXY header with octets of the request behind it, but not in a segment of its own.
      server.write(opening);
      carry(client, server);
    });
  }

  /** Connects a few at a time: a Unix socket refuses at once when its queue is full, and the server empties it in each turn. */
  #reach(client: Socket, retries: number, reached: (server: Socket) => void): void {
    this.#reaching.push(() => this.#connect(client, retries, reached));
    if (this.#reaching.length === 1) setImmediate(() => this.#reachNext());
  }

  #reachNext(): void {
    for (const connectNext of this.#reaching.splice(0, CONNECTS_A_TURN)) connectNext();
    if (this.#reaching.length > 0) setImmediate(() => this.#reachNext());
  }

  #connect(client: Socket, retries: number, reached: (server: Socket) => void): void {
    if (client.destroyed) return;
    const server = connect({ path: this.#options.server, allowHalfOpen: true });
    const failed = (error: NodeJS.ErrnoException): void => {
      if (error.code !== 'EAGAIN' || retries === 0) client.destroy();
      else setTimeout(() => this.#reach(client, retries - 1, reached), QUEUE_RETRY_MS);
    };
    server.once('error', failed);
    server.once('connect', () => {
      server.off('error', failed);
      if (client.destroyed) server.destroy();
      else reached(server);
    });
  }
}

function anything(octets: Buffer): { used: number; value: Buffer } {
  return { used: octets.length, value: octets };
}

/** Carries octets in both directions; the end or failure of one side is passed to the other. */
function carry(client: Socket, server: Socket): void {
  server.on('error', () => server.destroy());
  let linger: NodeJS.Timeout | undefined;
  server.on('close', () => {
    if (client.destroyed) return;
    client.end();
    // Unread octets would turn the close into a reset, which may overtake the reply.
    client.resume();
    linger = setTimeout(() => client.destroy(), LINGER_MS);
  });
  client.on('close', () => {
    clearTimeout(linger);
    server.destroy();
  });
  server.pipe(client);
  upload(client, server);
}

/**
 * A write to a server that has closed ends the socket at once, and with it the unread reply. So octets that may be the rest of an unwanted
 * body wait until all available octets of the reply have been read.
 */
function upload(client: Socket, server: Socket): void {
  let bulk: Buffer | undefined;
  let ended = false;
  const put = (octets: Buffer): void => {
    if (!server.writable || server.write(octets)) client.resume();
    else client.pause();
  };
  const putBulk = (): void => {
    const octets = bulk!;
    bulk = undefined;
    put(octets);
    if (ended) server.end();
  };
  server.on('drain', () => client.resume());
  client.on('data', (chunk: Buffer) => {
    if (chunk.length < BULK) return put(chunk);
    client.pause();
    bulk = chunk;
    // The first callback runs before the sockets are polled again, the second after.
    setImmediate(() => setImmediate(putBulk));
  });
  client.on('end', () => {
    ended = true;
    if (bulk === undefined) server.end();
  });
}

function keyOf(token: Uint8Array): string {
  return Buffer.from(token.buffer, token.byteOffset, token.length).toString('latin1');
}
