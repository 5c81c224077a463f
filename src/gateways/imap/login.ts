// The replies of IMAP to logins (RFC 5530).
import type { LoginReplies } from '../../auth/listener-logins.js';
import { bad, type Completion, no } from './completion.js';
import { completionOf } from './faults.js';

export const LOGIN_SCOPES = ['imap', 'app'] as const;

export const LOGIN_REPLIES: LoginReplies<Completion> = {
  wrong: no('Credentials invalid', 'AUTHENTICATIONFAILED'),
  scopeMissing: no('The API key needs the scope imap or app', 'AUTHORIZATIONFAILED'),
  limited: no('Too many wrong credentials, try again later', 'LIMIT'),
  full: no('Too many connections of your account', 'LIMIT'),
  needsTls: no('Encryption required, use STARTTLS first', 'PRIVACYREQUIRED'),
  notOffered: no('Mechanism not offered', 'CANNOT'),
  malformed: bad('Malformed response'),
  cancelled: bad('Authentication cancelled'),
  fault: completionOf,
};
