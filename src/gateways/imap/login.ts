// Logins of IMAP: what a client showed becomes the login of the session, or a completion that says why not (RFC 5530), with a
// count and a log line. protocol-login judges the credentials. Guesses wait for their replies, each for longer, and are few.
import { setTimeout as delay } from 'node:timers/promises';
import type { LoginOutcome } from '../../auth/protocol-login.js';
import type { Failure, Shown } from '../../auth/sasl.js';
import { parseAddress } from '../../mail/address.js';
import { type Completion, no, ok } from './completion.js';
import { completionOf } from './faults.js';
import type { Session } from './session.js';

const SCOPES = ['imap', 'app'] as const;

export interface JudgedLogin {
  readonly completion: Completion;
  /** What mechanisms with tokens say of the failure first; absent when the credential is not what failed. */
  readonly failure?: Failure;
}

const REFUSALS: Readonly<Record<Exclude<LoginOutcome['kind'], 'open'>, JudgedLogin>> = {
  wrong: { completion: no('Credentials invalid', 'AUTHENTICATIONFAILED'), failure: 'invalidToken' },
  scopeMissing: {
    completion: no('The API key needs the scope imap or app', 'AUTHORIZATIONFAILED'),
    failure: 'insufficientScope',
  },
  limited: { completion: no('Too many wrong credentials, try again later', 'LIMIT') },
};
const NEEDS_TLS = no('Encryption required, use STARTTLS first', 'PRIVACYREQUIRED');
const TOO_MANY_CONNECTIONS = no('Too many connections of your account', 'LIMIT');
const MOST_DELAYS = 5;

/** Credentials are taken with TLS only, unless the operator allows plain text. */
export function mayShowCredentials({ isSecure, context }: Session): boolean {
  return isSecure || context.allowPlaintextAuth;
}

/** Undefined when a login may be tried on this connection. */
export function loginRefusal(session: Session): Completion | undefined {
  return mayShowCredentials(session) ? undefined : NEEDS_TLS;
}

/** The session is logged in when the completion is OK. */
export async function logIn(session: Session, shown: Shown): Promise<JudgedLogin> {
  const { context, remoteAddress, isSecure: tls, log } = session;
  const { logins, meter } = context;
  let outcome: LoginOutcome;
  try {
    outcome = await logins.open(shown, SCOPES, remoteAddress);
  } catch (err) {
    meter.authenticated('fault');
    log.error({ err, remoteAddress, tls }, 'credentials could not be checked');
    return { completion: completionOf(err) };
  }
  const { kind } = outcome;
  meter.authenticated(kind);
  if (kind !== 'open') {
    // Somebody may have put the key where the name belongs.
    const names = shown.names.filter((name) => parseAddress(name) !== undefined);
    log.info({ names, remoteAddress, tls, reason: kind }, 'authentication refused');
    await holdBack(session);
    return REFUSALS[kind];
  }
  const { accountId, keyId } = outcome.login.principal;
  if (!session.connection.logIn(accountId)) {
    log.info({ accountId, keyId, remoteAddress, tls }, 'the account has too many connections');
    return { completion: TOO_MANY_CONNECTIONS };
  }
  session.open(outcome.login);
  log.debug({ accountId, keyId, remoteAddress, tls }, 'authenticated');
  return { completion: ok('Logged in', `CAPABILITY ${session.capabilities}`) };
}

async function holdBack(session: Session): Promise<void> {
  const { authDelayMs, authFailures } = session.context.limits;
  session.failedLogins++;
  await delay(authDelayMs * Math.min(session.failedLogins, MOST_DELAYS), undefined, { ref: false });
  if (session.failedLogins >= authFailures) session.end('Too many failed logins', 'LIMIT');
}
