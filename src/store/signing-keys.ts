// Port: the keys that mail of hosted domains is signed with (DKIM, RFC 6376 and RFC 8463).
export interface SigningKey {
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: 'rsa' | 'ed25519';
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

export interface SigningKeyStore {
  /** Of one hosted domain, at most one of each algorithm: the newest. */
  keysOf(domain: string): Promise<readonly SigningKey[]>;
  /** Whether mail is taken in for the domain. */
  isHosted(domain: string): Promise<boolean>;
  /** Hosted domains that have no key, by name; 1,000 at most. */
  domainsWithoutKey(): Promise<readonly string[]>;
  /** Of every domain, the newest first. */
  all(): Promise<readonly SigningKey[]>;
  /** False when the domain has a key of that selector already, or is not hosted. */
  add(key: SigningKey): Promise<boolean>;
}
