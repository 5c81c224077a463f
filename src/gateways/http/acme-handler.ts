// Answers at the port of ACME: the authority gets the proof that it asked for (RFC 8555 §8.3), and everybody else is sent to HTTPS, if the name is
// ours. Other names are 421: a redirect for any Host would lend our address to links of strangers.
import type { HttpHandler, HttpReply, HttpRequest } from './exchange.js';
import { SECURITY_HEADERS } from './pipeline/security-headers.js';
import { notFound, Problem, problemReply, unavailable } from './problem.js';

export interface AcmeHandlerOptions {
  /** Returns what is expected for the token. */
  readonly authorizationOf: (token: string) => Promise<string | undefined>;
  /** Whether the host is served with TLS here. */
  readonly isKnown: (host: string) => Promise<boolean>;
  /** The port of HTTPS as clients reach it. */
  readonly httpsPort: number;
}

const CHALLENGE = '/.well-known/acme-challenge/';
const TOKEN = /^[\w-]{1,128}$/;
const HTTPS_PORT = 443;

export function acmeHandler({ authorizationOf, isKnown, httpsPort }: AcmeHandlerOptions): HttpHandler {
  async function answered(request: HttpRequest): Promise<HttpReply> {
    const { path, isRead } = { path: request.path, isRead: request.method === 'GET' || request.method === 'HEAD' };
    if (path.startsWith(CHALLENGE)) {
      const token = path.slice(CHALLENGE.length);
      const authorization = isRead && TOKEN.test(token) ? await authorizationOf(token) : undefined;
      return authorization === undefined ? problemReply(notFound()) : proof(authorization);
    }
    const host = request.headers.get('host')?.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
    if (host === undefined || !/^[a-z0-9.-]{1,253}$/.test(host) || !(await isKnown(host)))
      return problemReply(new Problem(421, { detail: 'This name is not served here.' }));
    // 308 keeps the method; old programs know 301 only.
    return redirect(isRead ? 301 : 308, locationOf(host, request, httpsPort));
  }

  return (request) => answered(request).catch(() => problemReply(unavailable()));
}

function proof(authorization: string): HttpReply {
  return {
    status: 200,
    headers: [...SECURITY_HEADERS, ['Content-Type', 'application/octet-stream'], ['Cache-Control', 'no-store']],
    body: Buffer.from(authorization),
  };
}

function redirect(status: number, location: string): HttpReply {
  return { status, headers: [...SECURITY_HEADERS, ['Location', location]], body: null };
}

function locationOf(host: string, { path, query }: HttpRequest, httpsPort: number): string {
  const base = `https://${host}${httpsPort === HTTPS_PORT ? '' : `:${httpsPort}`}`;
  const url = new URL(base);
  // The parser escapes what may not stand in a header field.
  url.pathname = path;
  url.search = query;
  return url.href;
}
