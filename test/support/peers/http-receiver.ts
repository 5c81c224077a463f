// An HTTP server for tests of requests to URLs that users gave; the push service and the webhook receiver use it. It stores every request
// and answers as ordered, also like a broken or hostile server: never, endlessly, by closing, too late.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { certificate } from '../../../dev/certificate.js';
import { freePort } from '../../../dev/ports.js';
import type { Teardown } from '../database/embedded-database.js';

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The time before the reply, in ms. */
  readonly afterMs?: number;
}

/**
 * `hang`: the request is read and never answered. `endless`: 200 and a body that never ends, as fast as the client reads it. `drip`: 200
 * and one octet of body every 100 ms, without an end. `headers`: a header that never ends. `close`: the connection is reset after the
 * request. `hold`: like `hang`, until `release()`.
 */
export type Answer = Reply | 'hang' | 'endless' | 'drip' | 'headers' | 'close' | 'hold';

export interface ArrivedRequest {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The time of `performance.now()` when the whole request had arrived. */
  readonly at: number;
}

export interface ReceivedRequest extends ArrivedRequest {
  readonly answer: Answer;
}

export interface HttpReceiver {
  /** http(s)://127.0.0.1:port, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The requests in order of arrival; the list grows. */
  readonly requests: readonly ReceivedRequest[];
  /** The current number of connections. */
  readonly connections: number;
  /** The most requests that were open at once. */
  readonly mostAtOnce: number;
  /** The octets of endless answers that were written so far. */
  readonly writtenOctets: number;
  /** Sets the answer to all following requests, except those of `answerNext`; undefined answers like a working server. */
  answer(by: Answer | ((request: ArrivedRequest) => Answer | undefined) | undefined): void;
  /** Sets the answers to the next requests, one each. */
  answerNext(...answers: readonly Answer[]): void;
  /** Answers held requests like a working server. */
  release(): void;
  /**
   * Resolves when the condition is true; it is checked when a request has arrived, an endless answer has grown, or a connection has closed.
   * @throws after five minutes, with the last requests
   */
  until(condition: () => boolean): Promise<void>;
  /** Accepts no connections and breaks the existing ones, until `listen()`. */
  shut(): Promise<void>;
  /** Listens on the same port. */
  listen(): Promise<void>;
}

export interface ReceiverOptions extends ReceiverPlace {
  /** Judges every request, also one that gets another answer; when absent, every answer is 200. */
  readonly working?: (request: ArrivedRequest) => Promise<Reply>;
}

export interface ReceiverPlace {
  /** The server uses the certificate of dev/certificate.ts, which no client should trust. */
  readonly tls?: boolean;
  /** Defaults to 127.0.0.1. */
  readonly address?: string;
  readonly port?: number;
}

const DRIP_MS = 100;
const PATIENCE_MS = 300_000;
const PIECE = Buffer.alloc(65_536, 'x');

/** The receiver ends with the test. */
export async function startHttpReceiver(t: Teardown, options: ReceiverOptions = {}): Promise<HttpReceiver> {
  const receiver = new ScriptedReceiver(options);
  t.teardown(() => receiver.shut());
  await receiver.listen();
  return receiver;
}

class ScriptedReceiver implements HttpReceiver {
  readonly requests: ReceivedRequest[] = [];
  mostAtOnce = 0;
  writtenOctets = 0;
  port: number;
  readonly #address: string;
  readonly #tls: boolean;
  readonly #working: (request: ArrivedRequest) => Promise<Reply>;
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();
  readonly #next: Answer[] = [];
  readonly #held: (() => void)[] = [];
  #scripted: (request: ArrivedRequest) => Answer | undefined = () => undefined;
  #underWay = 0;
  #server: ReturnType<typeof createServer> | undefined;

  constructor({
    tls = false,
    address = '127.0.0.1',
    port = 0,
    working = async () => ({ status: 200 }),
  }: ReceiverOptions) {
    this.#working = working;
    this.#tls = tls;
    this.#address = address;
    this.port = port;
  }

  get url(): string {
    return `${this.#tls ? 'https' : 'http'}://${this.#address}:${this.port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  answer(by: Answer | ((request: ArrivedRequest) => Answer | undefined) | undefined): void {
    this.#scripted = typeof by === 'function' ? by : () => by;
  }

  answerNext(...answers: readonly Answer[]): void {
    this.#next.push(...answers);
  }

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = () => {
        if (!condition()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        const { at = Number.NaN, path, answer } = this.requests.at(-1) ?? {};
        const last = `the last ${Math.round(performance.now() - at)} ms ago: ${path}, ${JSON.stringify(answer)}`;
        reject(new Error(`waited ${PATIENCE_MS} ms in vain; ${this.requests.length} requests came, ${last}`));
      }, PATIENCE_MS);
      this.#waiting.add(look);
      look();
    });
  }

  async listen(): Promise<void> {
    const take = (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response);
    const server = this.#tls ? createTlsServer(certificate, take) : createServer(take);
    server.on(this.#tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#look();
      });
    });
    this.#server = server;
    // No other process takes this port while the receiver is shut.
    if (this.port === 0) this.port = await freePort();
    server.listen(this.port, this.#address);
    await once(server, 'listening');
  }

  async shut(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#underWay);
    response.on('close', () => this.#underWay--);
    response.on('error', () => {});
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece);
    } catch {
      // The client disconnected in the middle of its request.
      return;
    }
    const received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(pieces),
      at: performance.now(),
    };
    const working = await this.#working(received);
    const answer = this.#next.shift() ?? this.#scripted(received) ?? working;
    this.requests.push({ ...received, answer });
    this.#give(answer, working, response);
    this.#look();
  }

  #give(answer: Answer, working: Reply, response: ServerResponse): void {
    switch (answer) {
      case 'hang':
        return;
      case 'hold':
        this.#held.push(() => this.#give(working, working, response));
        return;
      case 'close':
        response.socket?.destroy();
        return;
      case 'endless':
        this.#pour(response.writeHead(200));
        return;
      case 'drip':
        response.writeHead(200);
        this.#every(DRIP_MS, response, () => response.write('x'));
        return;
      case 'headers':
        response.socket?.write('HTTP/1.1 200 OK\r\n');
        this.#every(DRIP_MS, response, () => response.socket?.write('X-More: and more\r\n'));
        return;
      default: {
        const send = () => response.writeHead(answer.status, { ...answer.headers }).end(answer.body);
        if (answer.afterMs === undefined) send();
        else setTimeout(send, answer.afterMs).unref();
      }
    }
  }

  #pour(response: ServerResponse): void {
    if (response.destroyed) return;
    if (response.write(PIECE)) setImmediate(() => this.#pour(response));
    else response.once('drain', () => this.#pour(response));
    this.writtenOctets += PIECE.length;
    this.#look();
  }

  #every(ms: number, response: ServerResponse, act: () => void): void {
    const timer = setInterval(() => {
      act();
      this.writtenOctets++;
      this.#look();
    }, ms).unref();
    response.on('close', () => clearInterval(timer));
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}
