// Port: the keys that sign mail of hosted domains (DKIM, RFC 6376 and RFC 8463).
export interface SigningKey {
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: 'rsa' | 'ed25519';
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

export interface SigningKeyStore {
  /** The keys of one hosted domain: the newest of each algorithm. */
  keysOf(domain: string): Promise<readonly SigningKey[]>;
  /** Whether mail for the domain is accepted. */
  isHosted(domain: string): Promise<boolean>;
  /** Hosted domains that have no key, by name; 1,000 at most. */
  domainsWithoutKey(): Promise<readonly string[]>;
  /** The keys of all domains, newest first. */
  all(): Promise<readonly SigningKey[]>;
  /** Returns false when the domain already has a key with that selector, or is not hosted. */
  add(key: SigningKey): Promise<boolean>;
}
