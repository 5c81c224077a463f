// Admission to the hub: finds the credential of a request (Authorization header, `access_token` in the query, which browsers need, or the
// cookie of a session) and its principal, or the answer that refuses the request. A cached credential is admitted without a wait.
//
// Hub events are reads of the account. Keys with `api:read` or `app`, users with a JWT and the configured anonymous account may connect;
// other keys are refused with 403.
import type { Logger } from 'pino';
import type { Directory, Principal } from '../../actors/directory/protocol.js';
import type { Credentials, Identity, KnownIdentity } from '../../auth/credentials.js';
import type { AnonymousGuard, AnonymousRequest } from '../../auth/origin.js';
import type { RateClass, Rates, Tally } from '../../auth/rates.js';
import { cookieCredential } from '../../auth/session-cookie.js';
import { PROBLEM_TYPE, type ProblemStatus, problemBody } from '../problem-details.js';
import type { HttpAnswer, UpgradeRequest } from '../web-socket.js';

const MAX_TOKEN = 8192;

export interface Admitted {
  /** Undefined for a token without a user: the client is connected, but gets no events. */
  readonly principal: Principal | undefined;
  /** ms since the epoch; undefined when the credential does not end by itself. */
  readonly expiresAt: number | undefined;
}

export type Admission = Admitted | { readonly refused: HttpAnswer };

export interface AdmissionOptions {
  readonly directory: Pick<Directory, 'anonymous'>;
  readonly credentials: Credentials;
  readonly guard: AnonymousGuard;
  readonly rates: Rates;
  readonly log: Logger;
}

/** `rate`: the class in which the request counts when its credential is valid. `isRead`: a GET that opens no WebSocket. */
export function admit(
  request: UpgradeRequest,
  query: URLSearchParams,
  options: AdmissionOptions,
  { rate = 'hub', isRead = false }: { readonly rate?: RateClass; readonly isRead?: boolean } = {},
): Admission | Promise<Admission> {
  const { credentials, rates, log } = options;
  const tally = rates.tally(request.remoteAddress);
  const token = credential(request, query);
  const cookie = token === undefined ? cookieCredential(request, !isRead) : undefined;
  if (cookie?.kind === 'refused') return counted(problem(403, cookie.detail), tally);
  const known =
    cookie?.kind === 'session' ? credentials.session(cookie.token) : isShown(token) && credentials.known(token);
  if (known && !(known instanceof Promise)) return admitted(known, tally, rate);
  const decided = async (): Promise<Admission> => {
    const session = await known;
    if (session) return admitted(session, tally, rate);
    return admission(await identityOf(token, options, tally), token, request, options, tally, rate);
  };
  return decided().catch((err: unknown) => {
    log.error({ err, remoteAddress: request.remoteAddress }, 'hub credential could not be checked');
    return { refused: problem(503, 'The credential cannot be checked at present.', { 'retry-after': '1' }) };
  });
}

async function identityOf(
  token: string | undefined,
  { directory, credentials }: AdmissionOptions,
  tally: Tally,
): Promise<Identity> {
  if (token === undefined) return anonymousIdentity(await directory.anonymous());
  return isShown(token) ? credentials.identify(token, tally) : { kind: 'invalid' };
}

function admission(
  identity: Identity,
  token: string | undefined,
  request: UpgradeRequest,
  { guard }: AdmissionOptions,
  tally: Tally,
  rate: RateClass,
): Admission {
  if (identity.kind === 'limited') return { refused: tooMany(identity.waitSeconds, tally) };
  if (identity.kind === 'refused') return { refused: problem(403, identity.detail) };
  if (identity.kind === 'nameless') return { principal: undefined, expiresAt: identity.expiresAt };
  if (identity.kind === 'invalid') {
    const answer = problem(401, 'A valid token is needed.', { 'www-authenticate': 'Bearer' });
    return isShown(token) ? { refused: answer } : counted(answer, tally);
  }
  const refusal = token === undefined ? guard(anonymousRequest(request)) : undefined;
  return refusal === undefined ? admitted(identity, tally, rate) : counted(problem(403, refusal), tally);
}

function admitted({ principal, expiresAt }: KnownIdentity, tally: Tally, rate: RateClass): Admission {
  const wait = tally.principal(principal, rate);
  if (wait > 0) return { refused: tooMany(wait, tally) };
  if (!mayRead(principal)) return { refused: problem(403, 'The API key needs the scope api:read or app.') };
  return { principal, expiresAt };
}

/** Refuses a request without a right credential, which counts for its address. */
function counted(answer: HttpAnswer, tally: Tally): Admission {
  const wait = tally.countAnonymous('hub');
  return { refused: wait > 0 ? tooMany(wait, tally) : answer };
}

function tooMany(waitSeconds: number, tally: Tally): HttpAnswer {
  const headers = { ...Object.fromEntries(tally.fields), 'retry-after': String(waitSeconds) };
  return problem(429, 'Too many requests a minute; see Retry-After.', headers);
}

/** Text that cannot be a credential is not looked up, and does not count as a wrong credential. */
const isShown = (token: string | undefined): token is string =>
  token !== undefined && token !== '' && token.length <= MAX_TOKEN;

function anonymousIdentity(principal: Principal | undefined): Identity {
  return principal === undefined ? { kind: 'invalid' } : { kind: 'known', principal, expiresAt: undefined };
}

/** Passes Host and Origin on: any page may open WebSockets to any host, because CORS does not apply to them. */
function anonymousRequest(request: UpgradeRequest): AnonymousRequest {
  return { host: request.header('host'), origin: request.header('origin'), takesEffect: true };
}

function mayRead({ keyId, scopes }: Principal): boolean {
  return keyId === null || scopes.includes('app') || scopes.includes('api:read');
}

/** Undefined without a credential; an empty string for a credential of another scheme. */
function credential(request: UpgradeRequest, query: URLSearchParams): string | undefined {
  const header = request.header('authorization');
  if (header !== '') return /^(?:bearer|apikey) +(\S+) *$/i.exec(header)?.[1] ?? '';
  return query.get('access_token') || undefined;
}

/** RFC 9457 */
export function problem(
  status: ProblemStatus,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return {
    status,
    headers: { 'content-type': PROBLEM_TYPE, 'cache-control': 'no-store', ...headers },
    body: problemBody(status, detail),
  };
}
