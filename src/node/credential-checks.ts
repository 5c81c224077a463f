// How a node judges and counts the credentials that clients show: one door for the logins of the mail protocols, and for HTTP
// the rates of requests and guesses. Tokens of the identity provider are verified the same at every gateway.
import { LoginGuard } from '../auth/login-guard.js';
import { createTokenVerifier, type TokenVerifier } from '../auth/oidc/token-verifier.js';
import { Rates } from '../auth/rates.js';
import { type LoginMeter, SignIn } from '../auth/sign-in.js';
import type { Config } from '../config.js';
import type { Engine } from './engine.js';
import type { Resources } from './resources.js';
import { shareLogins } from './shared-logins.js';

export interface CredentialChecks {
  readonly rates: Rates;
  readonly signIn: SignIn;
  /** Absent without an identity provider. */
  readonly tokens?: TokenVerifier;
}

export function openCredentialChecks(
  config: Config,
  { log, lifecycle, nodeId }: Resources,
  { directory, bus }: Engine,
  meter: LoginMeter | undefined,
): CredentialChecks {
  const { rateGlobal: global, rateAuth: authentication, rateWrite: write } = config;
  const guard = new LoginGuard();
  const stopSharing = shareLogins({ guard, transport: bus, nodeId });
  lifecycle.add('shared logins', stopSharing);
  const rates = new Rates({ global, authentication, write }, { guard });
  const { oidcAuthority: authority, oidcAudience: audience } = config;
  const tokens = authority === undefined ? {} : { tokens: createTokenVerifier({ authority, audience, log }) };
  return { rates, ...tokens, signIn: new SignIn({ directory, guard, ...tokens, ...(meter && { meter }) }) };
}
