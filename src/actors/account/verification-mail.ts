// The mail that asks whoever reads an address to verify it, with the link of routes/account/address-verification.ts. It names the account by
// its address alone: a display name would be text that anybody can have sent to strangers.
import { createHash } from 'node:crypto';
import { foldText } from '../../mail-format/reports/report-text.js';
import { writeServerMail } from '../../mail-format/reports/server-mail.js';

const TOKEN_OCTETS = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;
/** How long a link is good. */
export const VERIFICATION_MS = 48 * 3_600_000;

export interface VerificationMail {
  /** The address that is to be verified. */
  readonly address: string;
  /** The address of the account that asks. */
  readonly account: string;
  readonly link: string;
}

/** The token has 256 random bits, so its SHA-256 is as good as a slow hash. */
export function newToken(random: (octets: number) => Uint8Array): { readonly token: string; readonly hash: string } {
  const token = Buffer.from(random(TOKEN_OCTETS)).toString('base64url');
  return { token, hash: digest(token) };
}

/** The hash by which the store knows the token; undefined when the text is no token. */
export function tokenHash(token: string): string | undefined {
  return FORM.test(token) ? digest(token) : undefined;
}

/** The address of the page that verifies; `publicUrl` may have a path. */
export function verificationLink(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/verify?token=${token}`;
}

/** `from`: the address of the operator; `id`: a UUID; `now`: ms since the epoch. */
export function writeVerificationMail(
  { address, account, link }: VerificationMail,
  {
    from,
    hostname,
    id,
    now,
  }: { readonly from: string; readonly hostname: string; readonly id: string; readonly now: number },
): Uint8Array {
  return writeServerMail({
    name: ['Mail', 'Server'],
    ...{ from, to: address, subject: 'Please confirm your address', hostname, id, now, isPlaced: false },
    paragraphs: [
      foldText(`${account} asks that mail may be forwarded to ${address}.`),
      foldText('If this is you, or you agree, open this link within 48 hours and confirm:'),
      link,
      foldText('If you do not know about this, do nothing: without the confirmation nothing is forwarded to you.'),
    ],
  });
}

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');
