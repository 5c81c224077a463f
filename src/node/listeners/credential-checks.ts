// How a node checks and counts the credentials of clients: the common login of the mail protocols, and for HTTP the rates of requests and
// guesses. All gateways check and cache credentials in the same way.

import { Credentials } from '../../auth/credentials.js';
import { LoginGuard } from '../../auth/login-guard.js';
import { createTokenVerifier } from '../../auth/oidc/token-verifier.js';
import { Rates } from '../../auth/rates.js';
import { type LoginMeter, SignIn } from '../../auth/sign-in.js';
import type { Config } from '../config/config.js';
import type { Engine } from '../engine/engine.js';
import type { Resources } from '../resources.js';
import { shareLogins } from './shared-logins.js';

export interface CredentialChecks {
  readonly rates: Rates;
  readonly signIn: SignIn;
  readonly credentials: Credentials;
}

export function openCredentialChecks(
  config: Config,
  { log, lifecycle, nodeId }: Resources,
  { directory, bus, revocations }: Engine,
  meter: LoginMeter | undefined,
): CredentialChecks {
  const { rateGlobal: global, rateAuth: authentication, rateWrite: write, rateSession: session } = config;
  const guard = new LoginGuard();
  const stopSharing = shareLogins({ guard, transport: bus, nodeId });
  lifecycle.add('shared logins', stopSharing);
  const rates = new Rates({ global, authentication, write, session }, { guard });
  const { oidcAuthority: authority, oidcAudience: audience } = config;
  const tokens = authority === undefined ? {} : { tokens: createTokenVerifier({ authority, audience, log }) };
  const credentials = new Credentials({ directory, ...tokens, period: () => revocations.period });
  return { rates, credentials, signIn: new SignIn({ directory, credentials, guard, ...(meter && { meter }) }) };
}
