// Who a credential stands for, the same for every gateway: an API key is the directory's to judge, a token of the identity
// provider is verified first and then has or gets its account. Neither kind is ever taken for the other.
import type { Directory, LoginRefusal, Principal } from '../actors/directory/protocol.js';
import { isToken, type TokenVerifier } from './oidc/token-verifier.js';

export type Identity =
  | { readonly kind: 'known'; readonly principal: Principal; readonly expiresAt: number | undefined }
  /** A valid token of nobody: it names no user. */
  | { readonly kind: 'nameless'; readonly expiresAt: number }
  /** The credential is good, and still opens no account. */
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'invalid' };

const REFUSALS: Readonly<Record<LoginRefusal, string>> = {
  noEmail: 'There is no account for this login yet, and its token names no usable email address to make one with.',
  unverified: 'The identity provider does not vouch for the email address of this login.',
  taken: 'The email address of this login belongs to another account.',
};

const INVALID: Identity = { kind: 'invalid' };

/** `tokens`: none when no identity provider is configured. @throws ProviderUnavailable, StoreFault */
export async function identify(
  credential: string,
  directory: Pick<Directory, 'authenticate' | 'login'>,
  tokens: TokenVerifier | undefined,
): Promise<Identity> {
  if (!isToken(credential)) {
    const principal = await directory.authenticate(credential);
    return principal === undefined ? INVALID : { kind: 'known', principal, expiresAt: undefined };
  }
  const token = await tokens?.verify(credential);
  if (token === undefined) return INVALID;
  const { subject, expiresAt } = token;
  if (subject === undefined) return { kind: 'nameless', expiresAt };
  const login = await directory.login({ ...token, subject });
  if (login.refusal !== undefined) return { kind: 'refused', detail: REFUSALS[login.refusal] };
  return { kind: 'known', principal: login.principal, expiresAt };
}
