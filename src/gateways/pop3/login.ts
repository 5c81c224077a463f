// Logins of POP3: what a client showed becomes the login of the session with its maildrop, or a reply that says why not (RFC 3206),
// with a count and a log line. protocol-login judges the credentials. Guesses wait for their replies, each for longer, and are few.
import { setTimeout as delay } from 'node:timers/promises';
import type { LoginOutcome, ProtocolLogin } from '../../auth/protocol-login.js';
import type { Failure, Shown } from '../../auth/sasl.js';
import { parseAddress } from '../../mail/address.js';
import { isBug, replyOf } from './faults.js';
import { type Maildrop, openMaildrop } from './maildrop.js';
import { err, ok, type Reply } from './replies.js';
import type { Session } from './session.js';

const SCOPES = ['pop3', 'app'] as const;

export interface JudgedLogin {
  readonly reply: Reply;
  /** What mechanisms with tokens say of the failure first; absent when the credential is not what failed. */
  readonly failure?: Failure;
}

const REFUSALS: Readonly<Record<Exclude<LoginOutcome['kind'], 'open'>, JudgedLogin>> = {
  wrong: { reply: err('Credentials invalid', 'AUTH'), failure: 'invalidToken' },
  scopeMissing: { reply: err('The API key needs the scope pop3 or app', 'AUTH'), failure: 'insufficientScope' },
  limited: { reply: err('Too many wrong credentials, try again later', 'SYS/TEMP') },
};
const NEEDS_TLS = err('Encryption required, use STLS first');
const TOO_MANY_CONNECTIONS = err('Too many connections of your account', 'SYS/TEMP');
const IN_USE = err('Another session has the maildrop', 'IN-USE');
const MOST_DELAYS = 5;

/** Credentials are taken with TLS only, unless the operator allows plain text. */
export function mayShowCredentials({ isSecure, context }: Session): boolean {
  return isSecure || context.allowPlaintextAuth;
}

/** Undefined when a login may be tried on this connection. */
export function loginRefusal(session: Session): Reply | undefined {
  return mayShowCredentials(session) ? undefined : NEEDS_TLS;
}

/** The session is in the transaction state when the reply is +OK. */
export async function logIn(session: Session, shown: Shown): Promise<JudgedLogin> {
  const { context, remoteAddress, isSecure: tls, log } = session;
  const { logins, meter } = context;
  let outcome: LoginOutcome;
  try {
    outcome = await logins.open(shown, SCOPES, remoteAddress);
  } catch (err) {
    meter.authenticated('fault');
    log.error({ err, remoteAddress, tls }, 'credentials could not be checked');
    return { reply: replyOf(err) };
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
  return { reply: await begin(session, outcome.login) };
}

async function begin(session: Session, login: ProtocolLogin): Promise<Reply> {
  const { context, connection, remoteAddress, isSecure: tls, log } = session;
  const { accountId, keyId } = login.principal;
  let maildrop: Maildrop | undefined;
  try {
    maildrop = await openMaildrop(context.mailboxes.of(accountId));
  } catch (err) {
    const level = isBug(err) ? 'error' : 'warn';
    log[level]({ err, accountId, remoteAddress }, 'the maildrop could not be opened');
    return replyOf(err);
  }
  if (maildrop === undefined) {
    log.info({ accountId, keyId, remoteAddress, tls }, 'another session has the maildrop');
    return IN_USE;
  }
  if (!connection.logIn(accountId)) {
    log.info({ accountId, keyId, remoteAddress, tls }, 'the account has too many connections');
    await maildrop.close();
    return TOO_MANY_CONNECTIONS;
  }
  session.open(login, maildrop);
  log.debug({ accountId, keyId, remoteAddress, tls }, 'authenticated');
  const { count, octets } = maildrop.drop;
  return ok(`Logged in, ${count} messages (${octets} octets)`);
}

async function holdBack(session: Session): Promise<void> {
  const { authDelayMs, authFailures } = session.context.limits;
  session.failedLogins++;
  await delay(authDelayMs * Math.min(session.failedLogins, MOST_DELAYS), undefined, { ref: false });
  if (session.failedLogins >= authFailures) session.isOver = true;
}
