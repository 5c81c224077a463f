// Gives tests of the WebSocket seam an endpoint that records what happens, a gateway that serves it, and a client on a bare socket.
import { createHash } from 'node:crypto';
import net from 'node:net';
import type { ExecutionContext } from 'ava';
import type {
  EndpointRequest,
  HttpAnswer,
  Socket,
  SocketListener,
  UpgradeDecision,
  UpgradeRequest,
  WebSocketEndpoint,
} from '../../../../src/gateways/web-socket.js';
import { deferred } from '../../../support/deferred.js';
import { type Gateway, startGateway } from '../gateway.js';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Accepts every socket and records what happens on it. */
export class FakeEndpoint implements WebSocketEndpoint {
  readonly maxMessageBytes = 1024;
  readonly requests: UpgradeRequest[] = [];
  readonly events: string[] = [];
  readonly opened = deferred();
  readonly ended = deferred();
  before: Promise<void> = Promise.resolve();
  socket: Socket | undefined;
  /** It is sent as soon as a socket is accepted. */
  greeting: Uint8Array | undefined;

  upgrade(request: UpgradeRequest): UpgradeDecision | Promise<UpgradeDecision> {
    this.requests.push(request);
    if (request.query.includes('at-once')) return this.#decision(request);
    return this.before.then(() => this.#decision(request));
  }

  #decision(request: UpgradeRequest): UpgradeDecision {
    if (request.query.includes('refuse')) return { status: 401, headers: { 'WWW-Authenticate': 'Bearer' }, body: 'no' };
    if (request.query.includes('throw')) throw new Error('boom');
    return (socket) => {
      if (request.query.includes('fail')) throw new Error('not taken');
      this.socket = socket;
      if (this.greeting !== undefined) socket.send(this.greeting);
      this.opened.resolve();
      return this.#listener();
    };
  }

  async exchange({ method, header, body, aborted }: EndpointRequest): Promise<HttpAnswer> {
    aborted.addEventListener('abort', () => {
      this.events.push('aborted');
      this.ended.resolve();
    });
    if (method === 'POST') return { status: 200, body: await body(10) };
    if (method === 'DELETE') return { status: 202 };
    const finished = (isSent: boolean) => void this.events.push(`finished ${isSent}`);
    if (header('accept') !== 'text/event-stream') return { status: 204, finished };
    const opened = this.opened;
    async function* pieces() {
      yield Buffer.from('first ');
      await opened.promise;
      yield Buffer.from('second');
    }
    return { status: 200, headers: { 'Content-Type': 'text/event-stream' }, body: pieces(), finished };
  }

  async negotiate(request: UpgradeRequest) {
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: `{"q":"${request.query}"}` };
  }

  #listener(): SocketListener {
    return {
      message: (data, isBinary) => {
        this.events.push(`${isBinary ? 'binary' : 'text'} ${Buffer.from(data)}`);
        if (data.length === 0) throw new Error('cannot take nothing');
      },
      pinged: () => this.events.push('pinged'),
      drained: () => this.events.push('drained'),
      closed: (code) => {
        this.events.push(`closed ${code}`);
        this.ended.resolve();
      },
    };
  }
}

export async function start(t: ExecutionContext, socketBufferBytes = 1024 * 1024): Promise<[FakeEndpoint, Gateway]> {
  const endpoint = new FakeEndpoint();
  const webSockets = [{ path: '/hubs/email', endpoint }];
  return [endpoint, await startGateway(t, { webSockets, limits: { socketBufferBytes } })];
}

export const handshake = (query = ''): string =>
  `GET /hubs/email${query} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Token: t\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`;

/** A frame of a client: a short payload, masked with zeros (RFC 6455 §5.2). */
export const frame = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);

export async function connect(t: ExecutionContext, gateway: Gateway, endpoint: FakeEndpoint): Promise<net.Socket> {
  const socket = net.connect(gateway.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  const answered = new Promise<Buffer>((resolve) => socket.once('data', resolve));
  socket.write(handshake());
  const answer = (await answered).toString('latin1');
  t.regex(answer, /^HTTP\/1\.1 101 /);
  const accept = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  t.true(answer.includes(accept));
  await endpoint.opened.promise;
  return socket;
}
