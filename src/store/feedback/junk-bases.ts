// Port: the common bases of the junk filter, one for each domain (decision 0111). They are derived from the words of accounts.

export interface JunkBaseStore {
  /** The stored words of bases, by domain; domains whose base is empty are left out. */
  bases(domains: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Domains whose base is to be made, those without one first: several accounts have words, or the base is old. */
  domainsDue(limit: number): Promise<readonly string[]>;
  /** The stored words of accounts of a domain; those of `limit` accounts, chosen at random, where there are more. */
  wordsOfDomain(domain: string, limit: number): Promise<readonly Uint8Array[]>;
  /** Replaces the base of a domain; undefined: an empty one. Does nothing when the domain is not hosted any more. */
  putBase(domain: string, words: Uint8Array | undefined): Promise<void>;
}
