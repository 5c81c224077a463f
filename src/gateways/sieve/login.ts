// The replies of ManageSieve to logins (RFC 5804 §1.3).
import type { LoginReplies } from '../../auth/listener-logins.js';
import { replyOf } from './faults.js';
import { no, type SieveReply } from './replies.js';

export const LOGIN_SCOPES = ['imap', 'app'] as const;

export const LOGIN_REPLIES: LoginReplies<SieveReply> = {
  wrong: no('Credentials invalid'),
  scopeMissing: no('The API key needs the scope imap or app'),
  limited: no('Too many wrong credentials, try again later', 'TRYLATER'),
  full: no('Too many connections of your account', 'TRYLATER'),
  needsTls: no('Encryption required, use STARTTLS first', 'ENCRYPT-NEEDED'),
  notOffered: no('Mechanism not offered'),
  malformed: no('Malformed response'),
  cancelled: no('Authentication cancelled'),
  fault: replyOf,
};
