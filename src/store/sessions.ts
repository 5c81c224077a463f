// Port: sessions of the page, and links for one sign-in. A session is an API key for the cookie of a browser; nodes find its account as that
// of any key (store/directory.ts).
import type { MintedKey } from './directory.js';

const DAY_MS = 24 * 3_600_000;
/** A session that is not used ends after this time. */
export const SESSION_IDLE_MS = 30 * DAY_MS;
/** A session ends after this time, however much it is used. */
export const SESSION_AGE_MS = 180 * DAY_MS;

interface SessionTimes {
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** A session of the page, without its key. */
export interface PageSession extends SessionTimes {
  readonly id: string;
  readonly accountId: string;
  /** The User-Agent field of the browser that signed in. */
  readonly userAgent: string;
}

/** How the user has proven who they are, other than with an API key. */
export type SignInProof = 'passkey' | 'login' | 'link';

export interface NewSession extends MintedKey {
  readonly userAgent: string;
  /** Absent: the browser has signed in with an API key. */
  readonly proof?: SignInProof | undefined;
  /** The session that the browser had until now: it ends with the same commit. */
  readonly replaces?: string | undefined;
}

/** A link that a session makes, so that another device signs in. */
export interface NewSessionLink {
  /** The account of the session. */
  readonly accountId: string;
  /** The session that makes the link. */
  readonly makerId: string;
  /** SHA-256 of the token, 64 hex digits. */
  readonly hash: string;
  readonly lifetimeMs: number;
}

export interface SessionLink {
  /** The id of the session that the link makes. */
  readonly sessionId: string;
  readonly expiresAt: Date;
}

/** The account that a link signs in. */
export interface LinkAccount {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
}

export interface SessionStore {
  /** Ends the sessions that were used least recently, so that at most `limit` remain. Undefined when there is no such account. */
  create(accountId: string, limit: number, session: NewSession): Promise<PageSession | undefined>;
  /** Sessions that were not ended, newest first; some may have ended by their age. */
  list(accountId: string): Promise<readonly PageSession[]>;
  /** False when the account has no such session, or it was ended before. */
  end(accountId: string, id: string): Promise<boolean>;
  /**
   * Whether the user has given a proof at most `maxAgeMs` ago, with which the session began, or the one whose link has made it; and the
   * session was not ended.
   */
  isProven(accountId: string, id: string, maxAgeMs: number): Promise<boolean>;
  /** Deletes the rows of sessions that ended longer ago; returns how many. The accounts keep the time of their last use. */
  dropEnded(maxAgeMs: number): Promise<number>;
  /**
   * Adds a link of the operator, which is good for `lifetimeMs`, or until it is used. Only the newest `limit` links of the operator for
   * the account stay. Returns the time at which the link expires. `hash`: SHA-256 of its token, 64 hex digits.
   */
  addLink(accountId: string, hash: string, lifetimeMs: number | undefined, limit: number): Promise<Date | undefined>;
  /**
   * Adds the link in the place of the one that the session made before. Only the newest `limit` links of sessions of the account stay.
   * Undefined when the account has no such session, or it was ended.
   */
  addSessionLink(link: NewSessionLink, limit: number): Promise<SessionLink | undefined>;
  /** False when the account has no link that makes this session. */
  withdrawLink(accountId: string, sessionId: string): Promise<boolean>;
  /** Undefined when the link does not exist, was used, or has expired, or the session that has made it has ended. */
  accountOfLink(hash: string): Promise<LinkAccount | undefined>;
  /**
   * Uses the link up and creates the session, in one step. The session has the proof `link`, or that of the session that has made the link,
   * with its time. Undefined as for `accountOfLink`; then no session is created or ended.
   */
  redeemLink(hash: string, limit: number, session: Omit<NewSession, 'proof'>): Promise<PageSession | undefined>;
}

/** The time at which a session ends by itself, in ms since the epoch. */
export function sessionEnd({ createdAt, lastUsedAt }: SessionTimes): number {
  return Math.min(createdAt.getTime() + SESSION_AGE_MS, lastUsedAt.getTime() + SESSION_IDLE_MS);
}
