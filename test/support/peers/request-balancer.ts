// A balancer of HTTP requests without sticky sessions: each request goes to the next node.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

/** Returns its URL. `addresses` (`host:port`) may change while it runs. The balancer ends with the test. */
export async function startRequestBalancer(t: ExecutionContext, addresses: readonly string[]): Promise<string> {
  let next = 0;
  const balancer = createServer((from, to) => {
    const [host, port] = addresses[next++ % addresses.length]!.split(':');
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
  return `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
}
