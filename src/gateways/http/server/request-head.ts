// The head of a request, copied out of the server's short-lived object and checked. uWebSockets.js takes the first of two Content-Lengths
// and accepts lists in Transfer-Encoding; a proxy in front may read them otherwise, and then one sees two requests where the other sees one
// (RFC 9112 §11.2). Such heads are refused.
import { Problem } from '../problem.js';

export interface HeadLimits {
  /** Octets of all header names and values together. */
  readonly headerBytes: number;
  /** Octets of path and query. */
  readonly targetBytes: number;
}

/** The methods of the server's request that are called; the request is invalid after the callback. */
export interface RawRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(each: (name: string, value: string) => void): void;
}

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Octets of the body; null when it is chunked. */
  readonly contentLength: number | null;
  /** The reason for which the request is refused, if it is. */
  readonly problem: Problem | undefined;
}

/** Fields that may occur only once, because a second one changes the meaning of the request. */
const ONCE = new Set(['authorization', 'content-length', 'content-type', 'host', 'transfer-encoding']);

export function readHead(raw: RawRequest, limits: HeadLimits): RequestHead {
  const headers = new Map<string, string>();
  let bytes = 0;
  let detail: string | undefined;
  raw.forEach((name, value) => {
    bytes += name.length + value.length;
    const before = headers.get(name);
    if (before !== undefined && ONCE.has(name)) detail = `The field ${name} stands twice.`;
    headers.set(name, before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`);
  });
  const path = raw.getUrl();
  const query = raw.getQuery() ?? '';
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') detail = 'The only transfer coding taken is chunked.';
  if (length !== undefined && !/^\d{1,15}$/.test(length)) detail = 'Content-Length must be a number.';
  if (length !== undefined && coding !== undefined) detail = 'Content-Length and Transfer-Encoding exclude each other.';
  let problem = detail === undefined ? undefined : new Problem(400, { detail });
  if (path.length + query.length > limits.targetBytes) problem = new Problem(414);
  if (bytes > limits.headerBytes) problem = new Problem(431);
  return {
    method: raw.getCaseSensitiveMethod(),
    path,
    query,
    headers,
    contentLength: coding === undefined ? Number(length ?? 0) : null,
    problem,
  };
}
