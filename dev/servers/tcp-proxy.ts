// A TCP proxy that can cut a process off from a server. It passes everything, refuses (it breaks all connections and accepts none), or is a
// black hole (connections stay open and are accepted, nothing passes, and no end is noticed), as behind a firewall that drops packets. What
// a black hole has swallowed arrives when the proxy passes again, as TCP would retransmit it. In mode `mute` only what the process says is
// swallowed, in mode `deaf` only what the server says. In mode `dead`, existing connections never pass anything again, but new ones do, as
// after a failover.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../ports.js';

export type ProxyMode = 'pass' | 'refuse' | 'black hole' | 'mute' | 'deaf' | 'dead';

/** What passes: octets from the process to the server, and back. */
interface Flow {
  readonly there: boolean;
  readonly back: boolean;
}

const FLOWS: Readonly<Record<Exclude<ProxyMode, 'refuse'>, Flow>> = {
  pass: { there: true, back: true },
  'black hole': { there: false, back: false },
  mute: { there: false, back: true },
  deaf: { there: true, back: false },
  // New connections.
  dead: { there: true, back: true },
};

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
      else pair.pass(FLOWS[mode]);
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
    // A server that listens no more has no mode `refuse` here.
    if (this.#mode !== 'refuse') pair.pass(FLOWS[this.#mode]);
  }
}

/** One connection of a client and the one to the target, which is made when something may pass for the first time. */
class Pair {
  readonly #client: Socket;
  readonly #target: number;
  readonly #gone: () => void;
  #server: Socket | undefined;
  #flow = FLOWS['black hole'];
  #broken = false;
  #dead = false;

  constructor(client: Socket, target: number, gone: () => void) {
    this.#client = client.setNoDelay(true);
    this.#target = target;
    this.#gone = gone;
    this.#watch(client);
  }

  pass(flow: Flow): void {
    if (this.#dead) return;
    const before = this.#flow;
    this.#flow = flow;
    if (this.#passes && this.#broken) {
      this.break();
      return;
    }
    if ((flow.there || flow.back) && this.#server === undefined) {
      this.#server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      this.#watch(this.#server);
    }
    const server = this.#server;
    if (server === undefined) return;
    if (flow.there !== before.there) join(this.#client, server, flow.there);
    if (flow.back !== before.back) join(server, this.#client, flow.back);
  }

  die(): void {
    this.pass(FLOWS['black hole']);
    this.#dead = true;
  }

  holds(text: string): boolean {
    if (this.#flow.there) return false;
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

  get #passes(): boolean {
    return this.#flow.there && this.#flow.back;
  }

  #watch(socket: Socket): void {
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#broken = true;
      const open = [this.#client, this.#server].some((each) => each?.destroyed === false);
      // What swallows octets hides that the other side has gone.
      if (this.#passes || !open) this.break();
    });
  }
}

function join(from: Socket, to: Socket, passes: boolean): void {
  if (passes) from.pipe(to);
  else from.unpipe(to).pause();
}

/**
 * Resets the socket. If its end was already sent, it is destroyed: libuv refuses a reset then, and Node.js would never finish the socket.
 */
function cut(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
