// What one IMAP connection, one address and the whole listener may use.

import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '../sessions/limits.js';

export interface ImapLimits extends SessionLimits {
  /** ms between commands, and of IDLE (RFC 9051 §5.4: at least 30 minutes). */
  readonly idleMs: number;
  /** ms between the lines that IDLE sends while nothing happens, because routers drop quiet connections. */
  readonly heartbeatMs: number;
  /** Octets of one command without the literals of messages; fewer are allowed before the login. */
  readonly commandOctets: number;
  readonly unauthenticatedCommandOctets: number;
  /** Octets of a literal that is not a message. */
  readonly literalOctets: number;
  /**
   * Octets of all clients together, separately for three uses: commands with literals, searches that are kept up to date, and data
   * about messages that wait for the others of their command.
   */
  readonly bufferedOctets: number;
  readonly bufferedOctetsPerAccount: number;
  /** The nesting depth of lists and search keys. */
  readonly nesting: number;
  readonly searchKeys: number;
  /** Ranges of one set. */
  readonly sequenceRanges: number;
  /** Octets of an APPEND that earn one second; reading begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
}

export const DEFAULT_LIMITS: ImapLimits = {
  ...DEFAULT_SESSION_LIMITS,
  connections: 20_000,
  connectionsPerAccount: 100,
  idleMs: 31 * 60_000,
  heartbeatMs: 2 * 60_000,
  commandOctets: 1_048_576,
  // Fits an ID with 30 pairs of the longest names and values, each octet of them escaped (RFC 2971 §3.3).
  unauthenticatedCommandOctets: 65_536,
  lineOctets: 65_536,
  literalOctets: 262_144,
  bufferedOctets: 134_217_728,
  bufferedOctetsPerAccount: 16_777_216,
  nesting: 50,
  searchKeys: 2_000,
  sequenceRanges: 100_000,
  minRate: 500,
  minRateGraceMs: 60_000,
};
