// Port: who exists: domains, accounts, addresses, API keys. Small tables that every node reads and few things write;
// none of it belongs to a mailbox's state.

export const SCOPES = ['smtp', 'pop3', 'imap', 'api:read', 'api:write', 'app', 'internal'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Domain {
  readonly name: string;
  readonly createdAt: Date;
}

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
  readonly held: boolean;
  readonly createdAt: Date;
}

/** A login of an identity provider: the subject, and its issuer. */
export interface Login {
  readonly issuer: string;
  readonly subject: string;
}

/** A first login, with what makes an account of it. */
export interface NewLogin extends Login {
  /** In canonical form. */
  readonly email: string;
  readonly displayName: string;
  /** The provider vouches for the address; undefined when it does not say. */
  readonly emailVerified: boolean | undefined;
}

export type Provisioned =
  | { readonly kind: 'account'; readonly account: Account }
  /** The address has an owner: an account with another login, or an additional address. */
  | { readonly kind: 'taken' }
  /** The provider says that the address is not verified. */
  | { readonly kind: 'unverified' };

export interface LoginAccount {
  readonly id: string;
  readonly email: string;
}

export interface Profile extends Account {
  /** By a login or with a key, as far as that is noted; before the first, when the account was made. */
  readonly lastLoginAt: Date;
  /** Without the account's own address; oldest first. */
  readonly additionalAddresses: readonly AccountAddress[];
}

/** `own`: it is the account's address; `known`: one of its additional ones. */
export type AddressRequest =
  | { readonly kind: 'added'; readonly address: AccountAddress }
  | { readonly kind: 'own' | 'known' | 'full' | 'noAccount' };

export interface AccountAddress {
  readonly id: string;
  readonly address: string;
  readonly isVerified: boolean;
  readonly addedAt: Date;
}

export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** May notify for any account: made by an operator, never over REST. */
  readonly serviceWide: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Of a key as text, what is stored. */
export interface MintedKey {
  readonly prefix: string;
  /** SHA-256 of the whole key, 64 hex digits. */
  readonly hash: string;
}

export interface NewKey extends MintedKey {
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly serviceWide: boolean;
  readonly deviceId?: string | undefined;
}

/** A key as an authentication look-up finds it. */
export interface StoredKey extends ApiKey {
  readonly prefix: string;
  /** SHA-256 of the whole key, 64 hex digits. */
  readonly hash: string;
  readonly email: string;
}

/** Where mail for an address goes. */
export interface AddressOwner {
  readonly accountId: string;
  readonly held: boolean;
}

export type HoldResult =
  /** `isNew`: the account was made for it just now. */
  | { readonly kind: 'held'; readonly accountId: string; readonly isNew: boolean }
  /** The domain already has as many held addresses as it may. */
  | { readonly kind: 'full' };

/** What held mailboxes take. */
export interface HeldUse {
  readonly addresses: number;
  readonly octets: number;
}

/** Something another process or node changed; consumers drop what they remember of it. */
export type DirectoryChange =
  | { readonly kind: 'key-revoked'; readonly keyId: string }
  | { readonly kind: 'domains' }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'account-deleted'; readonly accountId: string }
  /** Changes may have been missed (the connection broke): drop everything. */
  | { readonly kind: 'all' };

export class DirectoryConflict extends Error {
  override readonly name = 'DirectoryConflict';
}

/** All addresses here are lower case and without a `+tag` (see mail/address). */
export interface DirectoryStore {
  domains(): Promise<readonly Domain[]>;
  /** Returns false when it was there already. */
  addDomain(name: string): Promise<boolean>;
  removeDomain(name: string): Promise<boolean>;
  /** How many addresses of accounts, not of held mailboxes, are at the domain. */
  addressesAt(domain: string): Promise<number>;

