// Who may connect to the hub: the credential of a request (Authorization header, or `access_token` in the query, where
// browsers have to put it), the principal it stands for, and the answer when there is none. The tokens themselves go
// no further than the directory.
//
// Hub events are reads of the account: keys with `api:read` or `app` may connect, and so may whoever has no key, which is
// to say JWT users and the configured anonymous account; other keys are refused with 403.
import type { Logger } from 'pino';
import type { Directory, Principal } from '../../actors/directory/protocol.js';
import type { AnonymousGuard, AnonymousRequest } from '../origin.js';
import { PROBLEM_TYPE, type ProblemStatus, problemBody } from '../problem-details.js';
import type { HttpAnswer, UpgradeRequest } from '../web-socket.js';

const MAX_TOKEN = 8192;

export type Admission = { readonly principal: Principal } | { readonly refused: HttpAnswer };

export async function admit(
  request: UpgradeRequest,
  query: URLSearchParams,
  directory: Directory,
  guard: AnonymousGuard,
  log: Logger,
): Promise<Admission> {
  const token = credential(request, query);
  let principal: Principal | undefined;
  try {
    if (token === undefined) principal = await directory.anonymous();
    else if (token !== '' && token.length <= MAX_TOKEN) principal = await directory.authenticate(token);
  } catch (err) {
    log.error({ err, remoteAddress: request.remoteAddress }, 'hub credential could not be checked');
    return { refused: problem(503, 'The credential cannot be checked at present.', { 'retry-after': '1' }) };
  }
  if (principal === undefined) {
    return { refused: problem(401, 'A valid token is needed.', { 'www-authenticate': 'Bearer' }) };
  }
  const refusal = token === undefined ? guard(anonymousRequest(request)) : undefined;
  if (refusal !== undefined) return { refused: problem(403, refusal) };
  if (!mayRead(principal)) return { refused: problem(403, 'The API key needs the scope api:read or app.') };
  return { principal };
}

/** Browsers open WebSockets to any host for any page, and CORS does not apply. */
function anonymousRequest(request: UpgradeRequest): AnonymousRequest {
  return { host: request.header('host'), origin: request.header('origin'), takesEffect: true };
}

function mayRead({ keyId, scopes }: Principal): boolean {
  return keyId === null || scopes.includes('app') || scopes.includes('api:read');
}

/** Undefined when none was given, an empty string when it is no credential we know. */
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
