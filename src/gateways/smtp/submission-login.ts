// The replies of submission to logins (RFC 4954 §6), and the login of a session.
import type { Logger } from 'pino';
import type { SMTPServerSession } from 'smtp-server';
import { ListenerLogins, type LoginReplies } from '../../auth/listener-logins.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { SignIn } from '../../auth/sign-in.js';
import type { SmtpReply } from './replies.js';

interface SubmissionLoginOptions {
  readonly signIn: Pick<SignIn, 'attempt' | 'mechanisms'>;
  readonly allowPlaintextAuth: boolean;
  readonly log: Logger;
}

const FAULT: SmtpReply = { code: 454, text: '4.7.0 Credentials cannot be checked now, try again later' };

const REPLIES: LoginReplies<SmtpReply> = {
  wrong: { code: 535, text: '5.7.8 Authentication credentials invalid' },
  scopeMissing: { code: 535, text: '5.7.8 The API key needs the scope smtp' },
  limited: { code: 454, text: '4.7.0 Too many wrong credentials, try again later' },
  full: { code: 421, text: '4.7.0 Too many connections of your account' },
  needsTls: { code: 538, text: '5.7.11 Encryption required, use STARTTLS first' },
  notOffered: { code: 504, text: '5.5.4 Mechanism not offered' },
  // RFC 4954 §4: invalid base64 gets 5.5.2.
  malformed: { code: 501, text: '5.5.2 Malformed response' },
  cancelled: { code: 501, text: '5.7.0 Authentication cancelled' },
  fault: () => FAULT,
};

export function submissionLogins(options: SubmissionLoginOptions): ListenerLogins<SmtpReply> {
  return new ListenerLogins({
    ...options,
    protocol: 'submission',
    scopes: ['smtp'],
    replies: REPLIES,
    cancelsAfterFailure: true,
  });
}

/** Returns the login of a session; commands of mail are refused before there is one. */
export function loginOf(session: SMTPServerSession): ProtocolLogin {
  return session.user as ProtocolLogin;
}
