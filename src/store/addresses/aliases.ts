// Port: aliases, which lead from an address, or from every address of a domain that nobody has (`*@domain`), to other addresses
// (docs/interface/mail.md, "Aliases"). The directory of the nodes follows them; commands of the operator change them.

export interface NewAlias {
  /** In canonical form, or `*@domain`. */
  readonly address: string;
  /** At hosted domains in canonical form, elsewhere with their `+tag`; each once. */
  readonly targets: readonly string[];
  /** Whether each account that it leads to may send as the address. */
  readonly sendAs: boolean;
}

export interface Alias extends NewAlias {
  readonly createdAt: Date;
}

/** What the mail of an address follows, when no account has the address. */
export interface AliasRoute {
  /** The address of the alias: the address itself, or that of its domain's catch-all. */
  readonly alias: string;
  readonly targets: readonly string[];
  readonly sendAs: boolean;
  /** The domain of the address is another name of one, and the target is the same name there. */
  readonly isOfDomain?: boolean;
}

/** A domain whose mail is accepted. */
export interface RoutedDomain {
  readonly name: string;
  /** The domain of which it is another name. */
  readonly aliasOf: string | null;
  /** It is not hosted, but below a hosted domain, and has a catch-all. */
  readonly isBelow: boolean;
}

export interface AliasStore {
  /**
   * Adds the alias, and gives the accounts that it leads to the unclaimed mail of its address. It changes nothing when the same alias is
   * there. @throws DirectoryConflict, with the reason, when it cannot be added
   */
  addAlias(alias: NewAlias): Promise<Alias>;
  /** Lists one domain, or all. */
  aliases(domain?: string): Promise<readonly Alias[]>;
  /** Undefined when there is no such alias. */
  removeAlias(address: string): Promise<Alias | undefined>;
  /** The aliases that name one of the addresses as a target. */
  aliasesNaming(addresses: readonly string[], limit: number): Promise<readonly Alias[]>;
  /**
   * Makes a hosted domain another name of one. @throws DirectoryConflict, with the reason, when it cannot be one
   */
  aliasDomain(name: string, target: string): Promise<void>;
  /** Hosted domains, and domains below them that have a catch-all. */
  routedDomains(): Promise<readonly RoutedDomain[]>;
}
