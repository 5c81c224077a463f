// A balancer of TCP connections: new ones go to `target`, existing ones stay where they are.
import net, { type Server } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface Balancer {
  readonly port: number;
  /** A port of 127.0.0.1. */
  target: number;
}

/** The balancer ends with the test. */
export async function startBalancer(t: ExecutionContext, target: number): Promise<Balancer> {
  const sockets = new Set<net.Socket>();
  const server: Server = net.createServer({ allowHalfOpen: true }, (client) => {
    const node = net.connect({ port: balancer.target, host: '127.0.0.1', allowHalfOpen: true });
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroySoon();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const balancer: Balancer = { port: (server.address() as net.AddressInfo).port, target };
  return balancer;
}
