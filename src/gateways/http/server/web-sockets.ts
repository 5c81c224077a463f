// The server's WebSockets behind the interface of gateways/web-socket (RFC 6455): upgrades are decided at once or later, frames of one tick
// are written together, and buffers are limited. The endpoint sends pings and handles the protocol above.
import { FairYield } from '../../../concurrency/fair-yield.js';
import type {
  HttpAnswer,
  Socket,
  SocketListener,
  UpgradeDecision,
  UpgradeRequest,
  WebSocketEndpoint,
} from '../../web-socket.js';
import type { HeaderField, HttpReply, HttpRequest, Log } from '../exchange.js';
import { API_POLICY, SECURITY_HEADERS } from '../pipeline/security-headers.js';
import { Problem, problemOf, problemReply } from '../problem.js';
import { type HeadLimits, type RawRequest, type RequestHead, readHead } from './request-head.js';

/** The part of the server's WebSocket object that is used. */
export interface RawSocket {
  /** Returns 0 when the message is buffered, SENT, or DROPPED when it exceeds the limit and the connection closes. */
  send(message: Uint8Array, isBinary: boolean, compress: boolean): number;
  getBufferedAmount(): number;
  end(code: number, reason: Uint8Array): void;
  close(): void;
  cork(write: () => void): unknown;
  getUserData(): SocketData;
}

export interface SocketData {
  readonly take: (socket: Socket) => SocketListener;
  session: Session | undefined;
}

/** The part of the server's response object that is used before it becomes a socket. */
export interface Upgradable {
  cork(write: () => void): unknown;
  onAborted(handler: () => void): unknown;
  upgrade(data: SocketData, key: string, protocol: string, extensions: string, context: unknown): void;
}

export interface UpgradeOptions<R extends Upgradable> {
  readonly limits: HeadLimits;
  readonly log: Log;
  /** Undefined: the request is refused. */
  readonly remoteAddress: (response: R, headers: ReadonlyMap<string, string>) => string | undefined;
  readonly isSecure: (response: R, headers: ReadonlyMap<string, string>) => boolean;
  readonly reply: (response: R, reply: HttpReply) => void;
  /** Refuses within the callback that brought the request: nothing that follows on the connection is read. */
  readonly refuse: (response: R, head: RequestHead, problem: Problem) => void;
  readonly stopping: () => boolean;
  /** Executes an upgrade that was decided late. */
  readonly late: (response: R, upgrade: () => void) => void;
}

const SENT = 1;
const DROPPED = 2;
const METHODS = ['GET', 'POST', 'DELETE'];

/**
 * Decides about an upgrade; everything needed is copied before the first await. The server writes an upgrade that is decided at once in one
 * piece, and a late one in about twenty.
 */
export function upgrade<R extends Upgradable>(
  endpoint: WebSocketEndpoint,
  response: R,
  raw: RawRequest,
  context: unknown,
  options: UpgradeOptions<R>,
): void {
  const head = readHead(raw, options.limits);
  let aborted = false;
  response.onAborted(() => {
    aborted = true;
  });
  const refuse = (reply: HttpReply): void => {
    if (!aborted) options.reply(response, reply);
  };
  const remoteAddress = options.remoteAddress(response, head.headers);
  const problem =
    head.problem ?? (options.stopping() ? new Problem(503, { headers: [['Retry-After', '1']] }) : undefined);
  if (problem !== undefined || remoteAddress === undefined) {
    options.refuse(response, head, problem ?? new Problem(400));
    return;
  }
  const field = (name: string) => head.headers.get(name) ?? '';
  const accept = (take: SocketData['take']): void => {
    const data: SocketData = { take, session: undefined };
    response.upgrade(data, field('sec-websocket-key'), field('sec-websocket-protocol'), '', context);
  };
  const isSecure = options.isSecure(response, head.headers);
  const decision = decisionOf(endpoint, upgradeRequest(head, { remoteAddress, isSecure }));
  if (typeof decision === 'function') {
    accept(decision);
    return;
  }
  Promise.resolve(decision).then(
    (late) => {
      if (typeof late !== 'function') refuse(answerReply(late));
      else if (!aborted) options.late(response, () => accept(late));
    },
    (error: unknown) => {
      options.log.error({ err: error }, 'upgrade failed');
      refuse(problemReply(new Problem(500)));
    },
  );
}

