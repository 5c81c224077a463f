// The steps of every request, in this order: route (404, 405), credential (401), rate (429), scope (403), parameters,
// query and body (404, 400, 413, 415), handler, encoding, log line. No other file authenticates, authorizes, limits,
// validates or encodes. Refusals of the first two steps count for the rate as well.

import { ActorFault } from '../../actors/runtime/errors.js';
import type { AnyStruct } from '../../actors/runtime/protocol.js';
import { NO_TRACER, type Span, type Tracer } from '../../actors/runtime/tracing.js';
import type { Credentials } from '../../auth/credentials.js';
import type { AnonymousGuard } from '../../auth/origin.js';
import { Rates, type Tally } from '../../auth/rates.js';
import { inTime } from '../../bounds/time-bounds.js';
import { DecoderBusy, DecodingAbandoned } from '../../decode/decoder.js';
import type { Directory, Principal } from '../../directory/protocol.js';
import { newId } from '../../ids/new-id.js';
import { primed } from '../tcp/primed-stream.js';
import { authenticate, authorize } from './auth.js';
import { BodyBudget } from './body-budget.js';
import { EncodedJson } from './encoded-json.js';
import type { HeaderField, HttpHandler, HttpReply, HttpRequest, Log, ReplyStream, SendingResult } from './exchange.js';
import { type HttpMeter, NO_METER } from './meter.js';
import { notFound, Problem, problemOf, problemReply, tooMany } from './problem.js';
import { revalidated } from './revalidation.js';
import type { AnyReply, Route, TextBody } from './route.js';
import { createRouter } from './router.js';
import { API_POLICY, SECURITY_HEADERS } from './security-headers.js';
import { readBody, readParams, readQuery, readText } from './validation.js';

export interface PipelineOptions {
  readonly routes: readonly Route[];
  readonly directory: Pick<Directory, 'anonymous'>;
  readonly credentials: Credentials;
  /** For whom the anonymous account acts. */
  readonly guard: AnonymousGuard;
  /** No limits when absent. */
  readonly rates?: Rates;
  readonly log: Log;
  readonly meter?: HttpMeter;
  readonly tracer?: Tracer;
  /** How long credential and handler may take, each, in ms; 12,000 when absent. */
  readonly deadlineMs?: number;
}

/** What is known of a request when its log line is written. */
interface Trace {
  readonly id: string;
  readonly span: Span;
  readonly tally: Tally;
  route: Route | undefined;
  principal: Principal | undefined;
  /** Of the handler's reply. */
  finished: AnyReply['finished'];
}

/** What the pipeline has read of a request for its handler. */
interface Validated {
  readonly principal: Principal | undefined;
  readonly expiresAt: number | undefined;
  readonly params: Call['params'];
  readonly query: Call['query'];
  readonly body: unknown;
  readonly text: string;
}

type Call = Parameters<Route['handler']>[0];

/** What a handler is called with. A class: an object with a getter of its own has a shape of its own, and is slow to read. */
class Handling implements Call {
  /** The handler's own type says which of the two its access makes it. */
  readonly principal: Call['principal'];
  readonly params: Call['params'];
  readonly query: Call['query'];
  readonly body: unknown;
  readonly text: string;
  readonly expiresAt: number | undefined;
  readonly #request: HttpRequest;
  #controller: AbortController | undefined;
  #isGivenUp = false;

  constructor(request: HttpRequest, { principal, params, query, body, text, expiresAt }: Validated) {
    this.#request = request;
    this.principal = principal as Call['principal'];
    this.params = params;
    this.query = query;
    this.body = body;
    this.text = text;
    this.expiresAt = expiresAt;
  }

  get remoteAddress(): string {
    return this.#request.remoteAddress;
  }

  get host(): string | undefined {
    return this.#request.headers.get('host');
  }

  get ifMatch(): string | undefined {
    return this.#request.headers.get('if-match');
  }

  get lastEventId(): string | undefined {
    return this.#request.headers.get('last-event-id');
  }

  get isHead(): boolean {
    return this.#request.method === 'HEAD';
  }

