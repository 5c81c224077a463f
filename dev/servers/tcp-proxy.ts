// A TCP proxy that can cut a process off from a server. It passes everything, refuses (it breaks all connections and accepts none), or is a
// black hole (connections stay open and are accepted, nothing passes, and no end is noticed), as behind a firewall that drops packets. What
// a black hole has swallowed arrives when the proxy passes again, as TCP would retransmit it. In mode `dead`, existing connections never
// pass anything again, but new ones do, as after a failover.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../ports.js';

export type ProxyMode = 'pass' | 'refuse' | 'black hole' | 'dead';

export interface TcpProxy {
  readonly port: number;
  readonly mode: ProxyMode;
  /** The number of open connections. */
  readonly connections: number;
  set(mode: ProxyMode): Promise<void>;
  /** Returns true when a black hole has swallowed the octets of `text` on their way to the target. */
  holds(text: string): boolean;
  close(): Promise<void>;
}

/** `target` is a port of 127.0.0.1. */
export async function startTcpProxy(target: number, port?: number): Promise<TcpProxy> {
  const proxy = new PortProxy(target, port ?? (await freePort()));
  await proxy.set('pass');
  return proxy;
}

class PortProxy implements TcpProxy {
  readonly port: number;
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;
  #mode: ProxyMode = 'refuse';

  constructor(target: number, port: number) {
    this.#target = target;
    this.port = port;
  }

  get mode(): ProxyMode {
    return this.#mode;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  async set(mode: ProxyMode): Promise<void> {
    this.#mode = mode;
    if (mode === 'refuse') {
      const closed = this.#server === undefined ? undefined : once(this.#server, 'close');
      this.#server?.close();
      this.#server = undefined;
      for (const pair of this.#pairs) pair.break();
      await closed;
      return;
    }
    for (const pair of this.#pairs) {
      if (mode === 'dead') pair.die();
      else pair.pass(mode === 'pass');
    }
    if (this.#server !== undefined) return;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => this.#take(client));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  holds(text: string): boolean {
    return [...this.#pairs].some((pair) => pair.holds(text));
  }

  close(): Promise<void> {
    return this.set('refuse');
  }

  #take(client: Socket): void {
    const pair = new Pair(client, this.#target, () => this.#pairs.delete(pair));
    this.#pairs.add(pair);
    pair.pass(this.#mode !== 'black hole');
  }
}

/** One connection of a client and the one to the target, which is made when something may pass for the first time. */
class Pair {
  readonly #client: Socket;
  readonly #target: number;
  readonly #gone: () => void;
  #server: Socket | undefined;
  #passing = false;
  #broken = false;
  #dead = false;

  constructor(client: Socket, target: number, gone: () => void) {
    this.#client = client.setNoDelay(true);
    this.#target = target;
    this.#gone = gone;
    this.#watch(client);
  }

  pass(passing: boolean): void {
    if (passing === this.#passing || this.#dead) return;
    this.#passing = passing;
    if (passing && this.#broken) {
      this.break();
      return;
    }
    if (passing && this.#server === undefined) {
      this.#server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      this.#watch(this.#server);
    }
    const server = this.#server;
    if (server === undefined) return;
    if (passing) {
      this.#client.pipe(server);
      server.pipe(this.#client);
    } else {
      this.#client.unpipe(server).pause();
      server.unpipe(this.#client).pause();
    }
  }

  die(): void {
    this.pass(false);
    this.#dead = true;
  }

  holds(text: string): boolean {
    if (this.#passing) return false;
    const octets = this.#client.read() as Buffer | null;
    if (octets === null) return false;
    this.#client.unshift(octets);
    return octets.includes(text);
  }

  break(): void {
    cut(this.#client);
    if (this.#server !== undefined) cut(this.#server);
    this.#gone();
  }

  #watch(socket: Socket): void {
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#broken = true;
      const open = [this.#client, this.#server].some((each) => each?.destroyed === false);
      // A black hole hides that the other side has gone.
      if (this.#passing || !open) this.break();
    });
  }
}

/**
 * Resets the socket. If its end was already sent, it is destroyed: libuv refuses a reset then, and Node.js would never finish the socket.
 */
function cut(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