function decisionOf(endpoint: WebSocketEndpoint, request: UpgradeRequest): UpgradeDecision | Promise<UpgradeDecision> {
  try {
    return endpoint.upgrade(request);
  } catch (error) {
    return Promise.reject(error);
  }
}

export function upgradeRequest(
  { path, query, headers }: RequestHead,
  { remoteAddress, isSecure }: Pick<UpgradeRequest, 'remoteAddress' | 'isSecure'>,
): UpgradeRequest {
  return { path, query, remoteAddress, isSecure, header: (name) => headers.get(name) ?? '' };
}

/** Passes a request that is not an upgrade, but goes to the path of an endpoint, to the endpoint if the method exists. */
export async function exchange(
  endpoint: WebSocketEndpoint,
  head: RequestHead,
  request: HttpRequest,
): Promise<HttpReply> {
  const { method } = request;
  if (!METHODS.includes(method)) return otherMethod(method, METHODS);
  try {
    const answer = await endpoint.exchange({
      ...upgradeRequest(head, request),
      method,
      get aborted() {
        return request.aborted;
      },
      async body(maxOctets) {
        const pieces: Uint8Array[] = [];
        await request.body(maxOctets, (piece) => void pieces.push(piece));
        return Buffer.concat(pieces);
      },
    });
    return answerReply(answer);
  } catch (error) {
    const { problem, bug } = problemOf(error);
    if (bug) throw error;
    return problemReply(problem);
  }
}

/** The answer to a method that a path does not have; OPTIONS gets the methods that exist. */
export function otherMethod(method: string, methods: readonly string[]): HttpReply {
  const allow: HeaderField = ['Allow', [...methods, 'OPTIONS'].join(', ')];
  if (method !== 'OPTIONS') return problemReply(new Problem(405, { headers: [allow] }));
  return { status: 204, headers: [...SECURITY_HEADERS, allow], body: null };
}

export function answerReply({ status, headers = {}, body, finished }: HttpAnswer): HttpReply {
  return {
    status,
    headers: [...SECURITY_HEADERS, API_POLICY, ...Object.entries(headers)],
    body: bodyOf(body),
    ...(finished && { finished: (outcome) => finished(outcome === 'sent') }),
  };
}

function bodyOf(body: HttpAnswer['body']): HttpReply['body'] {
  if (body === undefined) return null;
  if (typeof body === 'string') return Buffer.from(body);
  return body instanceof Uint8Array ? body : { length: null, chunks: body };
}

/** The handlers of one endpoint's sockets, in the form that the server calls. */
export function socketHandlers(log: Log) {
  const endOfTick = new EndOfTick();
  return {
    open(raw: RawSocket): void {
      const session = new Session(raw, endOfTick, log);
      const data = raw.getUserData();
      data.session = session;
      session.start(data.take);
    },
    message(raw: RawSocket, message: ArrayBuffer, isBinary: boolean): void {
      // The server reuses the memory when this callback returns.
      raw.getUserData().session?.message(new Uint8Array(message.slice(0)), isBinary);
    },
    ping(raw: RawSocket): void {
      raw.getUserData().session?.pinged();
    },
    drain(raw: RawSocket): void {
      raw.getUserData().session?.drained();
    },
    close(raw: RawSocket, code: number): void {
      raw.getUserData().session?.closed(code);
    },
  };
}

/** One write costs as much as copying this many octets. */
const WRITE_OCTETS = 16 * 1024;
/** The most that is written in one stretch, in octets, with the cost of the writes: 128 small frames take a millisecond. */
const STRETCH_OCTETS = 2 * 1024 * 1024;
/** A session that has queued more than this writes without waiting. */
const PROMPT_OCTETS = 64 * 1024;

/**
 * Writes at the end of a tick what its sessions have queued. Ten thousand sessions may queue the same event: they are written in stretches,
 * between which the event loop serves others. Ticks take turns, so that few sessions do not wait for many.
 */
class EndOfTick {
  #sessions: Session[] = [];
  readonly #fairYield = new FairYield();
  #ticks = 0;

