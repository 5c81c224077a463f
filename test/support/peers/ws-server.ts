// A small HTTP server with one WebSocket endpoint on the interface of gateways/web-socket, over node:http and the `ws` that
// @microsoft/signalr depends on: for tests of an endpoint without the real HTTP server.
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpAnswer, Socket, UpgradeRequest, WebSocketEndpoint } from '../../../src/gateways/web-socket.js';

/** The used part of `ws` 7, which has no types of its own. */
interface Peer {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: Buffer, options: { readonly binary: boolean }, written: () => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: string | Buffer) => void): void;
  on(event: 'close', listener: (code: number) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
}
interface PeerServer {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (peer: Peer) => void): void;
}
type PeerServerClass = new (options: { noServer: true; maxPayload: number }) => PeerServer;

const fromSignalr = createRequire(createRequire(import.meta.url).resolve('@microsoft/signalr'));
const { Server } = fromSignalr('ws') as { readonly Server: PeerServerClass };

const OPEN = 1;

export interface WsServer {
  readonly url: string;
  /** The path and query of every request, in order. */
  readonly requests: readonly string[];
  /** Drops every connection without a close frame. */
  cut(): void;
  close(): Promise<void>;
}

export async function startWsServer(path: string, endpoint: WebSocketEndpoint): Promise<WsServer> {
  const requests: string[] = [];
  const peers = new Set<Peer>();
  const sockets = new Server({ noServer: true, maxPayload: endpoint.maxMessageBytes });

  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const asked = upgradeRequest(request);
    if (request.method !== 'POST' || asked.path !== `${path}/negotiate`) {
      response.writeHead(404).end();
      return;
    }
    const answer = await endpoint.negotiate(asked);
    response.writeHead(answer.status, { ...answer.headers }).end(answer.body);
  });

  server.on('upgrade', async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    requests.push(`GET ${request.url}`);
    const decision = await endpoint.upgrade(upgradeRequest(request));
    if (typeof decision !== 'function') {
      socket.end(httpText(decision));
      return;
    }
    sockets.handleUpgrade(request, socket, head, (peer) => {
      peers.add(peer);
      const listener = decision(socketOver(peer, () => listener.drained()));
      peer.on('message', (data) => {
        listener.message(typeof data === 'string' ? Buffer.from(data) : data, typeof data !== 'string');
      });
      peer.on('error', () => peer.terminate());
      peer.on('close', (code) => {
        peers.delete(peer);
        listener.closed(code);
      });
    });
  });

  function cut(): void {
    for (const peer of peers) peer.terminate();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    requests,
    cut,
    async close() {
      cut();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function socketOver(peer: Peer, drained: () => void): Socket {
  let binary = false;
  return {
    useBinary() {
      binary = true;
      return true;
    },
    send(octets) {
      if (peer.readyState !== OPEN) return false;
      peer.send(Buffer.from(octets), { binary }, drained);
      return true;
    },
    bufferedBytes: () => peer.bufferedAmount,
    close: (code, reason) => peer.close(code, reason),
    terminate: () => peer.terminate(),
  };
}

function upgradeRequest(request: IncomingMessage): UpgradeRequest {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  return {
    path,
    query,
    header: (name) => String(request.headers[name] ?? ''),
    remoteAddress: request.socket.remoteAddress ?? '',
    isSecure: false,
  };
}

function httpText(answer: HttpAnswer): string {
  const headers = Object.entries({ ...answer.headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${answer.status} Refused\r\n${headers.join('')}\r\n${answer.body ?? ''}`;
}
