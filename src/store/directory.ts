// Port: domains, accounts, addresses and API keys. These small tables are read by every node and rarely written; nothing in them
// belongs to the state of a mailbox.
import type { AliasRoute, AliasStore } from './addresses/aliases.js';

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
  readonly isUnclaimed: boolean;
  readonly createdAt: Date;
}

/** A login of an identity provider: the issuer and the subject. */
export interface Login {
  readonly issuer: string;
  readonly subject: string;
}

/** A first login, with the data that creates its account. */
export interface NewLogin extends Login {
  /** In canonical form. */
  readonly email: string;
  readonly displayName: string;
  /** The provider has verified the address; undefined when it does not say. */
  readonly emailVerified: boolean | undefined;
}

export type Provisioned =
  | { readonly kind: 'account'; readonly account: Account }
  /** The address has an owner: an account with another login, or an account that has it as an additional address. */
  | { readonly kind: 'taken' }
  /** The provider says that the address is not verified. */
  | { readonly kind: 'unverified' };

export interface LoginAccount {
  readonly id: string;
  readonly email: string;
}

export interface Profile extends Account {
  /** The last use by login or key, as far as it is recorded; before the first use, when the account was created. */
  readonly lastLoginAt: Date;
  /** Oldest first, without the account's own address. */
  readonly additionalAddresses: readonly AccountAddress[];
}

/** `own`: it is the account's own address; `known`: one of its additional ones. */
export type AddressRequest =
  | { readonly kind: 'added'; readonly address: AccountAddress }
  | { readonly kind: 'own' | 'known' | 'full' | 'noAccount' }
  | TooManyMails;

/** The greatest number of mails that verify addresses. An address gets one per hour from all accounts. */
export interface VerificationRates {
  readonly perAccountAndDay: number;
}

export interface TooManyMails {
  readonly kind: 'tooManyMails';
  /** The time until a mail may be sent. */
  readonly againInMs: number;
}

export type VerificationRefusal = { readonly kind: 'noSuchAddress' | 'verified' | 'hosted' } | TooManyMails;

/** A request to verify an address, as the reader of the address sees it. */
export interface AddressVerification {
  readonly address: string;
  /** The account that asks. */
  readonly email: string;
  readonly displayName: string;
}

export type VerifiedAddress =
  | { readonly kind: 'verified'; readonly address: string }
  /** Another account has the address verified. */
  | { readonly kind: 'taken'; readonly address: string }
  /** The hash is of no token, of one that was used or replaced, or of one that is too old. */
  | { readonly kind: 'gone' };

export interface AccountAddress {
  readonly id: string;
  readonly address: string;
  readonly isVerified: boolean;
  /** Another account has the address, and the operator lets this one forward to it. */
  readonly isForwardingOnly: boolean;
  readonly addedAt: Date;
}

export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The key may notify for any account: an operator creates it, never REST. */
  readonly serviceWide: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The stored form of a key. */
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

/** A key as authentication reads it; sessions are keys too. */
export interface StoredKey extends ApiKey {
  readonly kind: 'key' | 'session';
  readonly prefix: string;
  /** SHA-256 of the whole key, 64 hex digits. */
  readonly hash: string;
  readonly email: string;
}

/** The account that gets mail for an address. */
export interface AddressOwner {
  readonly accountId: string;
  readonly isUnclaimed: boolean;
}

/** What an address leads to: an account or unclaimed mailbox, or an alias. An account comes before an alias, that before a mailbox. */
export type AddressRoute = AddressOwner | AliasRoute;

export type UnclaimedResult =
  /** `isNew`: this call created the account. */
  | { readonly kind: 'opened'; readonly accountId: string; readonly isNew: boolean }
  /** The domain has reached its limit of unclaimed addresses. */
  | { readonly kind: 'full' };

/** What unclaimed mailboxes use. */
export interface UnclaimedUsage {
  readonly addresses: number;
  readonly octets: number;
}

/** A change by any process or node; consumers drop what they cache of it. */
export type DirectoryChange =
  | { readonly kind: 'key-revoked'; readonly keyId: string }
  /** A session of the account has begun, or was ended. */
  | { readonly kind: 'sessions'; readonly accountId: string }
  | { readonly kind: 'domains' }
  /** `*@domain`: the addresses of the domain that no account has. */
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'account-deleted'; readonly accountId: string }
  /** A quota was set. `accountId`: that of this account, or it has become full, nearly full, or neither. */
  | { readonly kind: 'quotas'; readonly accountId?: string }
  /** A limit of recipients was set. `accountId`: this account was suspended or resumed instead. */
  | { readonly kind: 'sending'; readonly accountId?: string }
  /** Changes may have been missed because the connection broke: drop everything. */
  | { readonly kind: 'all' };

export class DirectoryConflict extends Error {
  override readonly name = 'DirectoryConflict';
}

/** All addresses in this port are lower case and without a `+tag` (see mail/address). */
export interface DirectoryStore extends AliasStore {
  domains(): Promise<readonly Domain[]>;
  /** Returns false when the domain exists already. */
  addDomain(name: string): Promise<boolean>;
  removeDomain(name: string): Promise<boolean>;
  /** Counts the addresses at the domain that belong to accounts, without unclaimed mailboxes. */
  addressesAt(domain: string): Promise<number>;

