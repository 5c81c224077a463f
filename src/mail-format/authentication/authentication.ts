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

/** What the owner of a DMARC policy learns about a message in a report (RFC 7489 §7.2). */
export interface DmarcEvaluation {
  /** The domain that has the policy. */
  readonly policyDomain: string;
  /** The author's domain. */
  readonly author: string;
  /** Whether the method passes for a domain that is aligned with the author's. */
  readonly dkim: boolean;
  readonly spf: boolean;
  readonly results: readonly {
    readonly method: 'spf' | 'dkim';
    readonly domain: string;
    readonly result: string;
    /** The selector of a signature. */
    readonly selector?: string;
    /** SPF was checked for the name in HELO, because the sender is null. */
    readonly isHelo?: boolean;
  }[];
}

export interface Authenticated {
  /** The `Authentication-Results` field, with its line end. */
  readonly field: string;
  /** The strictest DMARC policy of its author's domains that the message fails; `none` when it fails none. */
  readonly failedPolicy: 'none' | 'quarantine' | 'reject';
  /** The results for the log, one word per method: `{ spf: 'pass', dkim: 'none', dmarc: 'pass' }`. */
  readonly summary: Readonly<Record<string, string>>;
  /** The domains for which SPF or a signature passes, in lower case. */
  readonly passed: readonly string[];
  /** Present when the message has one author, whose policy wants reports. */
  readonly evaluation?: DmarcEvaluation;
}

/** The authentication of one message. It begins when the header has arrived. */
export interface Authentication {
  /** Takes the next octets of the body. */
  write(body: Uint8Array): void;
  /** Called once, after the body. Never rejects: an error is a result too. */
  finish(): Promise<Authenticated>;
  /** Called instead of `finish` when the message is refused. */
  abandon(): void;
}

/** `header` ends with the empty line, which it includes. */
export type Authenticate = (origin: Origin, header: Buffer) => Authentication;

/**
 * Returns the DKIM-Signature fields of a message, each with its line end; '' when the domain has no keys. `open` reads the message from its
 * first octet and is called at most once. Rejects with StoreFault, and with the errors of reading.
 */
export type Sign = (
  /** The signing domain, in A-labels and lower case. */
  domain: string,
  open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  /** Identifies the octets of the message, such as their SHA-256: a signature that was made recently is returned again. */
  name: string,
) => Promise<string>;
