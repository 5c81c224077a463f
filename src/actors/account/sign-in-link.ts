// Links for one sign-in, as text: the token has 256 random bits, so its SHA-256 is as good as a slow hash. The operator makes links
// (`mansio account link`), and so does the demo; `sessions.ts` redeems them.
import { createHash } from 'node:crypto';
import type { SessionStore } from '../../store/sessions.js';

/** How long a link that an operator makes is good. */
export const LINK_MS = 15 * 60_000;
/** The links of one account; a further one ends the oldest. */
const MOST_LINKS = 10;
const TOKEN_OCTETS = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

export interface IssuedLink {
  readonly token: string;
  /** Undefined: the link is good until it is used. */
  readonly expiresAt: Date | undefined;
}

/** `lifetimeMs`: absent for a link that is good until it is used. */
export async function issueLink(
  store: Pick<SessionStore, 'addLink'>,
  random: (octets: number) => Uint8Array,
  accountId: string,
  lifetimeMs?: number,
): Promise<IssuedLink> {
  const token = Buffer.from(random(TOKEN_OCTETS)).toString('base64url');
  return { token, expiresAt: await store.addLink(accountId, digest(token), lifetimeMs, MOST_LINKS) };
}

/** The hash by which the store knows the link; undefined when the text is no token. */
export function linkHash(token: string): string | undefined {
  return FORM.test(token) ? digest(token) : undefined;
}

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');
