// The steps of every request, in this order: page, route (404, 405), credential (401), rate (429), scope (403), parameters, query and body (404,
// 400, 413, 415), handler, encoding, log line. No other file authenticates, authorizes, limits, validates or encodes. Refusals of the first
// two steps also count for the rate.

import type { Directory, Principal } from '../../../actors/directory/protocol.js';
import { ActorFault } from '../../../actors/runtime/errors.js';
import type { AnyStruct } from '../../../actors/runtime/protocol.js';
import { NO_TRACER, type Span, type Tracer } from '../../../actors/runtime/tracing.js';
import type { Credentials } from '../../../auth/credentials.js';
import type { AnonymousGuard } from '../../../auth/origin.js';
import { Rates, type Tally } from '../../../auth/rates.js';
import type { KeyedLimiter } from '../../../concurrency/keyed-limiter.js';
import { inTime } from '../../../concurrency/time-bounds.js';
import { DecoderBusy, DecodingAbandoned } from '../../../message-content/decode/decoder.js';
import { primed } from '../../../net/tcp/primed-stream.js';
import { newId } from '../../../store/ids/new-id.js';
import { EncodedJson } from '../encoded-json.js';
import type { HeaderField, HttpHandler, HttpReply, HttpRequest, Log, ReplyStream, SendingResult } from '../exchange.js';
import type { Page } from '../page/page.js';
import { notFound, Problem, problemOf, problemReply, tooMany } from '../problem.js';
import { type AnyReply, OWNER, type Route, type TextBody } from '../route.js';
import { authenticate, authorize, signedInBy } from './auth.js';
import { bodyLimiter } from './body-memory.js';
import { Handling } from './handling.js';
import { type HttpMeter, NO_METER } from './meter.js';
import { revalidated } from './revalidation.js';
import { createRouter, type Match } from './router.js';
import { API_POLICY, SECURITY_HEADERS } from './security-headers.js';
import { readBody, readParams, readQuery, readText } from './validation.js';

export interface PipelineOptions {
  readonly routes: readonly Route[];
  readonly directory: Pick<Directory, 'anonymous'>;
  readonly credentials: Credentials;
  /** Decides for which requests the anonymous account acts. */
  readonly guard: AnonymousGuard;
  /** Absent: there are no limits. */
  readonly rates?: Rates;
  /** Absent: the node has no page, and its paths are 404. */
  readonly page?: Page | undefined;
  readonly log: Log;
  readonly meter?: HttpMeter;
  readonly tracer?: Tracer;
  /** The time limit of the credential and of the handler, each, in ms; 12,000 when absent. */
  readonly deadlineMs?: number;
}

/** What is known about a request when its log line is written. */
interface Trace {
  readonly id: string;
  readonly span: Span;
  readonly tally: Tally;
  route: Route | undefined;
  /** What stands for the path in logs, metrics and traces: that of the route, without values. */
  path: string | null;
  principal: Principal | undefined;
  /** The callback of the handler's reply. */
  finished: AnyReply['finished'];
}

const NOTHING = new Uint8Array(0);
const NOT_FOUND: Match = { kind: 'none' };
/** The path of everything that the page serves. */
const PAGE = '/*';
/** Longer than the longest ask of a mailbox. */
const DEADLINE_MS = 12_000;

/** The memory has room for this many bodies of the largest size that any route accepts. */
const BODIES = 4;

/** A store that hangs must not make all callers hang: they get 503, though the requested change may still happen. */
function noAnswer(): ActorFault {
  return new ActorFault('unreachable', 'no answer in time');
}

/** How a reply was sent: times in ms of `performance.now()`. */
interface Sending {
  readonly started: number;
  readonly answeredMs: number;
  readonly outcome: SendingResult;
  readonly error: unknown;
}

export function createPipeline(options: PipelineOptions): HttpHandler {
  const pipeline = new Pipeline(options);
  return (request) => pipeline.handle(request);
}

class Pipeline {
  readonly #directory: Pick<Directory, 'anonymous'>;
  readonly #credentials: Credentials;
  readonly #guard: AnonymousGuard;
  readonly #rates: Rates;
  readonly #page: Page | undefined;
  readonly #log: Log;
  readonly #meter: HttpMeter;
  readonly #tracer: Tracer;
  readonly #deadlineMs: number;
  readonly #match: ReturnType<typeof createRouter>;
  readonly #bodies: KeyedLimiter;

  constructor(options: PipelineOptions) {
    const { directory, credentials, guard, rates = new Rates(), log } = options;
    this.#directory = directory;
    this.#credentials = credentials;
    this.#guard = guard;
    this.#rates = rates;
    this.#page = options.page;
    this.#log = log;
    const { meter = NO_METER, tracer = NO_TRACER, deadlineMs = DEADLINE_MS } = options;
    this.#meter = meter;
    this.#tracer = tracer;
    this.#deadlineMs = deadlineMs;
    this.#match = createRouter(options.routes);
    const largest = Math.max(0, ...options.routes.map(({ bodyLimit }) => bodyLimit));
    this.#bodies = bodyLimiter(BODIES * largest);
  }

