// The demo that `npm start` shows on a new machine: an account with an API key that stays the same over restarts, a link that signs a browser
// in, and lines to paste that send mail to the account, send mail from it, and list its mail.
import { join } from 'node:path';
import { issueLink } from '../actors/account/sign-in-link.js';
import type { Principal } from '../actors/directory/protocol.js';
import type { DirectoryStore, Scope } from '../store/directory.js';
import { type DataDirectory, writePrivate } from '../store/local/data-directory.js';
import type { SessionStore } from '../store/sessions.js';
import type { Listeners } from './listeners/listeners.js';

export interface Demo {
  readonly email: string;
  readonly apiKey: string;
  /** The token of a link that signs in once. */
  readonly linkToken: string;
}

export interface DemoParts {
  readonly dataDirectory: DataDirectory;
  readonly directory: Pick<DirectoryStore, 'accountByEmail' | 'createAccount' | 'createKey'>;
  authenticate(apiKey: string): Promise<Pick<Principal, 'accountId'> | undefined>;
  readonly sessions: Pick<SessionStore, 'addLink'>;
  /** Returns this many random octets. */
  random(octets: number): Uint8Array;
  mintKey(): { readonly apiKey: string; readonly prefix: string; readonly hash: string };
}

const EMAIL = 'demo@example.test';
const KEY_FILE = 'demo-api-key';
const SCOPES: readonly Scope[] = ['app', 'smtp', 'imap', 'pop3'];

/** Creates account and key when they are missing. The key is in the data directory; only its owner can read the file. */
export async function prepareDemo(parts: DemoParts): Promise<Demo> {
  const { directory, dataDirectory, sessions, random } = parts;
  const found = await directory.accountByEmail(EMAIL);
  const account = found === undefined || found.isUnclaimed ? await directory.createAccount(EMAIL, 'Demo') : found;
  // It is good until it is used.
  const { token: linkToken } = await issueLink(sessions, random, account.id);
  let minted: ReturnType<DemoParts['mintKey']> | undefined;
  const apiKey = dataDirectory.keep(KEY_FILE, () => {
    minted = parts.mintKey();
    return minted.apiKey;
  });
  if (minted === undefined) {
    const principal = await parts.authenticate(apiKey);
    if (principal?.accountId === account.id) return { email: EMAIL, apiKey, linkToken };
    // The key is revoked, or its database is gone.
    minted = parts.mintKey();
    writePrivate(join(dataDirectory.path, KEY_FILE), `${minted.apiKey}\n`);
  }
  const { prefix, hash } = minted;
  await directory.createKey({ accountId: account.id, name: 'Demo', scopes: SCOPES, serviceWide: false, prefix, hash });
  return { email: EMAIL, apiKey: minted.apiKey, linkToken };
}

/** `program`: the name by which a shell calls Mansio. */
export function demoBanner(
  { email, apiKey, linkToken }: Demo,
  { http, mx, submission, imap, pop3 }: Listeners,
  program: string,
): string {
  const lines = ['', 'Mansio is running, as a demo: reachable from this machine only.', ''];
  if (http !== undefined) lines.push(`  HTTP     http://${http}`);
  if (mx !== undefined) lines.push(`  SMTP     smtp://${mx}`);
  if (submission !== undefined) lines.push(`  sending  smtp://${submission}`);
  if (imap !== undefined) lines.push(`  IMAP     imap://${imap}`);
  if (pop3 !== undefined) lines.push(`  POP3     pop3://${pop3}`);
  lines.push(`  account  ${email}`, `  API key  ${apiKey}`, '');
  if (http !== undefined) {
    lines.push('Read its mail in a browser; the link signs in once:', '');
    lines.push(`  http://localhost:${http.slice(http.lastIndexOf(':') + 1)}/link/${linkToken}`, '');
  }
  if (mx !== undefined) {
    lines.push('Send it an email:', '');
    lines.push(
      `  printf 'From: you@example.org\\r\\nTo: ${email}\\r\\nSubject: Hello\\r\\n\\r\\nIt works.\\r\\n' | curl -sS smtp://${mx} --mail-from you@example.org --mail-rcpt ${email} -T -`,
      '',
    );
  }
  if (submission !== undefined) {
    lines.push('Send an email from this account, to itself:', '');
    lines.push(
      `  printf 'From: ${email}\\r\\nTo: ${email}\\r\\nSubject: Sent\\r\\n\\r\\nIt left.\\r\\n' | curl -sS --ssl-reqd -k -u '${email}:${apiKey}' smtp://${submission} --mail-from ${email} --mail-rcpt ${email} -T -`,
      '',
    );
  }
  if (http !== undefined) {
    lines.push('List its inbox:', '', `  curl -sS -H 'Authorization: Bearer ${apiKey}' http://${http}/api/emails`, '');
  }
  if (imap !== undefined) {
    lines.push('Read its newest message over IMAP:', '');
    lines.push(`  curl -sS --ssl-reqd -k -u '${email}:${apiKey}' 'imap://${imap}/INBOX;MAILINDEX=*'`, '');
  }
  lines.push(`Stop with Ctrl-C. Settings: ${program} config`, '');
  return lines.join('\n');
}
