// The certificate and key that a listener with TLS presents, and how the listener learns that they were renewed.

export interface KeyPair {
  /** PEM, the leaf first, then its chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

export interface CertificateSource {
  current(): KeyPair;
  /** Calls back after each change. */
  onChange(callback: () => void): unknown;
}
