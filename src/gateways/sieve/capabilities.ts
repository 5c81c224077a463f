// The capabilities of the server (RFC 5804 §1.7), which it sends with its greeting, after STARTTLS, and on CAPABILITY.
import { SIEVE_EXTENSIONS, SIEVE_REDIRECTS } from '../../mail-format/sieve/index.js';
import { stringOf } from './replies.js';
import type { SieveSession } from './session.js';

const EXTENSIONS = SIEVE_EXTENSIONS.join(' ');

/** Returns the lines; each character is one octet. */
export function capabilities(session: SieveSession): string {
  const { logins, isSecure, isLoggedIn, context } = session;
  // The version is hidden before the login, because it helps to look for servers with known faults.
  const lines: (readonly [name: string, value?: string])[] = [
    ['IMPLEMENTATION', `Mansio${isLoggedIn ? ` ${context.version}` : ''}`],
    ['SIEVE', EXTENSIONS],
    ['MAXREDIRECTS', String(SIEVE_REDIRECTS)],
    ['SASL', logins.mayShowCredentials(session) ? logins.mechanisms.filter((name) => name !== 'LOGIN').join(' ') : ''],
  ];
  if (!isSecure && !isLoggedIn) lines.push(['STARTTLS']);
  if (isLoggedIn) lines.push(['OWNER', session.login.principal.email], ['UNAUTHENTICATE']);
  lines.push(['VERSION', '1.0']);
  return lines
    .map(([name, value]) => `${stringOf(name)}${value === undefined ? '' : ` ${stringOf(value)}`}\r\n`)
    .join('');
}
