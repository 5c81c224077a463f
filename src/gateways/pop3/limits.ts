// What one POP3 connection, one address and the whole listener may use.

import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '../sessions/limits.js';

export interface Pop3Limits extends SessionLimits {
  /** Connections of one account. Only one has the maildrop at a time; the others are logging in or ending. */
  readonly connectionsPerAccount: number;
  /** ms between commands (RFC 1939 §3: at least 10 minutes). */
  readonly idleMs: number;
  /** The longest line in octets: a SASL token has up to 12,288 (RFC 5034 §4). */
  readonly lineOctets: number;
  /** ms between renewals of the locks on maildrops; a lock that is not renewed expires after three of them. */
  readonly renewMs: number;
}

export const DEFAULT_LIMITS: Pop3Limits = {
  ...DEFAULT_SESSION_LIMITS,
  connections: 10_000,
  connectionsPerAccount: 20,
  idleMs: 10 * 60_000,
  lineOctets: 16_384,
  renewMs: 5_000,
};
