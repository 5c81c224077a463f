// The principal of a credential, the same for every gateway. The directory judges an API key; a token of the identity
// provider is verified first, and then has or gets its account. A credential of one kind is never tried as the other.
import type { Directory, LoginRefusal, Principal } from '../directory/protocol.js';
import { isToken, type TokenVerifier } from './oidc/token-verifier.js';
import type { Tally } from './rates.js';

export type Identity =
  | { readonly kind: 'known'; readonly principal: Principal; readonly expiresAt: number | undefined }
  /** A valid token of nobody: it names no user. */
  | { readonly kind: 'nameless'; readonly expiresAt: number }
  /** The credential is good, and still opens no account. */
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'invalid' }
  /** Invalid, as were too many others from there. */
  | { readonly kind: 'limited'; readonly waitSeconds: number };

const REFUSALS: Readonly<Record<LoginRefusal, string>> = {
  noEmail: 'There is no account for this login yet, and its token names no usable email address to make one with.',
  unverified: 'The identity provider does not vouch for the email address of this login.',
  taken: 'The email address of this login belongs to another account.',
};

const INVALID: Identity = { kind: 'invalid' };

/**
 * `tokens`: none when no identity provider is configured. `tally`: counts a credential that opens nothing; none when the caller does.
 * @throws ProviderUnavailable, StoreFault
 */
export async function identify(
  credential: string,
  directory: Pick<Directory, 'authenticate' | 'login'>,
  tokens: TokenVerifier | undefined,
  tally?: Tally,
): Promise<Identity> {
  const identity = isToken(credential)
    ? await ofToken(credential, directory, tokens)
    : await ofKey(credential, directory);
  if (identity.kind === 'known' || tally === undefined) return identity;
  const waitSeconds = await tally.recordFailure();
  return waitSeconds > 0 ? { kind: 'limited', waitSeconds } : identity;
}

async function ofKey(key: string, directory: Pick<Directory, 'authenticate'>): Promise<Identity> {
  const principal = await directory.authenticate(key);
  return principal === undefined ? INVALID : { kind: 'known', principal, expiresAt: undefined };
}

async function ofToken(
  credential: string,
  directory: Pick<Directory, 'login'>,
  tokens: TokenVerifier | undefined,
): Promise<Identity> {
  const token = await tokens?.verify(credential);
  if (token === undefined) return INVALID;
  const { subject, expiresAt } = token;
  if (subject === undefined) return { kind: 'nameless', expiresAt };
  let login = await directory.login({ ...token, subject });
  if (login.refusal === 'noEmail' && tokens !== undefined) {
    const claims = await tokens.userInfo(credential, subject);
    // The address and whether the provider vouches for it come from one document.
    const { email, emailVerified, name = token.name } = claims;
    if (email !== undefined) login = await directory.login({ ...token, subject, email, emailVerified, name });
  }
  if (login.refusal !== undefined) return { kind: 'refused', detail: REFUSALS[login.refusal] };
  return { kind: 'known', principal: login.principal, expiresAt };
}