  async handle(request: HttpRequest): Promise<HttpReply> {
    const started = performance.now();
    const span = this.#tracer.start('HTTP request', { kind: 'server', parent: request.headers.get('traceparent') });
    const tally = this.#rates.tally(request.remoteAddress);
    const trace: Trace = {
      id: newId(),
      span,
      tally,
      route: undefined,
      path: null,
      principal: undefined,
      finished: undefined,
    };
    let reply: HttpReply;
    try {
      reply = await span.within(() => this.#answer(request, trace));
    } catch (error) {
      reply = this.#refuse(error, trace);
    }
    // An event stream counts as answered with its head; the client decides how long it lasts.
    const answeredMs = performance.now() - started;
    const finished = (outcome: SendingResult, error?: unknown) =>
      this.#finished(request, trace, reply.status, { started, answeredMs, outcome, error });
    const { status, body } = reply;
    return { status, headers: [...reply.headers, ...tally.fields, ['X-Request-Id', trace.id]], body, finished };
  }

  #finished(request: HttpRequest, trace: Trace, status: number, sending: Sending): void {
    const { started, answeredMs, outcome, error } = sending;
    const { id, span, principal } = trace;
    trace.finished?.(outcome === 'sent' && status < 300);
    if (error !== undefined) this.#log.error({ err: error, requestId: id }, 'reply broken off');
    const { method } = request;
    const route = trace.path;
    const ms = performance.now() - started;
    this.#meter.answered(method, route, status, trace.route?.isEventStream ? answeredMs : ms);
    span.set({ 'http.request.method': method, 'http.response.status_code': status, 'mansio.request': id });
    if (route !== null) span.set({ 'http.route': route });
    span.end(status >= 500 ? { code: String(status) } : error);
    const accountId = principal?.accountId ?? null;
    const line = { requestId: id, method, route, status, outcome, ms: Math.round(ms * 10) / 10, accountId };
    if (status >= 500 || outcome === 'broken') this.#log.info(line, 'request');
    else this.#log.debug(line, 'request');
  }

  async #answer(request: HttpRequest, trace: Trace): Promise<HttpReply> {
    const page = this.#page?.owns(request.path) ? this.#page : undefined;
    const fromPage = page?.answer(request);
    if (fromPage !== undefined) {
      trace.path = PAGE;
      return fromPage;
    }
    const found = page === undefined ? this.#match(request.method, request.path) : NOT_FOUND;
    if (found.kind === 'method' && request.method === 'OPTIONS') return allowed(found.allow);
    const { tally } = trace;
    if (found.kind !== 'route') {
      inRate(tally.countAnonymous('plain'));
      throw found.kind === 'none' ? notFound() : new Problem(405, { headers: [['Allow', found.allow]] });
    }
    const { route } = found;
    trace.route = route;
    trace.path = route.path;
    trace.span.rename(`${route.method} ${route.path}`);
    const { access } = route;
    if (access === 'public') await this.#countPublic(route, request, tally);
    if (access === 'signIn' && !request.headers.has('authorization'))
      return this.#offer(route, tally, () => this.#carryOut(route, found.params, request, trace));
    if (access === 'public') return this.#carryOut(route, found.params, request, trace);
    const identity = authenticate(this.#directory, this.#credentials, this.#guard, request, tally, route);
    // A cached credential answers without a wait.
    const known = identity instanceof Promise ? await inTime(identity, this.#deadlineMs, noAnswer) : identity;
    trace.principal = known.principal;
    // A service-wide key belongs to the operator's own programs, which act for all accounts.
    if (!trace.principal.serviceWide) inRate(tally.principal(trace.principal, route.rate));
    authorize(trace.principal, access === 'signIn' ? OWNER : access);
    return this.#carryOut(route, found.params, request, trace, known.expiresAt);
  }

  /** Above the rate of its address, a request of a session counts for the session: neighbours cannot keep the page from its settings. */
  async #countPublic(route: Route, request: HttpRequest, tally: Tally): Promise<void> {
    const wait = tally.countAnonymous(route.rate);
    if (wait === 0) return;
    const signedIn = await this.#signedIn(request);
    inRate(signedIn === undefined ? wait : tally.principal(signedIn, route.rate));
  }

  #signedIn(request: HttpRequest): Principal | undefined | Promise<Principal | undefined> {
    const session = signedInBy(this.#credentials, request);
    return session instanceof Promise ? inTime(session, this.#deadlineMs, noAnswer) : session;
  }

  /**
   * Counts a request that offers another proof than an Authorization once its reply is known: a right link is not refused because of wrong
   * ones from the same address.
   */
  async #offer(route: Route, tally: Tally, carryOut: () => Promise<HttpReply>): Promise<HttpReply> {
    const count = (status: number): number => {
      if (status < 400 || status >= 500) return 0;
      return status === 401 || status === 410 ? tally.recordFailure() : tally.countAnonymous(route.rate);
    };
    const reply = await carryOut().catch((error: unknown) => {
      inRate(count(problemOf(error).problem.status));
      throw error;
    });
    inRate(count(reply.status));
    return reply;
  }

