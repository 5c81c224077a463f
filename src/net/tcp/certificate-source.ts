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

interface Presented {
  readonly leaf: X509Certificate;
  readonly context: SecureContext;
}

/** Octets of a key for session tickets (RFC 5077 §4): its name, and the secrets for HMAC and AES. */
export const TICKET_KEY_OCTETS = 48;
/** Sessions are resumed only where this value is the same. */
const SESSION_CONTEXT = 'mansio';

export class CertificateSource {
  #pairs: readonly KeyPair[];
  #ticketKey: Buffer;
  #presented: readonly Presented[];

  /** The first pair serves clients that name no host, or a host without a certificate. @throws Error when a pair cannot be used */
  constructor(pairs: readonly KeyPair[], ticketKey: Buffer = randomBytes(TICKET_KEY_OCTETS)) {
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

  /** Replaces the pairs for later handshakes. @throws Error when a pair cannot be used; the current ones stay */
  renew(pairs: readonly KeyPair[], ticketKey = this.#ticketKey): void {
    this.#presented = presentedOf(pairs, ticketKey);
    this.#pairs = pairs;
    this.#ticketKey = ticketKey;
  }

  /** Replaces the ticket key; earlier sessions are not resumed. */
  rotate(ticketKey: Buffer): void {
    this.renew(this.#pairs, ticketKey);
  }

  get context(): SecureContext {
    return this.#presented[0]!.context;
  }

  /** The context of the first certificate for exactly this host, otherwise of the first with a matching wildcard, otherwise the default. */
  contextFor(host: string): SecureContext {
    const exact = this.#presented.find(({ leaf }) => leaf.checkHost(host, { wildcards: false }) !== undefined);
    const found = exact ?? this.#presented.find(({ leaf }) => leaf.checkHost(host) !== undefined);
    return found?.context ?? this.context;
  }

  /** The options of a handshake on the server's side. */
  get socketOptions(): Pick<TLSSocketOptions, 'isServer' | 'secureContext' | 'SNICallback'> {
    const options = { isServer: true, secureContext: this.context };
    return this.#presented.length === 1 ? options : { ...options, SNICallback: this.#onServerName };
  }

  readonly #onServerName = (host: string, done: (error: Error | null, context?: SecureContext) => void): void =>
    done(null, this.contextFor(host));
}

function presentedOf(pairs: readonly KeyPair[], ticketKeys: Buffer): readonly Presented[] {
  if (pairs.length === 0) throw new RangeError('a listener with TLS needs a certificate');
  return pairs.map(({ cert, key }) => ({
    leaf: new X509Certificate(cert),
    context: createSecureContext({
      cert,
      key,
      minVersion: 'TLSv1.2',
      sessionIdContext: SESSION_CONTEXT,
      ticketKeys,
    }),
  }));
}
