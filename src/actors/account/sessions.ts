// Sessions of the page as their account manages them. `actors/directory` finds the account of a session, as of any API key; the store and
// `node/engine/revocations` make an ended session fail at once everywhere.
import { SESSION_AGE_MS, type SessionStore, sessionEnd } from '../../store/sessions.js';
import { newApiKey } from '../directory/api-key.js';
import type { KeyUses } from '../directory/key-uses.js';
import type { Sessions } from './protocol.js';
import { issueSessionLink, linkHash } from './sign-in-link.js';

/** The live sessions of one account; a further one ends the one that was used least recently. */
const MOST_SESSIONS = 100;

/** How long a sign-in counts as a fresh proof of who the user is. */
const FRESH_MS = 15 * 60_000;

export interface SessionsOptions {
  readonly store: SessionStore;
  readonly keyUses: Pick<KeyUses, 'last'>;
  /** Returns this many random octets. */
  readonly random: (octets: number) => Uint8Array;
  /** ms since the epoch, by which sessions end. */
  readonly time: () => number;
}

export function createSessions({ store, keyUses, random, time }: SessionsOptions): Sessions {
  return {
    async create(accountId, { userAgent, proof, replaces }) {
      const { apiKey: token, ...minted } = newApiKey(random);
      const session = await store.create(accountId, MOST_SESSIONS, { ...minted, userAgent, proof, replaces });
      return session && { ...session, token };
    },

    async list(accountId) {
      const sessions = await store.list(accountId);
      return sessions
        .map((session) => ({ ...session, lastUsedAt: keyUses.last(session.id) ?? session.lastUsedAt }))
        .filter((session) => sessionEnd(session) > time());
    },

    end: (accountId, id) => store.end(accountId, id),

    isFreshlyProven: (accountId, id) => store.isProven(accountId, id, FRESH_MS),
    isProven: (accountId, id) => store.isProven(accountId, id, SESSION_AGE_MS),

    makeLink: (accountId, id) => issueSessionLink(store, random, accountId, id),
    withdrawLink: (accountId, sessionId) => store.withdrawLink(accountId, sessionId),

    async accountOfLink(token) {
      const hash = linkHash(token);
      return hash === undefined ? undefined : store.accountOfLink(hash);
    },

    async redeemLink(link, { userAgent, replaces }) {
      const hash = linkHash(link);
      if (hash === undefined) return undefined;
      const { apiKey: token, ...minted } = newApiKey(random);
      const session = await store.redeemLink(hash, MOST_SESSIONS, { ...minted, userAgent, replaces });
      return session && { ...session, token };
    },
  };
}
