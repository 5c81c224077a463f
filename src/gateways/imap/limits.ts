// What one IMAP connection, one address and the whole listener may use up.

export interface ImapLimits {
  readonly connections: number;
  /** Of one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  readonly connectionsPerAccount: number;
  /** ms between commands (RFC 9051 §5.4: at least 30 minutes), and of IDLE. */
  readonly idleMs: number;
  /** ms between the lines that an IDLE sends while nothing happens: routers forget connections that are quiet. */
  readonly heartbeatMs: number;
  /** ms from the start of a connection to the login. */
  readonly loginMs: number;
  /** The same from half of the listener's connections on. */
  readonly stressLoginMs: number;
  readonly handshakeMs: number;
  /** Octets of one command without the literals of messages; before the login it has fewer. */
  readonly commandOctets: number;
  readonly unauthenticatedCommandOctets: number;
  /** Octets of one line. */
  readonly lineOctets: number;
  /** Octets of a literal that is not a message. */
  readonly literalOctets: number;
  /**
   * Octets of commands with literals of all clients together, as many of searches that are kept up to date, and as many of what is known
   * of messages that wait for the others of their command.
   */
  readonly heldOctets: number;
  readonly heldOctetsPerAccount: number;
  /** Of lists and search keys within each other. */
  readonly nesting: number;
  readonly searchKeys: number;
  /** Ranges of one set. */
  readonly sequenceRanges: number;
  /** Refused commands in a row that end the connection. */
  readonly errors: number;
  /** Failed logins of a connection; the last one ends it. */
  readonly authFailures: number;
  /** ms for which a login holds before it is asked for again, should a revocation have got lost. */
  readonly heldMs: number;
  /** Octets of an APPEND that earn a second; reading begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
  /** ms a trusted proxy has for its PROXY header. */
  readonly proxyHeaderMs: number;
}

export const DEFAULT_LIMITS: ImapLimits = {
  connections: 20_000,
  connectionsPerAddress: 200,
  connectionsPerAccount: 100,
  idleMs: 31 * 60_000,
  heartbeatMs: 2 * 60_000,
  // Programs connect before they ask their user for a key.
  loginMs: 180_000,
  stressLoginMs: 60_000,
  handshakeMs: 30_000,
  commandOctets: 1_048_576,
  // ID with 30 pairs of the longest names and values, each octet of them escaped (RFC 2971 §3.3).
  unauthenticatedCommandOctets: 65_536,
  lineOctets: 65_536,
  literalOctets: 262_144,
  heldOctets: 134_217_728,
  heldOctetsPerAccount: 16_777_216,
  nesting: 50,
  searchKeys: 2_000,
  sequenceRanges: 100_000,
  errors: 20,
  authFailures: 10,
  heldMs: 30_000,
  minRate: 500,
  minRateGraceMs: 60_000,
  proxyHeaderMs: 2000,
};
