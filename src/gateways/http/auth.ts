// Who makes a request, and whether that is enough: API keys and tokens in both header forms (RFC 6750 §2.1 and `ApiKey`),
// the anonymous account, scopes. Keys are asked of the directory each time, so a revoked one fails at once.
import type { Directory, Principal } from '../../actors/directory/protocol.js';
import { identify } from '../credentials.js';
import type { TokenVerifier } from '../oidc/token-verifier.js';
import type { AnonymousGuard, AnonymousRequest } from '../origin.js';
import type { HttpRequest } from './exchange.js';
import { insufficientScope, notForAnonymous, Problem, unauthenticated } from './problem.js';
import type { Access } from './route.js';

/** Longest credential looked at. */
const LONGEST_CREDENTIAL = 8192;
const CREDENTIAL = /^(bearer|apikey) +([!-~]+) *$/i;

/** `tokens`: none when there is no identity provider. @throws Problem 401, 403; ProviderUnavailable, StoreFault */
export async function authenticate(
  directory: Directory,
  guard: AnonymousGuard,
  tokens: TokenVerifier | undefined,
  request: HttpRequest,
): Promise<Principal> {
  const header = request.headers.get('authorization');
  if (header === undefined) {
    const anonymous = await directory.anonymous();
    if (anonymous === undefined) throw unauthenticated();
    const refusal = guard(anonymousRequest(request));
    if (refusal !== undefined) throw notForAnonymous(refusal);
    return anonymous;
  }
  const credential = header.length <= LONGEST_CREDENTIAL ? CREDENTIAL.exec(header)?.[2] : undefined;
  if (credential === undefined) throw unauthenticated('invalid_token');
  const identity = await identify(credential, directory, tokens);
  switch (identity.kind) {
    case 'known':
      return identity.principal;
    case 'refused':
      throw new Problem(403, { detail: identity.detail });
    case 'nameless':
    case 'invalid':
      throw unauthenticated('invalid_token');
  }
}

function anonymousRequest({ headers, method }: HttpRequest): AnonymousRequest {
  const takesEffect = method !== 'GET' && method !== 'HEAD';
  return { host: headers.get('host') ?? '', origin: headers.get('origin') ?? '', takesEffect };
}

/** @throws Problem 403 */
export function authorize(principal: Principal, access: Access & object): void {
  if (!access.scopes.some((scope) => principal.scopes.includes(scope))) throw insufficientScope(access.scopes);
}
