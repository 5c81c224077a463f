// The certificates that all listeners of a node present, and the TLS settings of the server: version 1.2 and later, the certificate of the
// host that the client names (SNI), and one key for session tickets, so that every listener resumes a session, also after certificates are
// renewed. Listeners ask for the context at each handshake.
import { randomBytes, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type TLSSocketOptions } from 'node:tls';

export interface KeyPair {
  /** PEM: the leaf first, then its chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** A certificate that was obtained for exactly these names. */
export interface AcquiredCertificate {
  readonly names: readonly string[];
  readonly pair: KeyPair;
  /** It serves clients that name no host, or an unknown one, where the operator has no certificate. */
  readonly isDefault: boolean;
}

/** The certificates that clients of the deployment's own names get. */
export interface PresentedCertificates {
  readonly names: readonly string[];
  /** The time at which the first of them ends. */
  readonly expiresAt: Date;
}

interface Presented {
  readonly leaf: X509Certificate;
  readonly context: SecureContext;
}

export interface CertificateSourceOptions {
  readonly ticketKey?: Buffer;
  /** The pair was made by this node: certificates that are acquired take its place. */
  readonly isProvisional?: boolean;
}

/** Octets of a key for session tickets (RFC 5077 §4): its name, and the secrets for HMAC and AES. */
export const TICKET_KEY_OCTETS = 48;
/** Sessions are resumed only where this value is the same. */
const SESSION_CONTEXT = 'mansio';
/** A context takes tens of kB: those of acquired certificates are made at a handshake, and the least recently used go. */
const MOST_CONTEXTS = 256;

export class CertificateSource {
  readonly #isProvisional: boolean;
  #pairs: readonly KeyPair[];
  #ticketKey: Buffer;
  #presented: readonly Presented[];
  #acquired: ReadonlyMap<string, AcquiredCertificate> = new Map();
  #default: AcquiredCertificate | undefined;
  readonly #contexts = new Map<AcquiredCertificate, SecureContext>();

  /** The first pair serves clients that name no host, or a host without a certificate. @throws Error when a pair cannot be used */
  constructor(pairs: readonly KeyPair[], options: CertificateSourceOptions = {}) {
    const { ticketKey = randomBytes(TICKET_KEY_OCTETS), isProvisional = false } = options;
    this.#isProvisional = isProvisional;
    this.#pairs = pairs;
    this.#ticketKey = ticketKey;
    this.#presented = presentedOf(pairs, ticketKey);
  }

  get pairs(): readonly KeyPair[] {
    return this.#pairs;
  }

  get ticketKey(): Buffer {
    return this.#ticketKey;
  }

  /** The operator's certificates, and that of the deployment's own names; the provisional pair without both. */
  get presented(): PresentedCertificates {
    const acquired = this.#default && new X509Certificate(this.#default.pair.cert);
    const own = this.#isProvisional && acquired !== undefined ? [] : this.#presented.map(({ leaf }) => leaf);
    const leaves = acquired === undefined ? own : [...own, acquired];
    return {
      names: [...new Set(leaves.flatMap(dnsNames))],
      expiresAt: new Date(Math.min(...leaves.map(({ validTo }) => Date.parse(validTo)))),
    };
  }

  /** Replaces the pairs for later handshakes. @throws Error when a pair cannot be used; the current ones stay */
  renew(pairs: readonly KeyPair[], ticketKey = this.#ticketKey): void {
    this.#presented = presentedOf(pairs, ticketKey);
    this.#pairs = pairs;
    this.#ticketKey = ticketKey;
    this.#contexts.clear();
  }

  /** Replaces the ticket key; earlier sessions are not resumed. */
  rotate(ticketKey: Buffer): void {
    this.renew(this.#pairs, ticketKey);
  }

  /** Replaces the acquired certificates for later handshakes. */
  acquire(certificates: readonly AcquiredCertificate[]): void {
    this.#acquired = new Map(certificates.flatMap((each) => each.names.map((name) => [name, each])));
    this.#default = certificates.find(({ isDefault }) => isDefault);
    this.#contexts.clear();
  }

  /** Whether a certificate of the operator is for the host. */
  covers(host: string): boolean {
    return !this.#isProvisional && this.#configured(host) !== undefined;
  }

  /** Whether a certificate is for the host, other than the provisional one. */
  has(host: string): boolean {
    return this.covers(host) || this.#acquired.has(host.toLowerCase());
  }

  get context(): SecureContext {
    return this.#isProvisional && this.#default !== undefined
      ? this.#contextOf(this.#default)
      : this.#presented[0]!.context;
  }

  /**
   * The context of the operator's certificate for this host: the first for exactly that name, otherwise the first with a matching wildcard.
   * Then an acquired one, then the default.
   */
  contextFor(host: string): SecureContext {
    const configured = this.#configured(host);
    if (configured !== undefined && !this.#isProvisional) return configured.context;
    const acquired = this.#acquired.get(host.toLowerCase());
    if (acquired !== undefined) return this.#contextOf(acquired);
    return this.#default === undefined ? (configured?.context ?? this.context) : this.context;
  }

  /** The options of a handshake on the server's side. */
  get socketOptions(): Pick<TLSSocketOptions, 'isServer' | 'secureContext' | 'SNICallback'> {
    const options = { isServer: true, secureContext: this.context };
    return this.#presented.length + this.#acquired.size === 1
      ? options
      : { ...options, SNICallback: this.#onServerName };
  }

  readonly #onServerName = (host: string, done: (error: Error | null, context?: SecureContext) => void): void => {
    let context: SecureContext;
    try {
      context = this.contextFor(host);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, context);
  };

  #configured(host: string): Presented | undefined {
    const exact = this.#presented.find(({ leaf }) => leaf.checkHost(host, { wildcards: false }) !== undefined);
    return exact ?? this.#presented.find(({ leaf }) => leaf.checkHost(host) !== undefined);
  }

  #contextOf(certificate: AcquiredCertificate): SecureContext {
    const context = this.#contexts.get(certificate) ?? contextOf(certificate.pair, this.#ticketKey);
    this.#contexts.delete(certificate);
    this.#contexts.set(certificate, context);
    for (const oldest of this.#contexts.keys()) {
      if (this.#contexts.size <= MOST_CONTEXTS) break;
      this.#contexts.delete(oldest);
    }
    return context;
  }
}

function presentedOf(pairs: readonly KeyPair[], ticketKeys: Buffer): readonly Presented[] {
  if (pairs.length === 0) throw new RangeError('a listener with TLS needs a certificate');
  return pairs.map((pair) => ({ leaf: new X509Certificate(pair.cert), context: contextOf(pair, ticketKeys) }));
}

function contextOf({ cert, key }: KeyPair, ticketKeys: Buffer): SecureContext {
  return createSecureContext({ cert, key, minVersion: 'TLSv1.2', sessionIdContext: SESSION_CONTEXT, ticketKeys });
}

/** `DNS:a.test, DNS:b.test, IP Address:127.0.0.1` */
function dnsNames({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4)] : []));
}
