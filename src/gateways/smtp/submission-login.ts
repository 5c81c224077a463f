// A login at submission becomes the session's user, or a reply (RFC 4954 §6), with a count and a log line. protocol-login
// judges the credentials.
import type { Logger } from 'pino';
import type { SMTPServerSession } from 'smtp-server';
import type { LoginOutcome, ProtocolLogin, ProtocolLogins } from '../../auth/protocol-login.js';
import { parseAddress } from '../../mail/address.js';
import type { Auth, AuthResult } from './auth-exchange.js';
import type { SubmissionMeter } from './meter.js';

const SCOPES = ['smtp'] as const;

export interface SubmissionAuthOptions {
  readonly logins: Pick<ProtocolLogins, 'open'>;
  readonly plaintext: boolean;
  readonly log: Logger;
  readonly meter: Pick<SubmissionMeter, 'authenticated'>;
}

const REFUSALS: Readonly<Record<Exclude<LoginOutcome['kind'], 'open'>, AuthResult & { readonly reply: unknown }>> = {
  wrong: { reply: { code: 535, text: '5.7.8 Authentication credentials invalid' }, failure: 'invalidToken' },
  scopeMissing: {
    reply: { code: 535, text: '5.7.8 The API key needs the scope smtp' },
    failure: 'insufficientScope',
  },
  limited: { reply: { code: 454, text: '4.7.0 Too many wrong credentials, try again later' } },
};
const FAULT: AuthResult = { reply: { code: 454, text: '4.7.0 Credentials cannot be checked now, try again later' } };

export function submissionAuth({ logins, plaintext, log, meter }: SubmissionAuthOptions): Auth {
  return {
    plaintext,
    accountOf: (user) => (user as ProtocolLogin).principal.accountId,
    async judge(shown, session) {
      const { remoteAddress, secure: tls } = session;
      let outcome: LoginOutcome;
      try {
        outcome = await logins.open(shown, SCOPES, remoteAddress);
      } catch (err) {
        meter.authenticated('fault');
        log.error({ err, remoteAddress, tls }, 'credentials could not be checked');
        return FAULT;
      }
      const { kind } = outcome;
      meter.authenticated(kind);
      if (kind === 'open') {
        const { accountId, keyId } = outcome.login.principal;
        log.debug({ accountId, keyId, remoteAddress, tls }, 'authenticated');
        return { user: outcome.login };
      }
      // Somebody may have put the key where the name belongs.
      const names = shown.names.filter((name) => parseAddress(name) !== undefined);
      log.info({ names, remoteAddress, tls, reason: kind }, 'authentication refused');
      return REFUSALS[kind];
    },
  };
}

/** Of a session that has one: commands of mail are refused before. */
export function loginOf(session: SMTPServerSession): ProtocolLogin {
  return session.user as ProtocolLogin;
}
