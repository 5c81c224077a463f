// What one ManageSieve connection, one address and the whole listener may use.

import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '../sessions/limits.js';

export interface SieveLimits extends SessionLimits {
  /** ms between commands (RFC 5804 §1.5: at least 30 minutes). */
  readonly idleMs: number;
  /** Octets of one command with its literals. */
  readonly commandOctets: number;
  /** The same before the login: a SASL token has up to 12,288. */
  readonly unauthenticatedCommandOctets: number;
  /** Octets of a literal that is refused and passed over; a longer one ends the connection. */
  readonly skippedOctets: number;
  /** Octets of commands with literals, of all connections together. */
  readonly bufferedOctets: number;
  /** The same for one account or, before the login, one network. */
  readonly bufferedOctetsPerAccount: number;
  /** Octets of a literal that earn one second; reading begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
}

export const DEFAULT_LIMITS: SieveLimits = {
  ...DEFAULT_SESSION_LIMITS,
  connections: 5_000,
  connectionsPerAccount: 20,
  idleMs: 31 * 60_000,
  lineOctets: 16_384,
  // A script of 64 kB, its name, and what surrounds them.
  commandOctets: 70_000,
  unauthenticatedCommandOctets: 20_000,
  skippedOctets: 1_048_576,
  bufferedOctets: 33_554_432,
  bufferedOctetsPerAccount: 1_048_576,
  minRate: 500,
  minRateGraceMs: 60_000,
};
