// A listener before a server that cannot read PROXY headers. The listener accepts connections, learns the client's
// address, and carries octets between the client and the server's Unix socket, each side at the other's pace. The server
// learns the address by a token: the listener hands the token over as the address of a PROXY header (version 2).
// uWebSockets.js takes such a header before every request, so a client could put an address there, but no client knows a
// token.
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { firstBytes, PeerLeft, readProxied } from './first-bytes.js';
import { canonicalAddress } from './ip-address.js';
import { encodeProxyHeader } from './proxy-header.js';
import type { TrustedNetworks } from './trusted-networks.js';

export interface ProxyListenerOptions {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Path of the server's Unix socket. */
  readonly server: string;
  readonly trusted: TrustedNetworks;
  /** A trusted peer sent no usable PROXY header. */
  readonly refused: (error: unknown, peer: string) => void;
  /** How long a connection may be silent; 10 s when absent, as long as uWebSockets.js waits. */
  readonly firstOctetsMs?: number;
}

const FIRST_OCTETS_MS = 10_000;
/** As many as the kernel allows: who does not fit tries again a second later. */
const BACKLOG = 4096;
/** More than a request without a body has. */
const BULK = 16 * 1024;
/** What the server said last has this long to be taken. */
const LINGER_MS = 30_000;
/** The server takes connections in each turn of the event loop; its queue has 512 places. */
const CONNECTS_A_TURN = 128;
const QUEUE_RETRY_MS = 50;
const QUEUE_RETRIES = 40;

export class ProxyListener {
  readonly #options: ProxyListenerOptions;
  readonly #listener: Server;
  readonly #clients = new Set<Socket>();
  readonly #reaching: (() => void)[] = [];
  /** Token → address, of open connections. */
  readonly #addresses = new Map<string, string>();

  constructor(options: ProxyListenerOptions) {
    this.#options = options;
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

  /** Whose connection it is; undefined for a token that is none of ours. */
  addressOf(token: Uint8Array): string | undefined {
    return this.#addresses.get(keyOf(token));
  }

  stopListening(): void {
    this.#listener.close();
  }

  /** Once the server has closed its side of everything: what it said has `lingerMs` to reach the clients. */
  async close(lingerMs: number): Promise<void> {
    this.stopListening();
    const until = performance.now() + lingerMs;
    while (this.#clients.size > 0 && performance.now() < until) await delay(5);
    for (const client of this.#clients) client.destroy();
  }

  async #take(client: Socket): Promise<void> {
    const { trusted, firstOctetsMs = FIRST_OCTETS_MS, refused } = this.#options;
    const peer = canonicalAddress(client.remoteAddress ?? '');
    client.on('error', () => client.destroy());
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
    try {
      if (peer === undefined) throw new PeerLeft('gone at once');
      // A trusted peer that says nothing yet may still send a header: its first octets tell.
      const { source } = trusted.includes(peer) ? await readProxied(client, firstOctetsMs) : { source: undefined };
      const start = await firstBytes(client, firstOctetsMs, anything);
      if (start === undefined) client.destroy();
      else this.#join(client, start, source?.address ?? peer);
    } catch (error) {
      client.destroy();
      if (!(error instanceof PeerLeft)) refused(error, peer ?? '');
    }
  }

  #join(client: Socket, start: Buffer, address: string): void {
    const token = randomBytes(16);
    const key = keyOf(token);
    this.#addresses.set(key, address);
    client.on('close', () => this.#addresses.delete(key));
    const opening = Buffer.concat([encodeProxyHeader(token, 0), start]);
    this.#reach(client, QUEUE_RETRIES, (server) => {
      // In one write: uWebSockets.js takes a PROXY header with octets of the request behind it, not in a segment of its own.
      server.write(opening);
      carry(client, server);
    });
  }

  /** A few at a time: a Unix socket refuses at once when its queue is full, and the server empties it in each turn. */
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

/** Either side's end goes through to the other, a broken one breaks it. */
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
 * A write to a server that has closed ends its socket here at once, and with it the reply that waits to be read. So what may
 * be the rest of a body that is not wanted any more waits until everything there was to be read has been read.
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
    // The first is before the sockets are looked at again, the second after.
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
