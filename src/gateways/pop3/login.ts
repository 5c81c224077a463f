// The replies of POP3 to logins (RFC 3206).
import type { LoginReplies } from '../../auth/listener-logins.js';
import { replyOf } from './faults.js';
import { err, type Pop3Reply } from './replies.js';

export const LOGIN_SCOPES = ['pop3', 'app'] as const;

export const LOGIN_REPLIES: LoginReplies<Pop3Reply> = {
  wrong: err('Credentials invalid', 'AUTH'),
  scopeMissing: err('The API key needs the scope pop3 or app', 'AUTH'),
  limited: err('Too many wrong credentials, try again later', 'SYS/TEMP'),
  full: err('Too many connections of your account', 'SYS/TEMP'),
  needsTls: err('Encryption required, use STLS first'),
  notOffered: err('Mechanism not offered'),
  malformed: err('Malformed response'),
  cancelled: err('Authentication cancelled'),
  fault: replyOf,
};
