// What every listener of IMAP or POP3, its connections and their addresses may use; each protocol adds its own limits.
import type { ConnectionLimitOptions } from '../../net/tcp/connection-limits.js';
import type { ConnectionTimes } from '../../net/tcp/line-connection.js';

export interface SessionLimits extends ConnectionLimitOptions, Omit<ConnectionTimes, 'minRate' | 'minRateGraceMs'> {
  /** Octets of one line. */
  readonly lineOctets: number;
  /** The number of refused commands in a row that ends the connection. */
  readonly errors: number;
  /** Failed logins per connection; the last one ends it. */
  readonly authFailures: number;
  /** ms until a login is checked again, because the event of a revocation may be lost. */
  readonly recheckMs: number;
  /** ms that a trusted proxy has to send its PROXY header. */
  readonly proxyHeaderMs: number;
}

/** The limits with the same value in all protocols. */
export const DEFAULT_SESSION_LIMITS = {
  connectionsPerAddress: 200,
  // Mail programs connect before they ask their user for a key.
  loginMs: 180_000,
  stressLoginMs: 60_000,
  handshakeMs: 30_000,
  errors: 20,
  authFailures: 10,
  recheckMs: 30_000,
  proxyHeaderMs: 2000,
};
