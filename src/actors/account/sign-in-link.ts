// Links for one sign-in, as text: the token has 256 random bits, so its SHA-256 is as good as a slow hash. The operator makes links
// (`mansio account link`), so does the demo, and a session makes one for another device; `sessions.ts` redeems them.
import { createHash } from 'node:crypto';
import type { SessionStore } from '../../store/sessions.js';
import type { IssuedSessionLink } from './protocol.js';

/** How long a link that an operator makes is good. */
export const LINK_MS = 15 * 60_000;
/** How long a link that a session makes is good. */
const SESSION_LINK_MS = 10 * 60_000;
/** The links of one account that the operator makes, and those that its sessions make; a further one ends the oldest of its kind. */
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
  const token = newToken(random);
  return { token, expiresAt: await store.addLink(accountId, digest(token), lifetimeMs, MOST_LINKS) };
}

/** Undefined when the account has no such session, or it was ended. `makerId`: the session that makes the link. */
export async function issueSessionLink(
  store: Pick<SessionStore, 'addSessionLink'>,
  random: (octets: number) => Uint8Array,
  accountId: string,
  makerId: string,
): Promise<IssuedSessionLink | undefined> {
  const token = newToken(random);
  const added = { accountId, makerId, hash: digest(token), lifetimeMs: SESSION_LINK_MS };
  const link = await store.addSessionLink(added, MOST_LINKS);
  return link && { ...link, token, expiresInSeconds: SESSION_LINK_MS / 1_000 };
}

/** The hash by which the store knows the link; undefined when the text is no token. */
export function linkHash(token: string): string | undefined {
  return FORM.test(token) ? digest(token) : undefined;
}

const newToken = (random: (octets: number) => Uint8Array): string =>
  Buffer.from(random(TOKEN_OCTETS)).toString('base64url');

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');
