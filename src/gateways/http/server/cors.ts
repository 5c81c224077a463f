// Requests from pages of other origins (Fetch, "HTTP extensions"): adds the header fields by which a browser gives a reply to a page of a
// listed origin, and answers preflights. Requests from other origins get a reply without these fields, which the browser withholds from the
// page.
import type { HeaderField, HttpReply } from '../exchange.js';

/** Adds the fields that decide whether a browser gives the reply to the page. */
export type Cors = (request: CrossOriginRequest, reply: HttpReply) => HttpReply;

interface CrossOriginRequest {
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
}

const REQUEST_FIELDS =
  'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Traceparent, X-Requested-With, X-SignalR-User-Agent';
const REPLY_FIELDS =
  'Allow, Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Export-Truncated, X-Request-Id, X-Total-Count, X-Truncated';
/** Browsers cache an answer for two hours at most. */
const KEPT_SECONDS = 7200;

/** Undefined when no origin is listed. `origins`: in the form that browsers send. */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const listed = new Set(origins);
  return ({ method, headers }, reply) => {
    // Caches must not give one origin's reply to another origin, nor a reply without these fields to any.
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

/** Adds the preflight fields to a reply to OPTIONS, which already lists the methods of the path. */
function preflight(reply: HttpReply): readonly HeaderField[] {
  const allow = reply.headers.find(([name]) => name === 'Allow')?.[1];
  if (reply.status !== 204 || allow === undefined) return [];
  return [
    ['Access-Control-Allow-Methods', allow],
    ['Access-Control-Allow-Headers', REQUEST_FIELDS],
    ['Access-Control-Max-Age', String(KEPT_SECONDS)],
  ];
}
