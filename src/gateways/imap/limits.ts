// What one IMAP connection, one address and the whole listener may use.

export interface ImapLimits {
  readonly connections: number;
  /** Connections from one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  readonly connectionsPerAccount: number;
  /** ms between commands, and of IDLE (RFC 9051 §5.4: at least 30 minutes). */
  readonly idleMs: number;
  /** ms between the lines that IDLE sends while nothing happens, because routers drop quiet connections. */
  readonly heartbeatMs: number;
  /** ms from the start of a connection until its login. */
  readonly loginMs: number;
  /** `loginMs` while half of the listener's connections or more are open. */
  readonly stressLoginMs: number;
  readonly handshakeMs: number;
  /** Octets of one command without the literals of messages; fewer are allowed before the login. */
  readonly commandOctets: number;
  readonly unauthenticatedCommandOctets: number;
  /** Octets of one line. */
  readonly lineOctets: number;
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
  /** The number of refused commands in a row that ends the connection. */
  readonly errors: number;
  /** Failed logins per connection; the last one ends it. */
  readonly authFailures: number;
  /** ms until a login is checked again, because the event of a revocation may be lost. */
  readonly recheckMs: number;
  /** Octets of an APPEND that earn one second; reading begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
  /** ms that a trusted proxy has to send its PROXY header. */
  readonly proxyHeaderMs: number;
}

export const DEFAULT_LIMITS: ImapLimits = {
  connections: 20_000,
  connectionsPerAddress: 200,
  connectionsPerAccount: 100,
  idleMs: 31 * 60_000,
  heartbeatMs: 2 * 60_000,
  // Mail programs connect before they ask their user for a key.
  loginMs: 180_000,
  stressLoginMs: 60_000,
  handshakeMs: 30_000,
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
  errors: 20,
  authFailures: 10,
  recheckMs: 30_000,
  minRate: 500,
  minRateGraceMs: 60_000,
  proxyHeaderMs: 2000,
};
