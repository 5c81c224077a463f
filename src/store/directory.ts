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

/** A key as an authentication look-up finds it. */
export interface StoredKey extends ApiKey {
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
  | { readonly kind: 'held'; readonly accountId: string }
  /** The domain already has as many held addresses as it may. */
  | { readonly kind: 'full' };

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

  /**
   * Creates an account with its system folders, or claims the held mailbox of that address.
   * @throws DirectoryConflict when the address is taken.
   */
  createAccount(email: string, displayName: string): Promise<Account>;
  accounts(): Promise<readonly Account[]>;
  accountByEmail(email: string): Promise<Account | undefined>;
  accountById(id: string): Promise<Account | undefined>;
  /** Deletes the account, its mail, addresses and keys; false when there is none. */
  deleteAccount(id: string): Promise<boolean>;

  /** @throws DirectoryConflict when another account has the address. */
  addAddress(accountId: string, address: string, verified: boolean): Promise<AccountAddress>;
  /** Verified addresses only. */
  ownerOf(address: string): Promise<AddressOwner | undefined>;
  /** A mailbox without a login for an unknown address of a hosted domain; race-free, at most `limit` a domain. */
  holdAddress(address: string, limit: number): Promise<HoldResult>;
  /** Whether the domain of the address has fewer than `limit` held addresses. */
  heldRoom(address: string, limit: number): Promise<boolean>;
  /** Held accounts with mail from before `before` (ms since the epoch), or created before it and without mail. */
  heldAccounts(before: number, limit: number): Promise<readonly string[]>;
  /** Deletes a held account created before `before` that has no mail, neither placed nor on its way. */
  dropHeld(id: string, before: number): Promise<boolean>;

  createKey(key: {
    readonly accountId: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly serviceWide: boolean;
    readonly prefix: string;
    readonly hash: string;
  }): Promise<ApiKey>;
  /** Active keys of the account, oldest first. */
  keys(accountId: string): Promise<readonly ApiKey[]>;
  /** Active keys whose public prefix this is (one, or none). */
  keysByPrefix(prefix: string): Promise<readonly StoredKey[]>;
  /** False when there was no active key of that id. */
  revokeKey(id: string): Promise<boolean>;

  /** Changes made through any node or command, until the returned function is called. */
  watch(onChange: (change: DirectoryChange) => void): Promise<() => Promise<void>>;
}
