// How a node judges and counts the credentials that clients show, the same at every gateway: tokens of the identity provider,
// and the rates of requests and guesses.
import type { Logger } from 'pino';
import { createTokenVerifier, type TokenVerifier } from '../auth/oidc/token-verifier.js';
import { Rates } from '../auth/rates.js';
import type { Config } from '../config.js';

export interface CredentialChecks {
  readonly rates: Rates;
  /** Absent without an identity provider. */
  readonly tokens?: TokenVerifier;
}

export function openCredentialChecks(config: Config, log: Logger): CredentialChecks {
  const { rateGlobal: global, rateAuth: authentication, rateWrite: write } = config;
  const rates = new Rates({ global, authentication, write });
  const { oidcAuthority: authority, oidcAudience: audience } = config;
  return authority === undefined ? { rates } : { rates, tokens: createTokenVerifier({ authority, audience, log }) };
}
