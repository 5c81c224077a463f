// An identity provider that accepts no token: mechanisms for tokens are announced, but only a key is accepted.
import type { TokenVerifier } from '../../src/auth/oidc/token-verifier.js';

export const NO_TOKENS: TokenVerifier = {
  verify: async () => undefined,
  userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
};
