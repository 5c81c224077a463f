// A login at submission sets the user of the session, or results in a reply (RFC 4954 §6). sign-in judges, delays, counts and logs it.
import type { Logger } from 'pino';
import type { SMTPServerSession } from 'smtp-server';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import { isLoginFailure, type LoginFailure, type SignIn } from '../../auth/sign-in.js';
import type { Auth, AuthResult } from './auth-exchange.js';

const SCOPES = ['smtp'] as const;

interface SubmissionAuthOptions {
  readonly signIn: Pick<SignIn, 'attempt' | 'mechanisms'>;
  readonly plaintext: boolean;
  readonly log: Logger;
}

const REFUSALS: Readonly<Record<LoginFailure, AuthResult>> = {
  wrong: {
    reply: { code: 535, text: '5.7.8 Authentication credentials invalid' },
    failure: 'invalidToken',
    isFailedLogin: true,
  },
  scopeMissing: {
    reply: { code: 535, text: '5.7.8 The API key needs the scope smtp' },
    failure: 'insufficientScope',
    isFailedLogin: true,
  },
  limited: {
    reply: { code: 454, text: '4.7.0 Too many wrong credentials, try again later' },
    isFailedLogin: true,
  },
};
const FULL: AuthResult = { reply: { code: 421, text: '4.7.0 Too many connections of your account' } };
const FAULT: AuthResult = { reply: { code: 454, text: '4.7.0 Credentials cannot be checked now, try again later' } };

export function submissionAuth({ signIn, plaintext, log }: SubmissionAuthOptions): Auth {
  return {
    mechanisms: signIn.mechanisms,
    plaintext,
    async judge(presented, { remoteAddress, secure: isSecure }, admit) {
      const attempt = {
        protocol: 'submission',
        presented,
        scopes: SCOPES,
        remoteAddress,
        isSecure,
        admit,
        log,
      } as const;
      const result = await signIn.attempt(attempt);
      if (isLoginFailure(result.kind)) return REFUSALS[result.kind];
      switch (result.kind) {
        case 'open':
          return { user: result.login };
        case 'full':
          return FULL;
        case 'fault':
          return FAULT;
      }
    },
  };
}

/** Returns the login of a session; commands of mail are refused before there is one. */
export function loginOf(session: SMTPServerSession): ProtocolLogin {
  return session.user as ProtocolLogin;
}