  /** Writes after all promises of this tick, because their frames belong to the same write. */
  flush(session: Session): void {
    if (this.#sessions.push(session) === 1) queueMicrotask(() => process.nextTick(() => void this.#flushAll()));
  }

  async #flushAll(): Promise<void> {
    const sessions = this.#sessions;
    this.#sessions = [];
    const tick = `${++this.#ticks}`;
    let left = STRETCH_OCTETS;
    let isLate = false;
    for (const session of sessions) {
      if (left <= 0) {
        await this.#fairYield.yield(tick);
        left = STRETCH_OCTETS;
        isLate = true;
      }
      left -= session.flush() + WRITE_OCTETS;
      // A listener that checked meanwhile may have mistaken the waiting frames for a backlog.
      if (isLate) session.drained();
    }
  }
}

class Session implements Socket {
  readonly #raw: RawSocket;
  readonly #endOfTick: EndOfTick;
  readonly #log: Log;
  #listener: SocketListener | undefined;
  #open = true;
  #isBinary = false;
  /** Frames that the end of the tick writes: mostly a single one. */
  #first: Uint8Array | undefined;
  #others: Uint8Array[] | undefined;
  #queued = 0;
  /** False when the kernel has accepted all that was written. */
  #mayBeBehind = false;
  #closing: { readonly code: number; readonly reason: string } | undefined;

  constructor(raw: RawSocket, endOfTick: EndOfTick, log: Log) {
    this.#raw = raw;
    this.#endOfTick = endOfTick;
    this.#log = log;
  }

  start(take: (socket: Socket) => SocketListener): void {
    this.#guarded(() => {
      const listener = take(this);
      if (this.#open) this.#listener = listener;
      else listener.closed(1006);
    });
  }

  useBinary(): boolean {
    this.#isBinary = true;
    return true;
  }

  send(octets: Uint8Array): boolean {
    if (!this.#open || this.#closing !== undefined) return false;
    this.#queued += octets.length;
    if (this.#first === undefined) {
      this.#first = octets;
      this.#endOfTick.flush(this);
      return true;
    }
    this.#others ??= [];
    this.#others.push(octets);
    if (this.#queued > PROMPT_OCTETS) this.flush();
    return this.#open;
  }

  bufferedBytes(): number {
    if (!this.#open) return 0;
    return this.#mayBeBehind ? this.#unwritten() + this.#queued : this.#queued;
  }

  close(code: number, reason: string): void {
    if (!this.#open || this.#closing !== undefined) return;
    this.#closing = { code, reason };
    if (this.#first === undefined) this.#endOfTick.flush(this);
  }

  terminate(): void {
    if (this.#open) this.#raw.close();
  }

  message(data: Uint8Array, isBinary: boolean): void {
    this.#guarded(() => this.#listener?.message(data, isBinary));
  }

  pinged(): void {
    this.#guarded(() => this.#listener?.pinged());
  }

  drained(): void {
    this.#guarded(() => this.#listener?.drained());
  }

  closed(code: number): void {
    this.#open = false;
    this.#empty();
    const listener = this.#listener;
    this.#listener = undefined;
    this.#guarded(() => listener?.closed(code));
  }

  /** Returns the octets that were queued. */
  flush(): number {
    const first = this.#first;
    const others = this.#others;
    const queued = this.#queued;
    this.#empty();
    // An exception would prevent the frames of other sessions.
    this.#guarded(() => {
      if (first !== undefined) this.#write(first, others);
      if (this.#closing !== undefined && this.#open)
        this.#raw.end(this.#closing.code, Buffer.from(this.#closing.reason));
    });
    return queued;
  }

  /** A single frame needs no cork. */
  #write(first: Uint8Array, others: readonly Uint8Array[] | undefined): void {
    if (!this.#open) return;
    if (others === undefined) {
      if (this.#raw.send(first, this.#isBinary, false) !== SENT) this.#mayBeBehind = true;
      return;
    }
    this.#mayBeBehind = true;
    this.#raw.cork(() => {
      for (const octets of [first, ...others]) {
        if (!this.#open || this.#raw.send(octets, this.#isBinary, false) === DROPPED) return;
      }
    });
  }

  #empty(): void {
    this.#first = undefined;
    this.#others = undefined;
    this.#queued = 0;
  }

  /** Octets that the server still buffers. */
  #unwritten(): number {
    const octets = this.#raw.getBufferedAmount();
    this.#mayBeBehind = octets > 0;
    return octets;
  }

  /** Catches exceptions: one that reached the server's callback would end the process. */
  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error({ err: error }, 'socket listener failed');
      this.terminate();
    }
  }
}
