// Authenticates and authorizes a request: API keys and tokens in both header forms (RFC 6750 §2.1 and `ApiKey`), the session of a cookie, the
// anonymous account, scopes.

import type { Directory, Principal } from '../../../actors/directory/protocol.js';
import type { Credentials } from '../../../auth/credentials.js';
import type { AnonymousGuard, AnonymousRequest } from '../../../auth/origin.js';
import type { RateClass, Tally } from '../../../auth/rates.js';
import { type BrowserRequest, cookieCredential, isOwnSignIn, sessionToken } from '../../../auth/session-cookie.js';
import type { HttpRequest } from '../exchange.js';
import { insufficientScope, notForAnonymous, Problem, tooMany, unauthenticated } from '../problem.js';
import type { Access } from '../route.js';

/** A longer credential is refused unchecked. */
const LONGEST_CREDENTIAL = 8192;
const CREDENTIAL = /^(bearer|apikey) +([!-~]+) *$/i;
/** The id of the account that the page shows. */
const ACCOUNT_FIELD = 'mansio-account';

/** Who makes a request, and when the credential ends. */
export interface RequestIdentity {
  readonly principal: Principal;
  /** ms since the epoch; undefined when the credential does not end by itself. */
  readonly expiresAt: number | undefined;
}

/** The fields of a route that decide how its requests are authenticated. */
interface Admitting {
  readonly rate: RateClass;
  readonly isEventStream: boolean;
}

/**
 * Refused requests are counted by address: as requests of class `rate` or, when the credential is wrong, as guesses. Returns a promise when
 * the credential is not cached. @throws Problem 401, 403, 429; ProviderUnavailable, StoreFault
 */
export function authenticate(
  directory: Pick<Directory, 'anonymous'>,
  credentials: Credentials,
  guard: AnonymousGuard,
  request: HttpRequest,
  tally: Tally,
  { rate, isEventStream }: Admitting,
): RequestIdentity | Promise<RequestIdentity> {
  const refused = (problem: Problem): Problem => {
    const waitSeconds = tally.countAnonymous(rate);
    return waitSeconds > 0 ? tooMany(waitSeconds) : problem;
  };
  const header = request.headers.get('authorization') ?? (isEventStream ? queryField(request) : undefined);
  if (header === undefined) {
    const session = sessionOf(credentials, request, refused);
    const anonymous = () => anonymousIdentity(directory, guard, request, refused);
    return session instanceof Promise ? session.then((found) => found ?? anonymous()) : (session ?? anonymous());
  }
  const credential = header.length <= LONGEST_CREDENTIAL ? CREDENTIAL.exec(header)?.[2] : undefined;
  if (credential === undefined) throw refused(unauthenticated('invalid_token'));
  return credentials.known(credential) ?? identified(credentials, credential, tally);
}

/**
 * The session of the cookie; undefined without one. @throws Problem 401 when it is of another account than the one that the page shows: the
 * browser has signed in to that account in another window; 403 when the cookie does not count for the request; StoreFault
 */
function sessionOf(
  credentials: Credentials,
  request: HttpRequest,
  refused: (problem: Problem) => Problem,
): RequestIdentity | undefined | Promise<RequestIdentity | undefined> {
  const cookie = cookieCredential(browserOf(request), !isRead(request));
  if (cookie.kind === 'refused') throw refused(new Problem(403, { detail: cookie.detail }));
  if (cookie.kind === 'none') return undefined;
  const shown = request.headers.get(ACCOUNT_FIELD);
  const checked = (session: RequestIdentity | undefined) => {
    if (shown !== undefined && session !== undefined && session.principal.accountId !== shown)
      throw refused(unauthenticated());
    return session;
  };
  const session = credentials.session(cookie.token);
  return session instanceof Promise ? session.then(checked) : checked(session);
}

/**
 * Whoever is signed in in the browser of a request without a credential; undefined when nobody is, or when another page made the request.
 * @throws StoreFault
 */
export function signedInBy(
  credentials: Credentials,
  request: HttpRequest,
): Principal | undefined | Promise<Principal | undefined> {
  const browser = browserOf(request);
  const token = isOwnSignIn(browser) ? sessionToken(browser) : undefined;
  const session = token === undefined ? undefined : credentials.session(token);
  return session instanceof Promise ? session.then((found) => found?.principal) : session?.principal;
}

export function browserOf({ isSecure, headers }: HttpRequest): BrowserRequest {
  return { isSecure, header: (name) => headers.get(name) ?? '' };
}

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD';

async function anonymousIdentity(
  directory: Pick<Directory, 'anonymous'>,
  guard: AnonymousGuard,
  request: HttpRequest,
  refused: (problem: Problem) => Problem,
): Promise<RequestIdentity> {
  const anonymous = await directory.anonymous();
  if (anonymous === undefined) throw refused(unauthenticated());
  const refusal = guard(anonymousRequest(request));
  if (refusal !== undefined) throw refused(notForAnonymous(refusal));
  return { principal: anonymous, expiresAt: undefined };
}

async function identified(credentials: Credentials, credential: string, tally: Tally): Promise<RequestIdentity> {
  const identity = await credentials.identify(credential, tally);
  switch (identity.kind) {
    case 'known':
      return identity;
    case 'refused':
      throw new Problem(403, { detail: identity.detail });
    case 'limited':
      throw tooMany(identity.waitSeconds);
    case 'nameless':
    case 'invalid':
      throw unauthenticated('invalid_token');
  }
}

/** The token of the query in the form of the header field, which browsers cannot send (RFC 6750 §2.3). */
function queryField({ query }: HttpRequest): string | undefined {
  const token = new URLSearchParams(query).get('access_token');
  return token ? `Bearer ${token}` : undefined;
}

function anonymousRequest(request: HttpRequest): AnonymousRequest {
  const { headers } = request;
  return { host: headers.get('host') ?? '', origin: headers.get('origin') ?? '', takesEffect: !isRead(request) };
}

/** @throws Problem 403 */
export function authorize(principal: Principal, access: Access & object): void {
  if (!access.scopes.some((scope) => principal.scopes.includes(scope))) throw insufficientScope(access.scopes);
}
