// The directory for gateways: it finds the account that gets mail for an address, and the owner of a credential. The store has
// the facts; this file has the rules about unknown and unclaimed recipients (docs/interface/mail.md), and caches the facts.
import { Subject } from 'rxjs';
import { CoalescedReads } from '../../concurrency/coalesced-reads.js';
import { canonicalAddress } from '../../mail-format/address.js';
import { clock } from '../../store/clock.js';
import type { DirectoryChange, DirectoryStore, StoredKey } from '../../store/directory.js';
import { sessionEnd } from '../../store/sessions.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import { AddressCache } from './address-cache.js';
import { matchesHash, parseApiKey } from './api-key.js';
import type { KeyUses } from './key-uses.js';
import { Logins } from './logins.js';
import type { Directory, HostedDomains, LoginClaims, LoginResult, Principal, Recipient } from './protocol.js';
import { domainOf, isRole, UnclaimedMailboxes } from './unclaimed-mailboxes.js';

/** "Not hosted" is a permanent refusal, so it is never based on a list of hosted domains that is older than this. */
const HOSTED_MS = 1_000;

export interface DirectoryOptions {
  readonly store: DirectoryStore;
  readonly mailboxes: Mailboxes;
  readonly unknownRecipients: 'hold' | 'reject';
  /** Address of the account that acts for requests without a credential. */
  readonly anonymousAccount?: string;
  readonly keyUses?: Pick<KeyUses, 'note'>;
  /**
   * Revocations that this node is about to answer; revocations by commands come only through the changes of the store. Returns a
   * function that stops listening.
   */
  readonly revocations?: { listen(forget: (keyId: string) => void): () => void };
  readonly log: { info(fields: object, message: string): void };
  /** ms of a clock that does not jump. */
  readonly now?: () => number;
  /** ms since the epoch, by which sessions end. */
  readonly time?: () => number;
}

/** @throws StoreFault when the store cannot be read */
export async function createDirectory(options: DirectoryOptions): Promise<CachedDirectory> {
  const directory = new CachedDirectory(options);
  await directory.start();
  return directory;
}

class CachedDirectory implements Directory, HostedDomains {
  readonly #options: DirectoryOptions;
  readonly #store: DirectoryStore;
  readonly #log: { info(fields: object, message: string): void };
  readonly #now: () => number;
  readonly #time: () => number;
  readonly #owners = new AddressCache();
  readonly #unclaimedMailboxes: UnclaimedMailboxes;
  readonly #logins: Logins;
  readonly #revokedKeys = new Subject<string>();
  readonly #deletedAccounts = new Subject<string>();
  readonly #missedChanges = new Subject<void>();
  /** Prefixes of the keys that the next read fetches. */
  readonly #prefixes = new Set<string>();
  readonly #keyReads: CoalescedReads<ReadonlyMap<string, StoredKey>>;
  #hosted: Promise<ReadonlySet<string>> | undefined;
  #hostedReadAt = 0;
  #stopWatching = async () => {};
  #stopListening = () => {};
  readonly revokedKeys$ = this.#revokedKeys.asObservable();
  readonly deletedAccounts$ = this.#deletedAccounts.asObservable();
  readonly missedChanges$ = this.#missedChanges.asObservable();

  constructor(options: DirectoryOptions) {
    this.#options = options;
    const { store, mailboxes, log, now = () => performance.now(), time = () => clock.now() } = options;
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#time = time;
    this.#unclaimedMailboxes = new UnclaimedMailboxes(this.#store, mailboxes, this.#now);
    this.#logins = new Logins(this.#store, this.#log);
    this.#keyReads = new CoalescedReads(() => this.#readKeys());
  }