  /** Aborts with the request and when the handler has taken too long. Made for those who look at it: most handlers do not. */
  get aborted(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const { aborted } = this.#request;
      if (this.#isGivenUp || aborted.aborted) controller.abort();
      else aborted.addEventListener('abort', () => controller.abort(), { once: true });
    }
    return this.#controller.signal;
  }

  giveUp(handled: Promise<AnyReply | Problem>): void {
    this.#isGivenUp = true;
    this.#controller?.abort();
    handled.then(
      (reply) => {
        if (!(reply instanceof Problem)) reply.finished?.(false);
      },
      () => {},
    );
  }
}

const NOTHING = new Uint8Array(0);
/** Longer than an ask of a mailbox takes at most. */
const DEADLINE_MS = 12_000;

/** Of the largest body any route takes there is room for so many. */
const BODIES = 4;

/** A store that hangs must not hang everybody who asks: 503, though what was asked may still happen. */
function noAnswer(): ActorFault {
  return new ActorFault('unreachable', 'no answer in time');
}

export function createPipeline(options: PipelineOptions): HttpHandler {
  const { directory, credentials, guard, rates = new Rates(), log } = options;
  const { meter = NO_METER, tracer = NO_TRACER, deadlineMs = DEADLINE_MS } = options;
  const match = createRouter(options.routes);
  const largest = Math.max(0, ...options.routes.map(({ bodyLimit }) => bodyLimit));
  const room = new BodyBudget(BODIES * largest);

  async function answer(request: HttpRequest, trace: Trace): Promise<HttpReply> {
    const found = match(request.method, request.path);
    if (found.kind === 'method' && request.method === 'OPTIONS') return allowed(found.allow);
    const { tally } = trace;
    if (found.kind !== 'route') {
      inRate(tally.countAnonymous('plain'));
      throw found.kind === 'none' ? notFound() : new Problem(405, { headers: [['Allow', found.allow]] });
    }
    const { route } = found;
    trace.route = route;
    trace.span.rename(`${route.method} ${route.path}`);
    let expiresAt: number | undefined;
    if (route.access === 'public') inRate(tally.countAnonymous(route.rate));
    else {
      const identity = authenticate(directory, credentials, guard, request, tally, route);
      // A credential that is remembered is not waited for.
      const known = identity instanceof Promise ? await inTime(identity, deadlineMs, noAnswer) : identity;
      trace.principal = known.principal;
      expiresAt = known.expiresAt;
      // A service-wide key is the operator's own programs, which speak for all accounts.
      if (!trace.principal.serviceWide) inRate(tally.account(trace.principal.accountId, route.rate));
      authorize(trace.principal, route.access);
    }
    const params = readParams(route, found.params);
    const query = readQuery(route, request.query);
    const { body, text, release } = await bodyOf(route, request, trace);
    const { principal } = trace;
    const handling = new Handling(request, { principal, expiresAt, params, query, body, text });
    const handled = route.handler(handling);
    // A handler that takes too long goes on with what it has been given.
    handled.then(release, release);
    const reply: AnyReply | Problem = await inTime(handled, deadlineMs, () => {
      handling.giveUp(handled);
      return noAnswer();
    });
    if (reply instanceof Problem) throw reply;
    trace.finished = reply.finished;
    // RFC 9110 §13.1.2: a condition of GET and HEAD, for what has a tag.
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const current = isRead ? revalidated(reply, request.headers.get('if-none-match')) : reply;
    return encode(current, request.method === 'HEAD', route.access !== 'public');
  }

  async function bodyOf(
    route: Route,
    request: HttpRequest,
    { principal }: Trace,
  ): Promise<{ readonly body: unknown; readonly text: string; release(): void }> {
    if (!hasBody(route) && !hasText(route)) return { body: undefined, text: '', release: () => {} };
    const share = room.enter(principal?.accountId ?? request.remoteAddress);
    try {
      if (hasText(route)) {
        const text = await readText(route, request, share);
        return { body: undefined, text, release: () => share.leave() };
      }
      const { value, release } = await readBody(route, request, share);
      return {
        body: value,
        text: '',
        release() {
          release();
          share.leave();
        },
      };
    } catch (error) {
      share.leave();
      throw error;
    }
  }

  function refuse(error: unknown, trace: Trace): HttpReply {
    const { problem, bug } = problemOf(error);
    if (bug) log.error({ err: error, requestId: trace.id }, 'request failed');
    // One account that asks for too many views would fill the log.
    else if (problem.status === 503 && !(error instanceof DecodingAbandoned || error instanceof DecoderBusy))
      log.warn({ err: error, requestId: trace.id }, 'request could not be served');
    return problemReply(problem);
  }

  return async (request) => {
    const started = performance.now();
    const span = tracer.start('HTTP request', { kind: 'server', parent: request.headers.get('traceparent') });
    const tally = rates.tally(request.remoteAddress);
    const trace: Trace = {
      id: newId(),
      span,
      tally,
      route: undefined,
      principal: undefined,
      finished: undefined,
    };
    let reply: HttpReply;
    try {
      reply = await span.within(() => answer(request, trace));
    } catch (error) {
      reply = refuse(error, trace);
    }
    // An event stream is answered with its head; how long it lasts is up to the client.
    const answeredMs = performance.now() - started;
    const finished = (outcome: SendingResult, error?: unknown): void => {
      trace.finished?.(outcome === 'sent' && reply.status < 300);
      if (error !== undefined) log.error({ err: error, requestId: trace.id }, 'reply broken off');
      const { method } = request;
      const { status } = reply;
      const route = trace.route?.path ?? null;
      const ms = performance.now() - started;
      meter.answered(method, route, status, trace.route?.isEventStream ? answeredMs : ms);
      span.set({ 'http.request.method': method, 'http.response.status_code': status, 'mansio.request': trace.id });
      if (route !== null) span.set({ 'http.route': route });
      span.end(status >= 500 ? { code: String(status) } : error);
      const line = {
        requestId: trace.id,
        method,
        route,
        status,
        outcome,
        ms: Math.round(ms * 10) / 10,
        accountId: trace.principal?.accountId ?? null,
      };
      if (status >= 500 || outcome === 'broken') log.info(line, 'request');
      else log.debug(line, 'request');
    };
    const { status, body } = reply;
    return { status, headers: [...reply.headers, ...tally.fields, ['X-Request-Id', trace.id]], body, finished };
  };
}

