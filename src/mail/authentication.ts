// The results of SPF, DKIM, DMARC and ARC for an incoming message, and the signatures of an outgoing one: the interface
// between the gateways that receive and send mail and the code that verifies and signs.

/** The sender in the SMTP session. */
export interface Origin {
  readonly remoteAddress: string;
  /** The name in HELO or EHLO. */
  readonly helo: string;
  /** The reverse-path; '' for the null one. */
  readonly sender: string;
}

export interface Authenticated {
  /** The `Authentication-Results` field, with its line end. */
  readonly field: string;
  /** `junk`, `reject`: the message fails the DMARC policy of its author's domain. */
  readonly disposition: 'accept' | 'junk' | 'reject';
  /** For the log, a word a method: `{ spf: 'pass', dkim: 'none', dmarc: 'pass' }`. */
  readonly summary: Readonly<Record<string, string>>;
  /** Domains for which SPF or a signature passes; lower case. */
  readonly passed: readonly string[];
}

/** The checks of one message, whose header has arrived. */
export interface Checks {
  /** The next octets of the body. */
  write(body: Uint8Array): void;
  /** Once, after the body. Never rejects: an error is a result too. */
  finish(): Promise<Authenticated>;
  /** Instead of `finish`, when the message is refused. */
  abandon(): void;
}

/** `header`: up to the empty line and with it. */
export type Authenticate = (origin: Origin, header: Buffer) => Checks;

/**
 * DKIM-Signature fields of a message, a line end after each; '' when the domain has no keys. `open` gives the
 * message from its first octet and is called at most once. Rejects with StoreFault, and with the errors of reading.
 */
export type Sign = (
  /** The domain that signs; A-labels, lower case. */
  domain: string,
  open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  /** Names the octets of the message, such as their SHA-256: a signature that was made lately is given again. */
  name: string,
) => Promise<string>;
