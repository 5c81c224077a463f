// The HTTP server on uWebSockets.js, which only this folder uses. It converts the library's callbacks into plain requests for a handler, and
// plain replies into the library's calls; it carries WebSockets; and it stops without cutting replies short. The pipeline gives requests
// their meaning. `listening` opens the port.

import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WebSocketEndpoint } from '../../web-socket.js';
import type { HeaderField, HttpHandler, HttpReply, HttpRequest, Log, TakeBody } from '../exchange.js';
import { Problem, problemReply } from '../problem.js';
import { peerAddress, type ReadAddress } from './client-address.js';
import type { Cors } from './cors.js';
import { LateUpgrade } from './late-upgrade.js';
import { type Listening, type ListenOptions, listen } from './listening.js';
import { OpenRequests } from './open-requests.js';
import { ReplyWriter, refuseAtOnce } from './reply-writer.js';
import { type BodyLimits, RequestBody } from './request-body.js';
import { type HeadLimits, type RequestHead, readHead } from './request-head.js';
import { loadServerLibrary, type ServerLibrary } from './server-library.js';
import {
  answerReply,
  exchange,
  otherMethod,
  type SocketData,
  socketHandlers,
  upgrade,
  upgradeRequest,
} from './web-sockets.js';

export interface HttpLimits extends HeadLimits, BodyLimits {
  /** The time that a client has to accept 64 KiB of a reply. */
  readonly stallMs: number;
  /** Octets that may wait for a slow WebSocket client before it is disconnected. */
  readonly socketBufferBytes: number;
}

const HTTP_LIMITS: HttpLimits = {
  headerBytes: 16 * 1024,
  targetBytes: 8 * 1024,
  bodyMs: 30_000,
  bodyRate: 64 * 1024,
  stallMs: 30_000,
  socketBufferBytes: 1024 * 1024,
};

export interface HttpOptions extends ListenOptions {
  readonly handler: HttpHandler;
  readonly webSockets: readonly { readonly path: string; readonly endpoint: WebSocketEndpoint }[];
  readonly limits?: Partial<HttpLimits>;
  /** The rules for pages of other origins; absent: no such page may read replies. */
  readonly cors?: Cors;
}

export interface HttpServer {
  /** `ip:port`, with the port that was actually taken; '' when the plain port is off. */
  readonly address: string;
  /** `ip:port` of HTTPS; undefined without it. */
  readonly tlsAddress: string | undefined;
  /**
   * Announces a stop: the server continues to serve, and every reply ends its connection. `othersListen`: other processes that share the
   * port accept the new connections.
   */
  beginDrain(othersListen?: boolean): void;
  /**
   * Accepts no new connections; requests on open connections have `graceMs` to arrive and to be answered. All connections are closed as
   * soon as none of them is in use.
   */
  stop(graceMs: number): Promise<void>;
}

/** RFC 6797: a year in which browsers use HTTPS for this host. It is sent where TLS ends here; a proxy decides for its own TLS. */
const HSTS: HeaderField = ['Strict-Transport-Security', 'max-age=31536000'];

const MIDWAY = 'A PROXY header stands where none is expected.';

/** A class, because an object literal with a getter has a shape of its own and makes all code that reads it slow. */
class ServedRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly remoteAddress: string;
  readonly isSecure: boolean;
  /** The method is GET or HEAD. */
  readonly isRead: boolean;
  readonly #writer: ReplyWriter;
  readonly #body: RequestBody;
  #controller: AbortController | undefined;

  constructor(
    { method, path, query, headers }: RequestHead,
    isRead: boolean,
    { remoteAddress, isSecure }: Pick<HttpRequest, 'remoteAddress' | 'isSecure'>,
    writer: ReplyWriter,
    body: RequestBody,
  ) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.remoteAddress = remoteAddress;
    this.isSecure = isSecure;
    this.isRead = isRead;
    this.#writer = writer;
    this.#body = body;
  }

  get aborted(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#writer.aborted) this.#controller.abort();
    // During a write or a short read, later requests wait in the kernel.
    else if (this.isRead) this.#body.readOn();
    return this.#controller.signal;
  }

  body(limit: number, take: TakeBody): Promise<void> {
    return this.#body.read(limit, take);
  }

  abort(): void {
    this.#controller?.abort();
  }
}

