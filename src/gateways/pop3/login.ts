// Logins of POP3: a credential opens the session with its maildrop, or results in a reply that says why not (RFC 3206).
// sign-in judges, delays, counts and logs the attempt. The number of failed logins per connection is limited.
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { Failure, PresentedCredential } from '../../auth/sasl.js';
import { isLoginFailure, type LoginFailure } from '../../auth/sign-in.js';
import { isBug, replyOf } from './faults.js';
import { type Maildrop, openMaildrop } from './maildrop.js';
import { err, ok, type Pop3Reply } from './replies.js';
import type { Pop3Session } from './session.js';

const SCOPES = ['pop3', 'app'] as const;

export interface JudgedPop3Login {
  readonly reply: Pop3Reply;
  /** The failure that mechanisms with tokens report first; absent when the credential is not what failed. */
  readonly failure?: Failure;
}

const REFUSALS: Readonly<Record<LoginFailure, JudgedPop3Login>> = {
  wrong: { reply: err('Credentials invalid', 'AUTH'), failure: 'invalidToken' },
  scopeMissing: { reply: err('The API key needs the scope pop3 or app', 'AUTH'), failure: 'insufficientScope' },
  limited: { reply: err('Too many wrong credentials, try again later', 'SYS/TEMP') },
};
const NEEDS_TLS = err('Encryption required, use STLS first');
const TOO_MANY_CONNECTIONS = err('Too many connections of your account', 'SYS/TEMP');
const IN_USE = err('Another session has the maildrop', 'IN-USE');

/** Credentials are accepted only with TLS, unless the operator allows plain text. */
export function mayShowCredentials({ isSecure, context }: Pop3Session): boolean {
  return isSecure || context.allowPlaintextAuth;
}

/** Returns undefined when a login may be tried on this connection. */
export function loginRefusal(session: Pop3Session): Pop3Reply | undefined {
  return mayShowCredentials(session) ? undefined : NEEDS_TLS;
}

/** A reply of +OK means that the session is in the transaction state. */
export async function logIn(session: Pop3Session, presented: PresentedCredential): Promise<JudgedPop3Login> {
  const { context, remoteAddress, isSecure, connection, log } = session;
  const admit = (accountId: string) => connection.logIn(accountId);
  const attempt = { protocol: 'pop3', presented, scopes: SCOPES, remoteAddress, isSecure, admit, log } as const;
  const result = await context.signIn.attempt(attempt);
  if (isLoginFailure(result.kind)) {
    if (++session.failedLogins >= context.limits.authFailures) session.isOver = true;
    return REFUSALS[result.kind];
  }
  switch (result.kind) {
    case 'open':
      return { reply: await begin(session, result.login) };
    case 'full':
      return { reply: TOO_MANY_CONNECTIONS };
    case 'fault':
      return { reply: replyOf(result.error) };
  }
}

/** A connection that does not get its maildrop ends (RFC 1939 §4), so it no longer counts for the account. */
async function begin(session: Pop3Session, login: ProtocolLogin): Promise<Pop3Reply> {
  const { context, remoteAddress, log } = session;
  const { accountId, keyId } = login.principal;
  const about = { accountId, keyId, remoteAddress };
  let maildrop: Maildrop | undefined;
  try {
    maildrop = await openMaildrop(context.mailboxes.of(accountId));
    // A revocation that came while the maildrop was opened found no session to end.
    if (maildrop !== undefined && !(await context.signIn.holds(login))) {
      void maildrop.close();
      session.isOver = true;
      return REFUSALS.wrong.reply;
    }
  } catch (err) {
    void maildrop?.close();
    log[isBug(err) ? 'error' : 'warn']({ err, ...about }, 'the maildrop could not be opened');
    session.isOver = true;
    return replyOf(err);
  }
  if (maildrop === undefined) {
    log.info(about, 'another session has the maildrop');
    session.isOver = true;
    return IN_USE;
  }
  session.open(login, maildrop);
  const { count, octets } = maildrop.drop;
  return ok(`Logged in, ${count} messages (${octets} octets)`);
}
