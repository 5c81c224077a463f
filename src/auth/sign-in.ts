// Every login of the mail protocols passes this class (listener-logins). protocol-login judges the credential, login-guard decides how long
// a refusal is delayed; the attempt is counted once and logged in one line.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import { parseAddress } from '../mail-format/address.js';
import type { Scope } from '../store/directory.js';
import { LoginGuard } from './login-guard.js';
import { type ProtocolLogin, type ProtocolLoginOptions, ProtocolLogins } from './protocol-login.js';
import { announcedMechanisms, type Mechanism, type PresentedCredential } from './sasl.js';

export const LOGIN_PROTOCOLS = ['submission', 'imap', 'pop3', 'sieve'] as const;
export type LoginProtocol = (typeof LOGIN_PROTOCOLS)[number];

export interface LoginAttempt {
  readonly protocol: LoginProtocol;
  readonly presented: PresentedCredential;
  /** A key needs one of these. */
  readonly scopes: readonly Scope[];
  readonly remoteAddress: string;
  /** True when the connection has TLS. */
  readonly isSecure: boolean;
  /** Takes the connection from the account's share; false when the share is used up. */
  readonly admit: (accountId: string) => boolean;
  readonly log: Logger;
}

export type SignInResult =
  | { readonly kind: 'open'; readonly login: ProtocolLogin }
  /** There is no such credential, or it belongs to another user than the name. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'scopeMissing' }
  /** The credential is wrong, like too many others from this network or with this name. */
  | { readonly kind: 'limited' }
  /** The credential is right, but the account has too many connections. */
  | { readonly kind: 'full'; readonly accountId: string }
  /** The credential cannot be checked now. */
  | { readonly kind: 'fault'; readonly error: unknown };

export type SignInResultKind = SignInResult['kind'];

/** Results that count against a connection and whose replies are delayed. */
export type LoginFailure = 'wrong' | 'scopeMissing' | 'limited';

export interface LoginMeter {
  attempted(protocol: LoginProtocol, outcome: SignInResultKind): void;
}

export interface SignInOptions extends ProtocolLoginOptions {
  readonly guard?: LoginGuard;
  readonly meter?: LoginMeter;
}

export function isLoginFailure(kind: SignInResultKind): kind is LoginFailure {
  return kind === 'wrong' || kind === 'scopeMissing' || kind === 'limited';
}

export class SignIn {
  /** The mechanisms that the mail protocols announce. */
  readonly mechanisms: readonly Mechanism[];
  readonly #logins: ProtocolLogins;
  readonly #guard: LoginGuard;
  readonly #meter: LoginMeter | undefined;

  constructor({ guard = new LoginGuard(), meter, ...options }: SignInOptions) {
    this.mechanisms = announcedMechanisms(options.credentials.takesTokens);
    this.#logins = new ProtocolLogins(options);
    this.#guard = guard;
    this.#meter = meter;
  }

  /** Emits a test for logins that have ended; their sessions must end. */
  get ended$(): Observable<(login: ProtocolLogin) => boolean> {
    return this.#logins.ended$;
  }

  /** Whether a login is still valid; called before something is done in its name. @throws StoreFault, ProviderUnavailable */
  holds(login: ProtocolLogin): Promise<boolean> {
    return this.#logins.holds(login);
  }

  /** Resolves when the reply may be sent. Never rejects. */
  async attempt(attempt: LoginAttempt): Promise<SignInResult> {
    const { presented, remoteAddress } = attempt;
    const judged = await this.#judge(attempt);
    const refusal = isLoginFailure(judged.kind) ? this.#guard.refuse(remoteAddress, presented.names) : undefined;
    const result: SignInResult = judged.kind === 'wrong' && refusal?.isLimited ? { kind: 'limited' } : judged;
    this.#meter?.attempted(attempt.protocol, result.kind);
    logResult(attempt, result);
    if (refusal === undefined) return result;
    await delay(refusal.delayMs, undefined, { ref: false });
    refusal.done();
    return result;
  }

  async #judge({ presented, scopes, remoteAddress, admit }: LoginAttempt): Promise<SignInResult> {
    try {
      const outcome = await this.#logins.open(presented, scopes);
      if (outcome.kind !== 'open') return outcome;
      const { accountId, email } = outcome.login.principal;
      this.#guard.admit(remoteAddress, [...presented.names, email]);
      return admit(accountId) ? outcome : { kind: 'full', accountId };
    } catch (error) {
      return { kind: 'fault', error };
    }
  }
}

function logResult(
  { protocol, presented, remoteAddress, isSecure: tls, log }: LoginAttempt,
  result: SignInResult,
): void {
  const about = { protocol, remoteAddress, tls };
  switch (result.kind) {
    case 'open': {
      const { accountId, keyId } = result.login.principal;
      log.debug({ accountId, keyId, ...about }, 'authenticated');
      return;
    }
    case 'fault':
      log.error({ err: result.error, ...about }, 'credentials could not be checked');
      return;
    case 'full':
      log.info({ accountId: result.accountId, ...about, reason: 'full' }, 'authentication refused');
      return;
    default: {
      // A user may have entered the key as the name, so only addresses are logged.
      const names = presented.names.filter((name) => parseAddress(name) !== undefined);
      log.info({ names, ...about, reason: result.kind }, 'authentication refused');
    }
  }
}
