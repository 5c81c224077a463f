// What is found out about a message's origin while it arrives, and what is said of it when it leaves: between the gateways
// that take mail in and carry it, and the one that knows SPF, DKIM, DMARC and ARC.

/** Who sends, as SMTP saw it. */
export interface Origin {
  readonly remoteAddress: string;
  /** What the peer said in HELO or EHLO. */
  readonly helo: string;
  /** The reverse-path; '' for the null one. */
  readonly sender: string;
}

export interface Authenticated {
  /** The `Authentication-Results` field, with its line end. */
  readonly field: string;
  /** `junk`, `reject`: it fails what the owner of its author's domain demands. */
  readonly disposition: 'accept' | 'junk' | 'reject';
  /** For the log, a word a method: `{ spf: 'pass', dkim: 'none', dmarc: 'pass' }`. */
  readonly summary: Readonly<Record<string, string>>;
}

/** The checks of one message, whose header has arrived. */
export interface Checks {
  /** The next octets of the body. */
  write(body: Uint8Array): void;
  /** Once, after the body. Never rejects: what cannot be found out is a result too. */
  finish(): Promise<Authenticated>;
  /** Instead of `finish`, when the message is not taken. */
  abandon(): void;
}

/** `header`: up to the empty line and with it. */
export type Authenticate = (origin: Origin, header: Buffer) => Checks;

/**
 * DKIM-Signature fields of a message, a line end after each; '' when the domain has no keys. `open` gives the
 * message from its first octet; it is called once at most. Rejects with StoreFault, and with what reading throws.
 */
export type Sign = (
  /** Who signs; A-labels, lower case. */
  domain: string,
  open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  /** Octets. */
  size: number,
) => Promise<string>;
