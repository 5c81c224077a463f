// Logins of IMAP: a credential becomes the login of the session, or results in a completion that says why not (RFC 5530).
// sign-in judges, delays, counts and logs the attempt. The number of failed logins per connection is limited.
import type { Failure, PresentedCredential } from '../../auth/sasl.js';
import { isLoginFailure, type LoginFailure } from '../../auth/sign-in.js';
import { type Completion, no, ok } from './completion.js';
import { completionOf } from './faults.js';
import type { Session } from './session.js';

const SCOPES = ['imap', 'app'] as const;

export interface JudgedLogin {
  readonly completion: Completion;
  /** The failure that mechanisms with tokens report first; absent when the credential is not what failed. */
  readonly failure?: Failure;
}

const REFUSALS: Readonly<Record<LoginFailure, JudgedLogin>> = {
  wrong: { completion: no('Credentials invalid', 'AUTHENTICATIONFAILED'), failure: 'invalidToken' },
  scopeMissing: {
    completion: no('The API key needs the scope imap or app', 'AUTHORIZATIONFAILED'),
    failure: 'insufficientScope',
  },
  limited: { completion: no('Too many wrong credentials, try again later', 'LIMIT') },
};
const NEEDS_TLS = no('Encryption required, use STARTTLS first', 'PRIVACYREQUIRED');
const TOO_MANY_CONNECTIONS = no('Too many connections of your account', 'LIMIT');

/** Credentials are accepted only with TLS, unless the operator allows plain text. */
export function mayShowCredentials({ isSecure, context }: Session): boolean {
  return isSecure || context.allowPlaintextAuth;
}

/** Returns undefined when a login may be tried on this connection. */
export function loginRefusal(session: Session): Completion | undefined {
  return mayShowCredentials(session) ? undefined : NEEDS_TLS;
}

/** A completion of OK means that the session is logged in. */
export async function logIn(session: Session, presented: PresentedCredential): Promise<JudgedLogin> {
  const { context, remoteAddress, isSecure, connection, log } = session;
  const admit = (accountId: string) => connection.logIn(accountId);
  const attempt = { protocol: 'imap', presented, scopes: SCOPES, remoteAddress, isSecure, admit, log } as const;
  const result = await context.signIn.attempt(attempt);
  if (isLoginFailure(result.kind)) {
    if (++session.failedLogins >= context.limits.authFailures) session.end('Too many failed logins', 'LIMIT');
    return REFUSALS[result.kind];
  }
  switch (result.kind) {
    case 'open':
      session.open(result.login);
      return { completion: ok('Logged in', `CAPABILITY ${session.capabilities}`) };
    case 'full':
      return { completion: TOO_MANY_CONNECTIONS };
    case 'fault':
      return { completion: completionOf(result.error) };
  }
}