  async #carryOut(
    route: Route,
    parameters: Readonly<Record<string, string>>,
    request: HttpRequest,
    trace: Trace,
    expiresAt?: number,
  ): Promise<HttpReply> {
    const params = readParams(route, parameters);
    const query = readQuery(route, request.query);
    const signedIn = route.access === 'signIn' ? await this.#signedIn(request) : undefined;
    const { body, text, release } = await this.#bodyOf(route, request, trace);
    const { principal } = trace;
    const handling = new Handling(request, { principal, expiresAt, params, query, body, text, signedIn });
    const handled = route.handler(handling);
    // A handler that takes too long continues to use the body, which is therefore released when it ends.
    handled.then(release, release);
    const reply: AnyReply | Problem = await inTime(handled, this.#deadlineMs, () => {
      handling.giveUp(handled);
      return noAnswer();
    });
    if (reply instanceof Problem) throw reply;
    trace.finished = reply.finished;
    // RFC 9110 §13.1.2: If-None-Match of GET and HEAD, for replies that have a tag.
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const current = isRead ? revalidated(reply, request.headers.get('if-none-match')) : reply;
    return encode(current, request.method === 'HEAD', route.access !== 'public');
  }

  async #bodyOf(
    route: Route,
    request: HttpRequest,
    { principal }: Trace,
  ): Promise<{ readonly body: unknown; readonly text: string; release(): void }> {
    if (!hasBody(route) && !hasText(route)) return { body: undefined, text: '', release: () => {} };
    const memory = this.#bodies.charge(principal?.accountId ?? request.remoteAddress, 0);
    try {
      if (hasText(route)) {
        const text = await readText(route, request, memory);
        return { body: undefined, text, release: () => memory.release() };
      }
      const { value, release } = await readBody(route, request, memory);
      return {
        body: value,
        text: '',
        release: () => {
          release();
          memory.release();
        },
      };
    } catch (error) {
      memory.release();
      throw error;
    }
  }

  #refuse(error: unknown, trace: Trace): HttpReply {
    const { problem, bug } = problemOf(error);
    if (bug) this.#log.error({ err: error, requestId: trace.id }, 'request failed');
    // These are not logged: one account that asks for too many views would fill the log.
    else if (problem.status === 503 && !(error instanceof DecodingAbandoned || error instanceof DecoderBusy))
      this.#log.warn({ err: error, requestId: trace.id }, 'request could not be served');
    return problemReply(problem);
  }
}

const hasBody = (route: Route): route is Route & { readonly body: AnyStruct } => route.body !== undefined;
const hasText = (route: Route): route is Route & { readonly textBody: TextBody } => route.textBody !== undefined;

/** @throws Problem 429 */
function inRate(waitSeconds: number): void {
  if (waitSeconds > 0) throw tooMany(waitSeconds);
}

/** Browsers send OPTIONS before their requests; it costs almost nothing and is not counted. */
function allowed(allow: string): HttpReply {
  return { status: 204, headers: [...SECURITY_HEADERS, ['Allow', allow]], body: null };
}

async function encode(reply: AnyReply, head: boolean, personal: boolean): Promise<HttpReply> {
  // RFC 9110 §8.6: 204 and 304 have no length. Any other reply without a length would end with the connection.
  let body: HttpReply['body'] = reply.status === 204 || reply.status === 304 ? null : NOTHING;
  if (reply.json !== undefined) body = Buffer.from(jsonText(reply.json));
  else if (reply.stream !== undefined) body = head ? reply.stream : await begunReply(reply.stream);
  return { status: reply.status, headers: fieldsOf(reply, personal), body };
}

const PUBLIC: readonly HeaderField[] = [...SECURITY_HEADERS, API_POLICY];
const PERSONAL: readonly HeaderField[] = [...PUBLIC, ['Cache-Control', 'no-store']];
const JSON_TYPE: HeaderField = ['Content-Type', 'application/json; charset=utf-8'];
const PUBLIC_JSON: readonly HeaderField[] = [...PUBLIC, JSON_TYPE];
const PERSONAL_JSON: readonly HeaderField[] = [...PERSONAL, JSON_TYPE];

/** The reply's own fields, which may be several of a name, replace those that every reply of its kind has. */
function fieldsOf({ json, headers: own = [] }: AnyReply, personal: boolean): readonly HeaderField[] {
  const common = json === undefined ? (personal ? PERSONAL : PUBLIC) : personal ? PERSONAL_JSON : PUBLIC_JSON;
  if (own.length === 0) return common;
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  return [...common.filter(([name]) => !names.has(name.toLowerCase())), ...own];
}

const jsonText = (json: unknown): string => (json instanceof EncodedJson ? json.text : JSON.stringify(json));

/** A stream that fails at its first piece still gets an error reply instead of a broken one. */
async function begunReply({ length, chunks }: ReplyStream): Promise<ReplyStream> {
  return { length, chunks: await primed(chunks) };
}