  /**
   * Creates an account with its system folders, or claims the held mailbox of that address.
   * @throws DirectoryConflict when the address is taken.
   */
  createAccount(email: string, displayName: string): Promise<Account>;
  accounts(): Promise<readonly Account[]>;
  accountByEmail(email: string): Promise<Account | undefined>;
  accountById(id: string): Promise<Account | undefined>;
  /** The account of a login; notes the time of the login, at most once an hour. */
  accountOfLogin(login: Login): Promise<LoginAccount | undefined>;
  /**
   * Gives a login its account: the one it has, a new one, the held mailbox of its address, or an
   * account of that address that no login has yet; unless the provider says that the address is not verified. Race-free.
   */
  provision(login: NewLogin): Promise<Provisioned>;
  profile(id: string): Promise<Profile | undefined>;
  /** False when there is no such account. */
  renameAccount(id: string, displayName: string): Promise<boolean>;
  /** Deletes the account, its mail, addresses and keys; false when there is none. */
  deleteAccount(id: string): Promise<boolean>;

  /** @throws DirectoryConflict when another account has the address. */
  addAddress(accountId: string, address: string, verified: boolean): Promise<AccountAddress>;
  /** Adds an address not verified yet, whichever accounts have it too; at most `limit` an account. */
  requestAddress(accountId: string, address: string, verificationHash: string, limit: number): Promise<AddressRequest>;
  /** Accounts that have the address, as their own, verified, or asked for; without held mailboxes. */
  accountsWith(address: string): Promise<readonly Account[]>;
  /** Never the account's own address. False when the account has no additional address of that id. */
  removeAddress(accountId: string, addressId: string): Promise<boolean>;
  /** Verified addresses only. */
  ownerOf(address: string): Promise<AddressOwner | undefined>;
  /** A mailbox without a login for an unknown address of a hosted domain; race-free, at most `limit` a domain. */
  holdAddress(address: string, limit: number): Promise<HoldResult>;
  /** Whether the domain of the address has fewer than `limit` held addresses. */
  heldRoom(address: string, limit: number): Promise<boolean>;
  /**
   * By domain, of all domains that have held addresses. Octets of the mail are without those of addresses of these local parts; an
   * email counts for 4 KiB at least.
   */
  heldUse(exceptNames: readonly string[]): Promise<ReadonlyMap<string, HeldUse>>;
  /** When the newest email was received (ms since the epoch) that is beyond the newest ones within `kept`; undefined for none. */
  heldSurplus(
    accountId: string,
    kept: { readonly messages: number; readonly octets: number },
  ): Promise<number | undefined>;
  /** Held accounts with mail from before `before` (ms since the epoch), or created before it and without mail. */
  heldAccounts(before: number, limit: number): Promise<readonly string[]>;
  /** Deletes a held account created before `before` that has no mail, neither placed nor on its way. */
  dropHeld(id: string, before: number): Promise<boolean>;

  createKey(key: NewKey): Promise<ApiKey>;
  /**
   * The same, unless the account has `limit` active keys already, or is no more. The key that the device had is revoked in
   * the same step.
   */
  createKeyWithin(limit: number, key: NewKey): Promise<ApiKey | undefined>;
  /** Active keys of the account, oldest first. */
  keys(accountId: string): Promise<readonly ApiKey[]>;
  /** The active keys that have these public prefixes; each prefix is of one key at most. */
  keysByPrefixes(prefixes: readonly string[]): Promise<readonly StoredKey[]>;
  /** False when there was no active key of that id. */
  revokeKey(id: string): Promise<boolean>;
  /** The same for a key of this account. */
  revokeKeyOf(accountId: string, id: string): Promise<boolean>;
  /** Revokes a key that is not service-wide and makes one of the same name, scopes and device, in one step. */
  rotateKey(accountId: string, id: string, minted: MintedKey): Promise<ApiKey | undefined>;
  /** Deletes the rows of keys that were revoked longer ago; returns how many. When they were used last stays with their accounts. */
  dropRevokedKeys(maxAgeMs: number): Promise<number>;
  /** Notes when keys were last used; a time before the one that is known changes nothing. */
  touchKeys(uses: ReadonlyMap<string, Date>): Promise<void>;

  /** Changes made through any node or command, until the returned function is called. */
  watch(onChange: (change: DirectoryChange) => void): Promise<() => Promise<void>>;
}
