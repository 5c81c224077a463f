// How a node checks and counts the credentials of clients: the common login of the mail protocols, and for HTTP the rates of requests and
// guesses. All gateways check and cache credentials in the same way.

import type { Logger } from 'pino';
import { Credentials } from '../../auth/credentials.js';
import { LoginGuard } from '../../auth/login-guard.js';
import { CodeFlow } from '../../auth/oidc/code-flow.js';
import { KeySet } from '../../auth/oidc/key-set.js';
import { createTokenVerifier, type TokenVerifier } from '../../auth/oidc/token-verifier.js';
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
  /** Undefined where the page cannot sign in at an identity provider. */
  readonly codeFlow: CodeFlow | undefined;
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
  const { tokens, codeFlow } = providerOf(config, log);
  const credentials = new Credentials({ directory, ...(tokens && { tokens }), period: () => revocations.period });
  const signIn = new SignIn({ directory, credentials, guard, ...(meter && { meter }) });
  return { rates, credentials, signIn, codeFlow };
}

interface Provider {
  readonly tokens?: TokenVerifier;
  readonly codeFlow?: CodeFlow;
}

/** The identity provider of the configuration, with one set of its keys for tokens and sign-ins. */
function providerOf(config: Config, log: Logger): Provider {
  const { oidcAuthority: authority, oidcAudience: audience, oidcClientId: clientId, oidcClientSecret } = config;
  if (authority === undefined) return {};
  const keySet = new KeySet(authority);
  const tokens = createTokenVerifier({ authority, audience, keySet, log });
  if (clientId === undefined) return { tokens };
  return { tokens, codeFlow: new CodeFlow({ keySet, clientId, clientSecret: oidcClientSecret, log }) };
}
