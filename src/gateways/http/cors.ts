// Pages of other origins (Fetch, "HTTP extensions"): what a reply says so that a browser hands it to a page of a listed
// origin, and what it is told before it sends such a page's request. A page of no listed origin is told nothing: its
// simple requests are still answered, and the browser keeps the answer from it.
import type { HeaderField, HttpReply } from './exchange.js';

/** Makes the reply to a request one that browsers take, or keep from a page. */
export type Cors = (request: CrossOriginRequest, reply: HttpReply) => HttpReply;

interface CrossOriginRequest {
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
}

const REQUEST_FIELDS =
  'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Traceparent, X-Requested-With, X-SignalR-User-Agent';
const REPLY_FIELDS =
  'Allow, Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Export-Truncated, X-Request-Id, X-Total-Count, X-Truncated';
/** Browsers keep an answer for two hours at most. */
const KEPT_SECONDS = 7200;

/** Undefined when no origin is listed. `origins`: as browsers send them. */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const listed = new Set(origins);
  return ({ method, headers }, reply) => {
    // Caches must not give one origin's reply to another, nor one without the fields to any.
    const fields: HeaderField[] = [['Vary', 'Origin']];
    const origin = headers.get('origin');
    if (origin !== undefined && listed.has(origin)) {
      fields.push(['Access-Control-Allow-Origin', origin], ['Access-Control-Allow-Credentials', 'true']);
      const isPreflight = method === 'OPTIONS' && headers.has('access-control-request-method');
      if (isPreflight) fields.push(...preflight(reply));
      else fields.push(['Access-Control-Expose-Headers', REPLY_FIELDS]);
    }
    return { ...reply, headers: [...reply.headers, ...fields] };
  };
}

/** OPTIONS is answered with the methods of a path already. */
function preflight(reply: HttpReply): readonly HeaderField[] {
  const allow = reply.headers.find(([name]) => name === 'Allow')?.[1];
  if (reply.status !== 204 || allow === undefined) return [];
  return [
    ['Access-Control-Allow-Methods', allow],
    ['Access-Control-Allow-Headers', REQUEST_FIELDS],
    ['Access-Control-Max-Age', String(KEPT_SECONDS)],
  ];
}
