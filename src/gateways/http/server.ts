// The HTTP server: the only importer of uWebSockets.js. Turns its callbacks into plain requests for a handler and plain
// replies into its calls, carries WebSockets for their endpoints, and stops without cutting replies short. What a
// request means is the pipeline's business.
import './header-room.js';
import uws, { type HttpResponse } from 'uWebSockets.js';
import { listenProbe } from '../tcp/listen-probe.js';
import type { WebSocketEndpoint } from '../web-socket.js';
import type { HttpHandler, HttpReply, HttpRequest, Log } from './exchange.js';
import { Problem, problemReply } from './problem.js';
import { QuietUpgrade } from './quiet-upgrade.js';
import { ReplyWriter } from './reply-writer.js';
import { type BodyLimits, RequestBody } from './request-body.js';
import { type HeadLimits, type RequestHead, readHead } from './request-head.js';
import { answerReply, type SocketData, socketHandlers, upgrade, upgradeRequest } from './web-sockets.js';

export interface HttpLimits extends HeadLimits, BodyLimits {
  /** Time a client has to take 64 KiB of a reply. */
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

export interface HttpOptions {
  readonly bind: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly handler: HttpHandler;
  readonly webSockets: readonly { readonly path: string; readonly endpoint: WebSocketEndpoint }[];
  readonly limits?: Partial<HttpLimits>;
  readonly log: Log;
}

export interface HttpServer {
  /** `ip:port`, with the port that was really taken. */
  readonly address: string;
  /** No new connections; replies under way have `graceMs` to end, then every connection is closed. */
  stop(graceMs: number): Promise<void>;
}

/** @throws Error when the address cannot be listened on, with the system's code (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { handler, log } = options;
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const endpoints = new Map(options.webSockets.map(({ path, endpoint }) => [path, endpoint]));
  let inFlight = 0;
  let draining = false;
  let idle: (() => void) | undefined;
  let stopping: Promise<void> | undefined;

  function over(): void {
    inFlight--;
    if (inFlight === 0) idle?.();
  }

  async function answer(head: RequestHead, request: HttpRequest): Promise<HttpReply> {
    if (draining) return problemReply(new Problem(503, { headers: [['Retry-After', '1']] }));
    const negotiated = head.path.endsWith('/negotiate') ? endpoints.get(head.path.slice(0, -10)) : undefined;
    if (negotiated !== undefined) {
      if (head.method !== 'POST') return problemReply(new Problem(405, { headers: [['Allow', 'POST']] }));
      return answerReply(await negotiated.negotiate(upgradeRequest(head, request.remoteAddress)));
    }
    if (endpoints.has(head.path)) return problemReply(socketOnly(head.method));
    return handler(request);
  }

  function exchange(response: HttpResponse, head: RequestHead): void {
    if (head.problem !== undefined) {
      // At once and with the connection: what follows on it may be the rest of this request or another one.
      response.onAborted(() => {});
      void new ReplyWriter(response).write(problemReply(head.problem), {
        head: false,
        close: true,
        stallMs: limits.stallMs,
      });
      log.debug({ method: head.method, status: head.problem.status }, 'request refused');
      return;
    }
    inFlight++;
    const writer = new ReplyWriter(response);
    const body = new RequestBody(response, head.contentLength, limits);
    let controller: AbortController | undefined;
    response.onAborted(() => {
      writer.abort();
      body.gone();
      controller?.abort();
    });
    const request: HttpRequest = {
      method: head.method,
      path: head.path,
      query: head.query,
      headers: head.headers,
      remoteAddress: remoteAddress(response),
      get aborted() {
        controller ??= new AbortController();
        if (writer.aborted) controller.abort();
        return controller.signal;
      },
      body: (limit) => body.collect(limit),
    };
    answer(head, request)
      .catch((error: unknown) => {
        log.error({ err: error }, 'request handler failed');
        return problemReply(new Problem(500));
      })
      .then(async (reply) => {
        const mustClose = !writer.aborted && body.abandon();
        const written = await writer.write(reply, {
          head: head.method === 'HEAD',
          close: mustClose || draining,
          stallMs: limits.stallMs,
        });
        reply.finished?.(written.outcome, written.error);
      })
      .catch((error: unknown) => log.error({ err: error }, 'reply could not be written'))
      .finally(over);
  }

  const app = uws.App();
  const quiet = new QuietUpgrade(log);
  if (endpoints.size > 0) app.get(quiet.path, (response) => quiet.take(response));
  for (const [path, endpoint] of endpoints) {
    const handlers = socketHandlers(limits.socketBufferBytes, log);
    app.ws<SocketData>(path, {
      ...handlers,
      compression: uws.DISABLED,
      maxPayloadLength: endpoint.maxMessageBytes,
      maxBackpressure: limits.socketBufferBytes,
      closeOnBackpressureLimit: 1,
      // The endpoint pings by its own protocol.
      idleTimeout: 0,
      sendPingsAutomatically: false,
      upgrade: (response, raw, context) =>
        upgrade(endpoint, response, raw, context, {
          limits,
          log,
          remoteAddress,
          draining: () => draining,
          late: (to, run) => quiet.run(to, run),
          reply: (to, reply) =>
            void new ReplyWriter(to).write(reply, { head: false, close: true, stallMs: limits.stallMs }),
        }),
    });
  }
  app.any('/*', (response, raw) => exchange(response, readHead(raw, limits)));

  async function shutDown(listening: uws.us_listen_socket, graceMs: number): Promise<void> {
    draining = true;
    uws.us_listen_socket_close(listening);
    if (inFlight > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    quiet.stop();
    app.close();
  }

  const listener = await new Promise<uws.us_listen_socket | false>((resolve) => {
    // Without the option two servers share a port without a word, and each gets some of the connections.
    (app as unknown as ListeningApp).listen(options.bind, options.port, EXCLUSIVE_PORT, resolve);
  });
  if (listener === false) {
    throw (
      (await listenProbe(options.bind, options.port)) ?? new Error(`cannot listen on ${options.bind}:${options.port}`)
    );
  }
  const port = uws.us_socket_local_port(listener);
  if (endpoints.size > 0) await quiet.start(`http://${authority(reachable(options.bind), port)}`);
  return {
    address: authority(options.bind, port),
    stop(graceMs) {
      stopping ??= shutDown(listener, graceMs);
      return stopping;
    },
  };
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which its types have elsewhere than it is. */
const EXCLUSIVE_PORT = 1;

/** Its types leave the form with a host and options out. */
interface ListeningApp {
  listen(host: string, port: number, options: number, done: (listener: uws.us_listen_socket | false) => void): unknown;
}

function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** An address of this machine that `bind` takes connections to. */
function reachable(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1';
  return bind === '::' ? '::1' : bind;
}

function socketOnly(method: string): Problem {
  if (method !== 'GET') return new Problem(405, { headers: [['Allow', 'GET']] });
  return new Problem(426, { headers: [['Upgrade', 'websocket']] });
}

function remoteAddress(response: HttpResponse): string {
  const octets = new Uint8Array(response.getRemoteAddress());
  const mapped = octets.length === 16 && octets.every((octet, i) => i >= 12 || octet === (i < 10 ? 0 : 0xff));
  if (octets.length === 4 || mapped) return octets.subarray(-4).join('.');
  return Buffer.from(response.getRemoteAddressAsText()).toString();
}
