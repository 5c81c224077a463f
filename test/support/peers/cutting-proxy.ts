// A TCP proxy that interrupts: when a number of octets has passed in both directions together, it calls back once, and then breaks all
// connections. This tests interruptions at every position of a conversation.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class CuttingProxy {
  readonly port: number;
  /** The octets since the last `reset` or `interruptAfter`. */
  passed = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #limit = Number.POSITIVE_INFINITY;
  #interrupt = () => {};

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#join(client, connect(target, '127.0.0.1')));
  }

  /** `target` is a port of 127.0.0.1. */
  static async start(target: number): Promise<CuttingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CuttingProxy(server, target);
  }

  /** Lets everything pass. */
  reset(): void {
    this.interruptAfter(Number.POSITIVE_INFINITY, () => {});
  }

  /** `interrupt` is called before the connections are broken. */
  interruptAfter(octets: number, interrupt: () => void): void {
    this.passed = 0;
    this.#limit = octets;
    this.#interrupt = interrupt;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (chunk: Buffer) => this.#pass(chunk, to));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }

  #pass(chunk: Buffer, to: Socket): void {
    const left = this.#limit - this.passed;
    this.passed += chunk.length;
    to.write(chunk.length > left ? chunk.subarray(0, Math.max(0, left)) : chunk);
    if (this.passed < this.#limit) return;
    this.#limit = Number.POSITIVE_INFINITY;
    this.#interrupt();
    for (const socket of this.#sockets) socket.end();
  }
}