  /**
   * Creates an account with its system folders, or claims the unclaimed mailbox of that address. @throws DirectoryConflict when
   * the address is taken.
   */
  createAccount(email: string, displayName: string): Promise<Account>;
  accounts(): Promise<readonly Account[]>;
  accountByEmail(email: string): Promise<Account | undefined>;
  accountById(id: string): Promise<Account | undefined>;
  /** The account of a login; records the time of the login, at most once per hour. */
  accountOfLogin(login: Login): Promise<LoginAccount | undefined>;
  /**
   * Returns the account of a login: the existing one, a new one, the unclaimed mailbox of its address, or an account with that
   * address that has no login yet. It refuses when the provider says that the address is not verified. Free of races.
   */
  provision(login: NewLogin): Promise<Provisioned>;
  profile(id: string): Promise<Profile | undefined>;
  /** Returns false when there is no such account. */
  renameAccount(id: string, displayName: string): Promise<boolean>;
  /** Deletes the account, its mail, addresses and keys; returns false when there is none. */
  deleteAccount(id: string): Promise<boolean>;

  /** @throws DirectoryConflict when another account has the address. */
  addAddress(accountId: string, address: string, verified: boolean): Promise<AccountAddress>;
  /**
   * Lets the account forward to an address that another account, or an alias, has here. The same call again changes nothing.
   * @throws DirectoryConflict when the address is the account's own, or nobody has it.
   */
  addForwardingTarget(accountId: string, address: string): Promise<AccountAddress>;
  /** Whether `addForwardingTarget` has let the account forward to the address. */
  isForwardingTarget(accountId: string, address: string): Promise<boolean>;
  /** Adds an unverified address, whichever other accounts have it too; at most `limit` per account. */
  requestAddress(
    accountId: string,
    address: string,
    verificationHash: string,
    limit: number,
    /** Set when a mail with the token is about to be sent, which counts. */
    rates?: VerificationRates,
  ): Promise<AddressRequest>;
  /** Replaces the token of an address elsewhere, because another mail is about to be sent, which counts. */
  renewVerification(
    accountId: string,
    addressId: string,
    verificationHash: string,
    rates: VerificationRates,
  ): Promise<{ readonly kind: 'renewed'; readonly address: string } | VerificationRefusal>;
  /** The last mail of this account to the address was not sent: it does not count. */
  withdrawVerification(accountId: string, address: string): Promise<void>;
  /** Undefined when the hash is of no token that is good. */
  findVerification(verificationHash: string, maxAgeMs: number): Promise<AddressVerification | undefined>;
  /** Uses the token up. */
  confirmVerification(verificationHash: string, maxAgeMs: number): Promise<VerifiedAddress>;
  /** Accounts that have the address as their own, as a verified or as a requested one; without unclaimed mailboxes. */
  accountsWith(address: string): Promise<readonly Account[]>;
  /** Removes an additional address, never the account's own. Returns false when the account has none with this id. */
  removeAddress(accountId: string, addressId: string): Promise<boolean>;
  /** Returns the owner; unverified addresses have none. */
  ownerOf(address: string): Promise<AddressOwner | undefined>;
  /** Undefined when nobody has the address; concurrent look-ups share a statement. */
  routeOf(address: string): Promise<AddressRoute | undefined>;
  /** Creates a mailbox without a login for an unknown address of a hosted domain, at most `limit` per domain; free of races. */
  openUnclaimed(address: string, limit: number): Promise<UnclaimedResult>;
  /** Whether the domain of the address has fewer than `limit` unclaimed addresses. */
  hasUnclaimedRoom(address: string, limit: number): Promise<boolean>;
  /**
   * The use by domain, for all domains with unclaimed addresses. Octets do not include mail for addresses with these local parts;
   * an email counts for at least 4 KiB.
   */
  unclaimedUsage(exceptNames: readonly string[]): Promise<ReadonlyMap<string, UnclaimedUsage>>;
  /** Received time (ms since the epoch) of the newest email that exceeds `kept`, counted from the newest; undefined for none. */
  unclaimedSurplus(
    accountId: string,
    kept: { readonly messages: number; readonly octets: number },
  ): Promise<number | undefined>;
  /** Unclaimed accounts with mail from before `before` (ms since the epoch), or created before it and without mail. */
  expiredUnclaimed(before: number, limit: number): Promise<readonly string[]>;
  /** Deletes an unclaimed account created before `before` that has no mail, neither placed nor waiting. */
  deleteUnclaimed(id: string, before: number): Promise<boolean>;

  createKey(key: NewKey): Promise<ApiKey>;
  /**
   * Creates the key unless the account has `limit` active keys or no longer exists. The same step revokes the key that the device
   * had.
   */
  createKeyWithin(limit: number, key: NewKey): Promise<ApiKey | undefined>;
  /** Active keys of the account, oldest first. */
  keys(accountId: string): Promise<readonly ApiKey[]>;
  /** The active keys, and sessions that were not ended, with these public prefixes; each prefix belongs to one key at most. */
  keysByPrefixes(prefixes: readonly string[]): Promise<readonly StoredKey[]>;
  /** Returns false when there was no active key with that id. */
  revokeKey(id: string): Promise<boolean>;
  /** Revokes a key only when it belongs to this account. */
  revokeKeyOf(accountId: string, id: string): Promise<boolean>;
  /** Revokes a key that is not service-wide and creates one with the same name, scopes and device, in one step. */
  rotateKey(accountId: string, id: string, minted: MintedKey): Promise<ApiKey | undefined>;
  /** Deletes the rows of keys that were revoked longer ago; returns how many. The accounts keep the time of their last use. */
  dropRevokedKeys(maxAgeMs: number): Promise<number>;
  /** Records when keys and sessions were last used; an earlier time than the known one changes nothing. */
  touchKeys(uses: ReadonlyMap<string, Date>): Promise<void>;

  /** Reports changes made through any node or command, until the returned function is called. */
  watch(onChange: (change: DirectoryChange) => void): Promise<() => Promise<void>>;
}
