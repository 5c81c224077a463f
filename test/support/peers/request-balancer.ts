// A balancer of HTTP requests without sticky sessions: each request goes to the next node.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface RequestBalancer {
  readonly url: string;
  /** The number of requests at an address that have no whole answer yet. */
  underWayAt(address: string): number;
}

/** `addresses` (`host:port`) may change while it runs. The balancer ends with the test. */
export async function startRequestBalancer(
  t: ExecutionContext,
  addresses: readonly string[],
): Promise<RequestBalancer> {
  const underWay = new Map<string, number>();
  const underWayAt = (address: string) => underWay.get(address) ?? 0;
  let next = 0;
  const balancer = createServer((from, to) => {
    const address = addresses[next++ % addresses.length]!;
    underWay.set(address, underWayAt(address) + 1);
    to.on('close', () => underWay.set(address, underWayAt(address) - 1));
    const [host, port] = address.split(':');
    const { method, url: path, headers } = from;
    const passedOn = request({ host, port, method, path, headers }, (answer) => {
      to.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(to);
      answer.on('error', () => to.destroy());
    });
    passedOn.on('error', () => to.destroy());
    to.on('close', () => passedOn.destroy());
    from.pipe(passedOn);
  });
  balancer.listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  t.teardown(() => {
    balancer.closeAllConnections();
    balancer.close();
  });
  return { url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`, underWayAt };
}
