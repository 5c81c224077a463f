// The cookie of a session, and the requests for which it counts (docs/interface/sessions.md). Browsers add cookies by themselves, also to
// requests of other pages of the same site. So a cookie counts only for requests that our own page makes: those that change something, and
// those that open a WebSocket, which no CORS protects, must prove it by their Origin (decision 0087).
import { authority, isLoopbackName } from './origin.js';

/** What a request says about the browser that made it. */
export interface BrowserRequest {
  /** The client came over https, by the proxy's word or by the socket. */
  readonly isSecure: boolean;
  /** The value of a header, or an empty string. */
  header(lowerCaseName: string): string;
}

/** The form of the cookie for one scheme. Only https keeps a name with the prefix: no other host or scheme can set it. */
export interface SessionCookie {
  readonly name: '__Host-mansio' | 'mansio';
  readonly isSecure: boolean;
}

export type CookieCredential =
  | { readonly kind: 'none' }
  | { readonly kind: 'session'; readonly token: string }
  /** There is a cookie, and it does not count for this request: 403. */
  | { readonly kind: 'refused'; readonly detail: string };

export const INSECURE =
  'Sessions need https; over http they work under localhost only. A proxy in front with https must be one of MANSIO_PROXY_NETWORKS.';
export const FOREIGN = 'A session counts only for requests of its own page; other pages need a token.';

const NONE: CookieCredential = { kind: 'none' };
/** Longer than a session may last: the node decides when it ends. */
const MAX_AGE_SECONDS = 180 * 24 * 3600;
const SIGN_IN_SUFFIX = '-oidc';
const SIGN_IN_SECONDS = 600;

/** Undefined when the scheme and the host may have no session. */
export function sessionCookieOf(request: BrowserRequest): SessionCookie | undefined {
  const own = ownUrl(request);
  if (own === undefined) return undefined;
  if (request.isSecure) return { name: '__Host-mansio', isSecure: true };
  return isLoopbackName(own.hostname) ? { name: 'mansio', isSecure: false } : undefined;
}

/** The value of the cookie, whoever made the request. */
export function sessionToken(request: BrowserRequest): string | undefined {
  const cookie = sessionCookieOf(request);
  return cookie && cookieValue(request.header('cookie'), cookie.name);
}

/** `takesEffect`: another page could do harm with the request without reading the reply. */
export function cookieCredential(request: BrowserRequest, takesEffect: boolean): CookieCredential {
  const cookies = request.header('cookie');
  if (cookies === '') return NONE;
  const cookie = sessionCookieOf(request);
  if (cookie === undefined) {
    const isThere = cookieValue(cookies, '__Host-mansio') ?? cookieValue(cookies, 'mansio');
    return isThere === undefined ? NONE : { kind: 'refused', detail: INSECURE };
  }
  const token = sessionToken(request);
  if (token === undefined) return NONE;
  return isOwnRequest(request, takesEffect) ? { kind: 'session', token } : { kind: 'refused', detail: FOREIGN };
}

/**
 * Whether a form or script of our own page, or a program, has sent a request that signs in. Browsers send `Origin: null` with a form of a
 * page whose policy is `no-referrer`; then Sec-Fetch-Site tells where it comes from. Programs send neither.
 */
export function isOwnSignIn(request: BrowserRequest): boolean {
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  if (origin !== '' && origin !== 'null') return origin === ownUrl(request)?.origin;
  return site === 'same-origin' || (site === '' && origin === '');
}

/** The value of Set-Cookie that keeps the session. */
export function setCookie(cookie: SessionCookie, token: string): string {
  return `${cookie.name}=${token}; Max-Age=${MAX_AGE_SECONDS}; ${attributes(cookie)}`;
}

/** The value of Set-Cookie that keeps the secret of a sign-in at an identity provider until the browser is back. */
export function setSignInCookie(cookie: SessionCookie, secret: string): string {
  return `${cookie.name}${SIGN_IN_SUFFIX}=${secret}; Max-Age=${SIGN_IN_SECONDS}; ${attributes(cookie)}`;
}

export function removedSignInCookie(cookie: SessionCookie): string {
  return `${cookie.name}${SIGN_IN_SUFFIX}=; Max-Age=0; ${attributes(cookie)}`;
}

/** The secret of the sign-in that the browser has begun; undefined without one. */
export function signInSecret(request: BrowserRequest): string | undefined {
  const cookie = sessionCookieOf(request);
  return cookie && cookieValue(request.header('cookie'), `${cookie.name}${SIGN_IN_SUFFIX}`);
}

/** The value of Set-Cookie that removes the session. */
export function removedCookie(cookie: SessionCookie): string {
  return `${cookie.name}=; Max-Age=0; ${attributes(cookie)}`;
}

function attributes({ isSecure }: SessionCookie): string {
  return `Path=/; ${isSecure ? 'Secure; ' : ''}HttpOnly; SameSite=Strict`;
}

function isOwnRequest(request: BrowserRequest, takesEffect: boolean): boolean {
  const origin = request.header('origin');
  if (origin !== '' || takesEffect) return origin === ownUrl(request)?.origin;
  // Reads of the own page have no Origin; those of another page of the same site may have none either.
  return !/^(?:same-site|cross-site)$/.test(request.header('sec-fetch-site'));
}

/** The own URL of a request: its scheme and its Host. Undefined when the host is none. */
export function ownUrl({ isSecure, header }: BrowserRequest): URL | undefined {
  return authority(header('host'), isSecure ? 'https' : 'http');
}

/**
 * The cookie of the name; undefined when there are two. Only what browsers take for the end of a cookie or for white space counts as such
 * (RFC 6265 §5.2): a page of another host of the domain may set any other text, such as `a=b,__Host-mansio=c`.
 */
function cookieValue(cookies: string, name: string): string | undefined {
  const values = cookies.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return trimmed(pair.slice(0, Math.max(at, 0))) === name ? [trimmed(pair.slice(at + 1))] : [];
  });
  return values.length === 1 ? values[0] || undefined : undefined;
}

function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}
