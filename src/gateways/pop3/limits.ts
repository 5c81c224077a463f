// What one POP3 connection, one address and the whole listener may use up.

export interface Pop3Limits {
  readonly connections: number;
  /** Of one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  /** Only one of them has the maildrop at a time; the others are on their way in or out. */
  readonly connectionsPerAccount: number;
  /** ms between commands (RFC 1939 §3: at least 10 minutes). */
  readonly idleMs: number;
  /** ms from the start of a connection to the login. */
  readonly loginMs: number;
  /** The same from half of the listener's connections on. */
  readonly stressLoginMs: number;
  readonly handshakeMs: number;
  /** Octets of one line: a token of SASL has up to 12,288 (RFC 5034 §4). */
  readonly lineOctets: number;
  /** Refused commands in a row that end the connection. */
  readonly errors: number;
  /** Failed logins of a connection; the last one ends it. */
  readonly authFailures: number;
  /** ms for which a login holds before it is asked for again, should a revocation have got lost. */
  readonly heldMs: number;
  /** ms between renewals of the locks of maildrops; a lock that is not renewed expires after three of them. */
  readonly renewMs: number;
  /** ms a trusted proxy has for its PROXY header. */
  readonly proxyHeaderMs: number;
}

export const DEFAULT_LIMITS: Pop3Limits = {
  connections: 10_000,
  connectionsPerAddress: 200,
  connectionsPerAccount: 20,
  idleMs: 10 * 60_000,
  // Programs connect before they ask their user for a key.
  loginMs: 180_000,
  stressLoginMs: 60_000,
  handshakeMs: 30_000,
  lineOctets: 16_384,
  errors: 20,
  authFailures: 10,
  heldMs: 30_000,
  renewMs: 5_000,
  proxyHeaderMs: 2000,
};
