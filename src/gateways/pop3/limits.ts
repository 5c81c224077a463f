// What one POP3 connection, one address and the whole listener may use.

export interface Pop3Limits {
  readonly connections: number;
  /** Connections from one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  /** Connections of one account. Only one has the maildrop at a time; the others are logging in or ending. */
  readonly connectionsPerAccount: number;
  /** ms between commands (RFC 1939 §3: at least 10 minutes). */
  readonly idleMs: number;
  /** ms from the start of a connection until its login. */
  readonly loginMs: number;
  /** `loginMs` while half of the listener's connections or more are open. */
  readonly stressLoginMs: number;
  readonly handshakeMs: number;
  /** The longest line in octets: a SASL token has up to 12,288 (RFC 5034 §4). */
  readonly lineOctets: number;
  /** The number of refused commands in a row that ends the connection. */
  readonly errors: number;
  /** Failed logins per connection; the last one ends it. */
  readonly authFailures: number;
  /** ms until a login is checked again, because the event of a revocation may be lost. */
  readonly recheckMs: number;
  /** ms between renewals of the locks on maildrops; a lock that is not renewed expires after three of them. */
  readonly renewMs: number;
  /** ms that a trusted proxy has to send its PROXY header. */
  readonly proxyHeaderMs: number;
}

export const DEFAULT_LIMITS: Pop3Limits = {
  connections: 10_000,
  connectionsPerAddress: 200,
  connectionsPerAccount: 20,
  idleMs: 10 * 60_000,
  // Mail programs connect before they ask their user for a key.
  loginMs: 180_000,
  stressLoginMs: 60_000,
  handshakeMs: 30_000,
  lineOctets: 16_384,
  errors: 20,
  authFailures: 10,
  recheckMs: 30_000,
  renewMs: 5_000,
  proxyHeaderMs: 2000,
};