const hasBody = (route: Route): route is Route & { readonly body: AnyStruct } => route.body !== undefined;
const hasText = (route: Route): route is Route & { readonly textBody: TextBody } => route.textBody !== undefined;

/** @throws Problem 429 */
function inRate(waitSeconds: number): void {
  if (waitSeconds > 0) throw tooMany(waitSeconds);
}

/** Browsers ask this before each kind of request of theirs; it costs next to nothing and is not counted. */
function allowed(allow: string): HttpReply {
  return { status: 204, headers: [...SECURITY_HEADERS, ['Allow', allow]], body: null };
}

async function encode(reply: AnyReply, head: boolean, personal: boolean): Promise<HttpReply> {
  // RFC 9110 §8.6: 204 and 304 have no length; without one any other reply would end with the connection.
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

/** Fields of the reply's own go before those that every reply of its kind has. */
function fieldsOf({ json, headers: own = [] }: AnyReply, personal: boolean): readonly HeaderField[] {
  const common = json === undefined ? (personal ? PERSONAL : PUBLIC) : personal ? PERSONAL_JSON : PUBLIC_JSON;
  if (own.length === 0) return common;
  const fields = new Map([...common, ...own].map((field) => [field[0].toLowerCase(), field]));
  return [...fields.values()];
}

const jsonText = (json: unknown): string => (json instanceof EncodedJson ? json.text : JSON.stringify(json));

/** What fails at once still gets an error reply, not a broken one. */
async function begunReply({ length, chunks }: ReplyStream): Promise<ReplyStream> {
  return { length, chunks: await primed(chunks) };
}
