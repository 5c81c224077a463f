// What one SMTP connection, one address and the whole listener may use (decision 0011). Values follow Postfix's defaults.

export interface SmtpLimits {
  /** Recipients per message; further ones get 452 4.5.3 (RFC 5321 §4.5.3.1.8 wants at least 100). */
  readonly recipients: number;
  /** Refused commands since the last accepted message; then 421 4.7.0. */
  readonly errors: number;
  /** NOOP, RSET, VRFY, HELP, HELO and EHLO since the last accepted message; each further one counts as an error. */
  readonly junkCommands: number;
  /** ms between a reply and the peer's next whole command (RFC 5321 §4.5.3.2.7), and the most time that octets of DATA earn. */
  readonly idleMs: number;
  /** `idleMs` under stress. */
  readonly stressIdleMs: number;
  /** The number of connections from which the listener is under stress. */
  readonly stressConnections: number;
  /**
   * ms since the last command or reply after which a draining listener expects nothing more. A peer that was just answered may
   * already have sent MAIL, which is better accepted than refused.
   */
  readonly quietMs: number;
  /** `quietMs` outside of a transaction when the listener stops; enough between near machines. */
  readonly stoppingQuietMs: number;
  /** ms from the start of a connection until its login, where AUTH is needed. */
  readonly loginMs: number;
  /** `loginMs` while half of the listener's connections or more are open. */
  readonly stressLoginMs: number;
  /** ms for a TLS handshake. */
  readonly handshakeMs: number;
  /** Octets of DATA that earn one second; a message begins with `minRateGraceMs`. */
  readonly minRate: number;
  readonly minRateGraceMs: number;
  /** Failed logins per connection; the last one gets 421 4.7.0. */
  readonly authFailures: number;
  /** Open connections from one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  readonly connections: number;
  /** Open connections that are logged in to one account. */
  readonly connectionsPerAccount: number;
  /** Octets of a command line; a longer one gets 500 5.5.2 and ends the connection. */
  readonly commandLength: number;
  /** `commandLength` of AUTH and the lines that follow it, where it is offered (RFC 4954 §4). */
  readonly authLength: number;
  /** Octets of a message's header that are checked for the origin of the message. */
  readonly headerSize: number;
  /** ms before the banner; a client that speaks earlier is no mail server and is refused. */
  readonly greetDelayMs: number;
  /** ms for which a network stays on the pass list after a message from it was accepted (Postfix: postscreen_greet_ttl). */
  readonly passListMs: number;
  /** Networks on the pass list; the least recently used one is removed first. */
  readonly passListNetworks: number;
  /**
   * ms that a trusted proxy has to send its PROXY header. After that the connection counts as the proxy's own: health checks
   * send nothing and wait for the banner.
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
  // Mail programs connect before they ask their user for a key.
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