  /** @throws StoreFault when the store cannot be read; nothing is open then */
  async start(): Promise<void> {
    // Watch before the first read, so that a change between the two still drops what was read.
    this.#stopWatching = await this.#store.watch((change) => this.#onChange(change));
    this.#stopListening =
      this.#options.revocations?.listen((keyId) => this.#revokedKeys.next(keyId)) ?? this.#stopListening;
    await this.#hostedDomains().catch(async (error: unknown) => {
      this.#stopListening();
      await this.#stopWatching();
      throw error;
    });
  }

  async recipient(text: string, beside: readonly string[] = []): Promise<Recipient> {
    const address = canonicalAddress(text);
    if (address === undefined) return { kind: 'notHosted' };
    if (!(await this.#isHosted(domainOf(address)))) return { kind: 'notHosted' };
    // Routes twice, because an unclaimed mailbox may have been deleted after it was cached.
    return (await this.#route(address, beside)) ?? (await this.#route(address, beside)) ?? { kind: 'unknown' };
  }

  async openUnclaimed(
    addresses: readonly string[],
    octets: number,
    existing: readonly string[] = [],
  ): Promise<ReadonlyMap<string, string> | undefined> {
    if (this.#options.unknownRecipients === 'reject' && !addresses.every(isRole)) return undefined;
    return this.#unclaimedMailboxes.open(addresses, octets, existing);
  }

  async authenticate(apiKey: string): Promise<Principal | undefined> {
    const parsed = parseApiKey(apiKey);
    if (parsed === undefined) return undefined;
    const key = await this.#keyOf(parsed.prefix);
    if (!matchesHash(apiKey, key?.hash) || key === undefined) return undefined;
    const { accountId, email, scopes, id, serviceWide } = key;
    const principal = { accountId, email, scopes, keyId: id, serviceWide };
    const now = this.#time();
    if (
      key.kind === 'session' &&
      sessionEnd({ createdAt: key.createdAt, lastUsedAt: key.lastUsedAt ?? key.createdAt }) <= now
    )
      return undefined;
    this.#options.keyUses?.note(id);
    if (key.kind === 'key') return principal;
    return { ...principal, sessionEnd: sessionEnd({ createdAt: key.createdAt, lastUsedAt: new Date(now) }) };
  }

  async anonymous(): Promise<Principal | undefined> {
    const address =
      this.#options.anonymousAccount === undefined ? undefined : canonicalAddress(this.#options.anonymousAccount);
    const account = address === undefined ? undefined : await this.#store.accountByEmail(address);
    if (account === undefined || account.isUnclaimed) return undefined;
    return { accountId: account.id, email: account.email, scopes: ['app'], keyId: null, serviceWide: false };
  }

  /** Checks the address even when its domain is not hosted here: an address elsewhere can be verified too. */
  async isAddressOf(accountId: string, text: string): Promise<boolean> {
    const address = canonicalAddress(text);
    if (address === undefined) return false;
    const owner = await this.#owners.owner(address, () => this.#store.ownerOf(address));
    return owner !== undefined && !owner.isUnclaimed && owner.accountId === accountId;
  }

  noteUse(keyId: string): void {
    this.#options.keyUses?.note(keyId);
  }

  hosts(domain: string): Promise<boolean> {
    return this.#isHosted(domain);
  }

  login(claims: LoginClaims): Promise<LoginResult> {
    return this.#logins.open(claims);
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#stopWatching();
    this.#revokedKeys.complete();
    this.#deletedAccounts.complete();
    this.#missedChanges.complete();
  }

  #onChange(change: DirectoryChange): void {
    switch (change.kind) {
      case 'domains':
        this.#hosted = undefined;
        return;
      case 'address':
        this.#owners.drop(change.address);
        return;
      case 'account-deleted':
        this.#owners.dropAccount(change.accountId);
        this.#logins.dropAccount(change.accountId);
        this.#deletedAccounts.next(change.accountId);
        return;
      case 'key-revoked':
        this.#revokedKeys.next(change.keyId);
        return;
      case 'all':
        this.#log.info({}, 'notifications of the directory may have been missed: reading the directory again');
        this.#hosted = undefined;
        this.#owners.clear();
        this.#logins.clear();
        this.#missedChanges.next();
    }
  }

  /** A failed read is not cached, so the next recipient tries again. */
  #hostedDomains(): Promise<ReadonlySet<string>> {
    if (this.#hosted !== undefined) return this.#hosted;
    const read = this.#store.domains().then((domains) => new Set(domains.map((domain) => domain.name)));
    this.#hosted = read;
    this.#hostedReadAt = this.#now();
    read.catch(() => {
      if (this.#hosted === read) this.#hosted = undefined;
    });
    return read;
  }

  /** Reads again before it answers "no": the notice of a change may still be on its way, or lost with a dead connection. */
  async #isHosted(domain: string): Promise<boolean> {
    const read = this.#hostedDomains();
    if ((await read).has(domain)) return true;
    if (this.#hosted === read && this.#now() - this.#hostedReadAt < HOSTED_MS) return false;
    if (this.#hosted === read) this.#hosted = undefined;
    return (await this.#hostedDomains()).has(domain);
  }

  /** Returns undefined, and drops the cached owner, when the owner no longer exists. */
  async #route(address: string, beside: readonly string[]): Promise<Recipient | undefined> {
    const { unknownRecipients } = this.#options;
    const owner = await this.#owners.owner(address, () => this.#store.ownerOf(address));
    if (owner !== undefined && !owner.isUnclaimed) return { kind: 'mailbox', accountId: owner.accountId };
    if (unknownRecipients === 'reject' && !isRole(address)) return { kind: 'unknown' };
    if (owner === undefined) {
      // Create nothing yet: a peer that only names addresses must not use up the bounds of the domain.
      return (await this.#unclaimedMailboxes.hasRoom(address, beside))
        ? { kind: 'unclaimed', address }
        : { kind: 'full' };
    }
    const acceptance = await this.#unclaimedMailboxes.acceptance(address, owner);
    if (acceptance === 'gone') {
      this.#owners.drop(address);
      return undefined;
    }
    return acceptance === 'full'
      ? { kind: 'full' }
      : { kind: 'mailbox', accountId: owner.accountId, unclaimedAddress: address };
  }

  /** Keys that are requested during a read are read together after it. */
  #keyOf(prefix: string): Promise<StoredKey | undefined> {
    this.#prefixes.add(prefix);
    return this.#keyReads.of('keys').then((keys) => keys.get(prefix));
  }

  async #readKeys(): Promise<ReadonlyMap<string, StoredKey>> {
    const read = [...this.#prefixes];
    this.#prefixes.clear();
    return new Map((await this.#store.keysByPrefixes(read)).map((key) => [key.prefix, key]));
  }
}
