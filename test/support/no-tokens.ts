// An identity provider whose tokens nobody has: mechanisms for tokens are announced, and what is shown has to be a key.
import type { TokenVerifier } from '../../src/auth/oidc/token-verifier.js';

export const NO_TOKENS: TokenVerifier = {
  verify: async () => undefined,
  userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
};