/** @throws Error when the address cannot be listened on, with the system's code (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const server = new UwsServer(options, await loadServerLibrary());
  await server.listen();
  return server;
}

class UwsServer implements HttpServer {
  address = '';
  tlsAddress: string | undefined;
  readonly #uws: ServerLibrary;
  readonly #options: HttpOptions;
  readonly #handler: HttpHandler;
  readonly #log: Log;
  readonly #cors: Cors;
  readonly #limits: HttpLimits;
  readonly #endpoints: Map<string, WebSocketEndpoint>;
  readonly #openRequests = new OpenRequests();
  #draining = false;
  #isListening = true;
  #stopping: Promise<void> | undefined;
  #addressOf: ReadAddress = peerAddress;
  readonly #app: TemplatedApp;
  readonly #lateUpgrades: LateUpgrade;
  #listening: Listening | undefined;

  constructor(options: HttpOptions, uws: ServerLibrary) {
    this.#uws = uws;
    this.#options = options;
    const { handler, log, cors = (_, reply) => reply } = options;
    this.#handler = handler;
    this.#log = log;
    this.#cors = cors;
    this.#limits = { ...HTTP_LIMITS, ...options.limits };
    this.#endpoints = new Map(options.webSockets.map(({ path, endpoint }) => [path, endpoint]));
    this.#app = uws.App();
    this.#lateUpgrades = new LateUpgrade(this.#log);
    if (this.#endpoints.size > 0)
      this.#app.get(this.#lateUpgrades.path, (response) => this.#lateUpgrades.take(response));
    for (const [path, endpoint] of this.#endpoints) this.#addEndpoint(path, endpoint);
    this.#app.any('/*', (response, raw) => this.#serve(response, readHead(raw, this.#limits)));
  }

  /** @throws when the port cannot be opened */
  async listen(): Promise<void> {
    const listening = await listen(this.#uws, this.#app, this.#options);
    this.#listening = listening;
    this.#addressOf = listening.addressOf;
    if (this.#endpoints.size > 0) await this.#lateUpgrades.start(listening.self);
    const { bind, tls } = this.#options;
    if (listening.port !== undefined) this.address = authority(bind, listening.port);
    if (listening.tlsPort !== undefined) this.tlsAddress = authority(tls?.bind ?? bind, listening.tlsPort);
  }

  beginDrain(othersListen = false): void {
    this.#draining = true;
    if (othersListen) this.#endListening();
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#shutDown(graceMs);
    return this.#stopping;
  }

  #addEndpoint(path: string, endpoint: WebSocketEndpoint): void {
    const handlers = socketHandlers(this.#log);
    this.#app.ws<SocketData>(path, {
      ...handlers,
      compression: this.#uws.DISABLED,
      maxPayloadLength: endpoint.maxMessageBytes,
      maxBackpressure: this.#limits.socketBufferBytes,
      closeOnBackpressureLimit: true,
      // The endpoint sends pings by its own protocol.
      idleTimeout: 0,
      sendPingsAutomatically: false,
      upgrade: (response, raw, context) =>
        upgrade(endpoint, response, raw, context, {
          limits: this.#limits,
          log: this.#log,
          remoteAddress: (of, headers) => this.#addressOf(of, headers),
          isSecure: (of, headers) => this.#listening?.isSecure(of, headers) === true,
          stopping: () => this.#stopping !== undefined,
          late: (to, run) => this.#lateUpgrades.run(to, run),
          refuse: (...refused) => this.#refuse(...refused),
          reply: (to, reply) =>
            void new ReplyWriter(to).write(reply, { head: false, close: true, stallMs: this.#limits.stallMs }),
        }),
    });
  }

  async #answer(head: RequestHead, request: HttpRequest): Promise<HttpReply> {
    const negotiated = head.path.endsWith('/negotiate') ? this.#endpoints.get(head.path.slice(0, -10)) : undefined;
    if (negotiated !== undefined) {
      if (head.method !== 'POST') return otherMethod(head.method, ['POST']);
      return answerReply(await negotiated.negotiate(upgradeRequest(head, request)));
    }
    const endpoint = this.#endpoints.get(head.path);
    return endpoint === undefined ? this.#handler(request) : exchange(endpoint, head, request);
  }

  #refuse(response: HttpResponse, head: RequestHead, problem: Problem): void {
    const reply = problemReply(problem);
    refuseAtOnce(response, { ...this.#cors(head, reply), body: reply.body });
  }

  #serve(response: HttpResponse, head: RequestHead): void {
    const remoteAddress = this.#addressOf(response, head.headers) ?? '';
    const endsTls = this.#listening?.endsTls(response) === true;
    const isSecure = this.#listening?.isSecure(response, head.headers) === true;
    const problem = head.problem ?? (remoteAddress === '' ? new Problem(400, { detail: MIDWAY }) : undefined);
    if (problem !== undefined) {
      response.onAborted(() => {});
      this.#refuse(response, head, problem);
      this.#log.debug({ method: head.method, status: problem.status }, 'request refused');
      return;
    }
    const writer = new ReplyWriter(response);
    const isRead = head.method === 'GET' || head.method === 'HEAD';
    const body = new RequestBody(response, head.contentLength, this.#limits, isRead);
    const open = {
      stayOpen: () => {
        if (!writer.isBehind) body.stayOpen();
      },
    };
    this.#openRequests.begin(open);
    const request = new ServedRequest(head, isRead, { remoteAddress, isSecure }, writer, body);
    response.onAborted(() => {
      writer.abort();
      body.gone();
      request.abort();
    });
    // uWebSockets.js closes a connection that brings a request before the previous one is answered. When both arrive in one segment, a
    // write has not begun yet, and is not executed.
    const carriedOut = async () => {
      if (!isRead) await nextTurn();
      return writer.aborted ? undefined : this.#answer(head, request);
    };
    carriedOut()
      .catch((error: unknown) => {
        this.#log.error({ err: error }, 'request handler failed');
        return problemReply(new Problem(500));
      })
      .then(async (answered) => {
        if (answered === undefined) return;
        // The library does not report whether the client receives a reply without a body, so the next request is not served in this turn.
        if (isRead && (answered.body === null || head.method === 'HEAD')) await nextTurn();
        const shared = this.#cors(head, answered);
        const reply = endsTls ? { ...shared, headers: [...shared.headers, HSTS] } : shared;
        const mustClose = !writer.aborted && body.abandon();
        const written = await writer.write(reply, {
          head: head.method === 'HEAD',
          close: mustClose || this.#draining,
          stallMs: this.#limits.stallMs,
        });
        reply.finished?.(written.outcome, written.error);
      })
      .catch((error: unknown) => this.#log.error({ err: error }, 'reply could not be written'))
      .finally(() => this.#openRequests.end(open));
  }

  #endListening(): void {
    if (this.#isListening) this.#listening?.end();
    this.#isListening = false;
  }

  async #shutDown(graceMs: number): Promise<void> {
    this.#draining = true;
    this.#endListening();
    await this.#openRequests.settle(graceMs);
    this.#lateUpgrades.stop();
    this.#app.close();
    await this.#listening?.closed();
  }
}

function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
