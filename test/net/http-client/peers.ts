// Fakes peers for tests of the HTTP client: servers with given answers, and DNS with given records.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { type Dns, DnsFailure } from '../../../src/net/dns/resolver.js';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../../src/net/http-client/http-client.js';

export interface Peer {
  readonly port: number;
  /** The number of connections so far. */
  readonly connections: number;
  /** The number of open connections. */
  readonly open: number;
}

/** `serve` gets each connection and everything that arrived in one read, as text. */
export async function peer(
  t: ExecutionContext,
  serve: (socket: Socket, text: string) => void,
  address = '127.0.0.1',
): Promise<Peer> {
  const open = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    socket.on('data', (chunk) => serve(socket, chunk.toString('latin1')));
  }).listen(0, address);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get open() {
      return open.size;
    },
  };
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Resolves these names; others do not exist. */
export function dnsOf(zones: Readonly<Record<string, { readonly A?: string[]; readonly AAAA?: string[] }>>): Dns {
  return {
    async resolve(name, type) {
      const found = zones[name]?.[type as 'A' | 'AAAA'];
      if (found === undefined) throw new DnsFailure(name in zones ? 'ENODATA' : 'ENOTFOUND', name, type);
      return found as never;
    },
  };
}

export function clientOf(t: ExecutionContext, options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = createHttpClient({ dns: dnsOf({}), allowPrivate: true, ...options });
  t.teardown(() => client.close());
  return client;
}
