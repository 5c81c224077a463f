// What one SMTP connection, one address and the whole listener may use up (decision 0011). Values follow what Postfix ships.

export interface SmtpLimits {
  /** Recipients of one message; beyond: 452 4.5.3 (RFC 5321 §4.5.3.1.8 wants at least 100). */
  readonly recipients: number;
  /** Refused commands since the last accepted message; then 421 4.7.0. */
  readonly errors: number;
  /** NOOP, RSET, VRFY, HELP, HELO and EHLO since the last accepted message; each one more counts as an error. */
  readonly junkCommands: number;
  /** ms between a reply and the peer's next whole command (RFC 5321 §4.5.3.2.7), and the most that octets of DATA earn. */
  readonly idleMs: number;
  /** The same under stress. */
  readonly stressIdleMs: number;
  /** Connections from which on the listener is under stress. */
  readonly stressConnections: number;
  /**
   * ms since the last command or reply after which nothing more seems to be on its way, when the listener drains. A peer that
   * was just answered may have sent MAIL already, which is better taken than refused.
   */
  readonly quietMs: number;
  /** The same when it stops, outside of a transaction: between machines that are near. */
  readonly stoppingQuietMs: number;
  /** ms from the start of a connection to the login, where AUTH is needed. */
  readonly loginMs: number;
  /** The same from half of the listener's connections on. */
  readonly stressLoginMs: number;
  /** ms for a TLS handshake. */
  readonly handshakeMs: number;
  /** Octets of DATA that earn a second; a message begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
  /** Failed logins of a connection; the last one gets 421 4.7.0. */
  readonly authFailures: number;
  /** Open connections of one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  readonly connections: number;
  /** Open connections that one account has logged in on. */
  readonly connectionsPerAccount: number;
  /** Octets of a command line; longer: 500 5.5.2 and the end. */
  readonly commandLength: number;
  /** The same of AUTH and the lines that follow it, where it is offered (RFC 4954 §4). */
  readonly authLength: number;
  /** Octets of a message's header that are looked at for where it comes from. */
  readonly headerSize: number;
  /** ms before the banner; who speaks earlier is no mail server and is sent away. */
  readonly greetDelayMs: number;
  /** ms for which a network that a message was accepted from is on the pass list: it gets the banner at once (Postfix: postscreen_greet_ttl). */
  readonly passListMs: number;
  /** Networks on the pass list; the one unused for longest is forgotten first. */
  readonly passListNetworks: number;
  /**
   * ms a trusted proxy has for its PROXY header, which it sends at once if it sends one. Then it speaks for itself: health
   * checks wait for the banner, and would do so for ever.
   */
  readonly proxyHeaderMs: number;
}

export const DEFAULT_LIMITS: SmtpLimits = {
  recipients: 1000,
  errors: 20,
  junkCommands: 100,
  idleMs: 300_000,
  stressIdleMs: 10_000,
  stressConnections: 4000,
  quietMs: 1000,
  stoppingQuietMs: 250,
  // Programs connect before they ask their user for a key.
  loginMs: 180_000,
  stressLoginMs: 60_000,
  handshakeMs: 30_000,
  minRate: 500,
  minRateGraceMs: 60_000,
  authFailures: 10,
  connectionsPerAddress: 50,
  connections: 5000,
  connectionsPerAccount: 100,
  commandLength: 2048,
  authLength: 12_288,
  headerSize: 524_288,
  greetDelayMs: 100,
  passListMs: 86_400_000,
  passListNetworks: 10_000,
  proxyHeaderMs: 2000,
};
