// The directory for gateways: it finds the account that gets mail for an address, and the owner of a credential. The store has
// the facts; this file has the rules about unknown and unclaimed recipients (docs/interface/mail.md), and caches the facts.
import { Subject } from 'rxjs';
import { CoalescedReads } from '../../concurrency/coalesced-reads.js';
import { canonicalAddress, parseAddress, parseSender } from '../../mail-format/address.js';
import { isRewritten, type SenderRewriting } from '../../mail-format/srs.js';
import { clock } from '../../store/clock.js';
import type { AddressOwner, DirectoryChange, DirectoryStore, StoredKey } from '../../store/directory.js';
import { sessionEnd } from '../../store/sessions.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import { AddressResolution, isAlias } from './address-resolution.js';
import { matchesHash, parseApiKey } from './api-key.js';
import { HostedDomainCache } from './hosted-domains.js';
import type { KeyUses } from './key-uses.js';
import { Logins } from './logins.js';
import type {
  AccountNotice,
  Directory,
  HostedDomains,
  LoginClaims,
  LoginResult,
  Postmasters,
  Principal,
  Recipient,
  RecipientMailbox,
  SenderAlias,
  Senders,
} from './protocol.js';
import { mailboxesOf, unclaimedIn } from './protocol.js';
import { domainOf, isRole, UnclaimedMailboxes } from './unclaimed-mailboxes.js';

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
  /** Reads addresses of forwarded mail that come back; absent: there are none. */
  readonly rewriting?: SenderRewriting;
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

class CachedDirectory implements Directory, HostedDomains, Postmasters, Senders {
  readonly #options: DirectoryOptions;
  readonly #store: DirectoryStore;
  readonly #log: { info(fields: object, message: string): void };
  readonly #time: () => number;
  readonly #domains: HostedDomainCache;
  readonly #addresses: AddressResolution;
  readonly #unclaimedMailboxes: UnclaimedMailboxes;
  readonly #logins: Logins;
  readonly #revokedKeys = new Subject<string>();
  readonly #accountNotices = new Subject<AccountNotice>();
  readonly #deletedAccounts = new Subject<string>();
  readonly #missedChanges = new Subject<void>();
  /** Prefixes of the keys that the next read fetches. */
  readonly #prefixes = new Set<string>();
  readonly #keyReads: CoalescedReads<ReadonlyMap<string, StoredKey>>;
  #stopWatching = async () => {};
  #stopListening = () => {};
  readonly revokedKeys$ = this.#revokedKeys.asObservable();
  readonly accountNotices$ = this.#accountNotices.asObservable();
  readonly deletedAccounts$ = this.#deletedAccounts.asObservable();
  readonly missedChanges$ = this.#missedChanges.asObservable();

  constructor(options: DirectoryOptions) {
    this.#options = options;
    const { store, mailboxes, log, now = () => performance.now(), time = () => clock.now() } = options;
    this.#store = store;
    this.#log = log;
    this.#time = time;
    this.#domains = new HostedDomainCache(store, now);
    this.#addresses = new AddressResolution(store, this.#domains);
    this.#unclaimedMailboxes = new UnclaimedMailboxes(this.#store, mailboxes, now);
    this.#logins = new Logins(this.#store, this.#log);
    this.#keyReads = new CoalescedReads(() => this.#readKeys());
  }

  /** @throws StoreFault when the store cannot be read; nothing is open then */
  async start(): Promise<void> {
    // Watch before the first read, so that a change between the two still drops what was read.
    this.#stopWatching = await this.#store.watch((change) => this.#onChange(change));
    this.#stopListening =
      this.#options.revocations?.listen((keyId) => this.#revokedKeys.next(keyId)) ?? this.#stopListening;
    await this.#domains.all().catch(async (error: unknown) => {
      this.#stopListening();
      await this.#stopWatching();
      throw error;
    });
  }

  async recipient(text: string, beside: readonly string[] = []): Promise<Recipient> {
    if (isRewritten(text) && this.#options.rewriting !== undefined) return this.#returned(text, beside);
    const address = canonicalAddress(text);
    if (address === undefined) return { kind: 'notHosted' };
    if ((await this.#domains.find(domainOf(address))) === undefined) return { kind: 'notHosted' };
    // Resolves twice, because an unclaimed mailbox may have been deleted after it was cached.
    return (await this.#resolve(address, beside)) ?? (await this.#resolve(address, beside)) ?? { kind: 'unknown' };
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
    return address !== undefined && this.#addresses.isOwn(accountId, address);
  }

  async mayForwardTo(accountId: string, text: string): Promise<boolean> {
    const address = canonicalAddress(text);
    return address !== undefined && this.#addresses.mayForwardTo(accountId, address);
  }

  async maySendAs(accountId: string, text: string): Promise<boolean> {
    const address = canonicalAddress(text);
    return address !== undefined && this.#addresses.maySendAs(accountId, address);
  }

  postmasterOf(domain: string): Promise<string | undefined> {
    return this.#addresses.postmasterOf(domain);
  }

  senderAliases(accountId: string, addresses: readonly string[]): Promise<readonly SenderAlias[]> {
    return this.#addresses.senderAliases(accountId, addresses);
  }

  noteUse(keyId: string): void {
    this.#options.keyUses?.note(keyId);
  }

  async hosts(domain: string): Promise<boolean> {
    return (await this.#domains.find(domain))?.isBelow === false;
  }

  async accepts(domain: string): Promise<boolean> {
    return (await this.#domains.find(domain)) !== undefined;
  }

  login(claims: LoginClaims): Promise<LoginResult> {
    return this.#logins.open(claims);
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#stopWatching();
    this.#revokedKeys.complete();
    this.#accountNotices.complete();
    this.#deletedAccounts.complete();
    this.#missedChanges.complete();
  }

  #onChange(change: DirectoryChange): void {
    switch (change.kind) {
      case 'domains':
        this.#domains.drop();
        this.#addresses.cache.clear();
        return;
      case 'address':
        this.#addresses.cache.drop(change.address);
        return;
      case 'account-deleted':
        this.#addresses.cache.dropAccount(change.accountId);
        this.#logins.dropAccount(change.accountId);
        this.#deletedAccounts.next(change.accountId);
        return;
      case 'key-revoked':
        this.#revokedKeys.next(change.keyId);
        return;
      case 'sessions':
      case 'quotas':
      case 'sending':
        if (change.accountId !== undefined)
          this.#accountNotices.next({ accountId: change.accountId, about: change.kind });
        return;
      case 'all':
        this.#log.info({}, 'notifications of the directory may have been missed: reading the directory again');
        this.#domains.drop();
        this.#addresses.cache.clear();
        this.#logins.clear();
        this.#missedChanges.next();
    }
  }

  /** Undefined as for `#end`. An alias that leads to nobody is an unknown address. */
  async #resolve(address: string, beside: readonly string[]): Promise<Recipient | undefined> {
    const route = await this.#addresses.route(address);
    if (!isAlias(route)) return this.#end(address, route, beside);
    const { ends, fault } = await this.#addresses.expand(address);
    if (fault !== undefined) return { kind: 'loop' };
    const found = new Map<string, RecipientMailbox>();
    const elsewhere: string[] = [];
    // The ends are looked up together.
    const owners = await Promise.all(
      ends.map(async (end) =>
        (await this.#domains.find(domainOf(end))) === undefined ? 'elsewhere' : this.#addresses.route(end),
      ),
    );
    for (const [i, end] of ends.entries()) {
      const owner = owners[i];
      if (owner === 'elsewhere') {
        elsewhere.push(end);
        continue;
      }
      // The end has become an alias meanwhile: the caller resolves again.
      if (isAlias(owner)) return undefined;
      const recipient = await this.#end(end, owner, [...beside, ...unclaimedIn([...found.values()])]);
      // Everybody gets the message, or nobody.
      if (recipient === undefined || recipient.kind === 'full') return recipient;
      for (const mailbox of mailboxesOf(recipient))
        found.set(mailbox.kind === 'mailbox' ? mailbox.accountId : mailbox.address, mailbox);
    }
    if (elsewhere.length > 0) {
      const sender = await this.#sentBy(domainOf(address), elsewhere, [...beside, ...unclaimedIn([...found.values()])]);
      if (sender === undefined || sender.kind === 'full') return sender;
      const key = sender.kind === 'mailbox' ? sender.accountId : sender.address;
      const known = found.get(key);
      found.set(key, known === undefined ? sender : { ...known, onward: { targets: elsewhere, isPlaced: true } });
    }
    const [first, ...others] = found.values();
    if (first === undefined) return this.#unowned(address, beside);
    return others.length === 0 ? first : { kind: 'several', mailboxes: [first, ...others] };
  }

  /**
   * The mailbox of the domain's postmaster, on whose behalf mail goes to addresses elsewhere: its account's, else an unclaimed one. Undefined
   * as for `#end`.
   */
  async #sentBy(
    domain: string,
    targets: readonly string[],
    beside: readonly string[],
  ): Promise<RecipientMailbox | { readonly kind: 'full' } | undefined> {
    const onward = { targets, isPlaced: false };
    const accountId = await this.#addresses.postmasterOf(domain);
    if (accountId !== undefined) return { kind: 'mailbox', accountId, onward };
    const address = `postmaster@${domain}`;
    const route = await this.#addresses.route(address);
    const recipient = await this.#end(address, isAlias(route) ? undefined : route, beside);
    if (recipient === undefined || recipient.kind === 'full') return recipient;
    const [mailbox] = mailboxesOf(recipient);
    return mailbox && { ...mailbox, onward };
  }

  /** A bounce of forwarded mail goes back to the sender whose address was rewritten. */
  async #returned(text: string, beside: readonly string[]): Promise<Recipient> {
    const domain = parseAddress(text)?.domain ?? '';
    if ((await this.#domains.find(domain)) === undefined) return { kind: 'notHosted' };
    const original = this.#options.rewriting!.reverse(text, this.#time());
    if (original === undefined) return { kind: 'unknown' };
    const own = parseSender(original)!.domain;
    if ((await this.#domains.find(own)) !== undefined) return this.recipient(original, beside);
    return (await this.#sentBy(domain, [original], beside)) ?? { kind: 'full' };
  }

  /** The recipient that an address without an alias is. Undefined, and not cached any more, when its owner no longer exists. */
  async #end(
    address: string,
    owner: AddressOwner | undefined,
    beside: readonly string[],
  ): Promise<Recipient | undefined> {
    if (owner !== undefined && !owner.isUnclaimed) return { kind: 'mailbox', accountId: owner.accountId };
    if (owner === undefined) return this.#unowned(address, beside);
    if (this.#options.unknownRecipients === 'reject' && !isRole(address)) return { kind: 'unknown' };
    const acceptance = await this.#unclaimedMailboxes.acceptance(address, owner);
    if (acceptance === 'gone') {
      this.#addresses.cache.drop(address);
      return undefined;
    }
    return acceptance === 'full'
      ? { kind: 'full' }
      : { kind: 'mailbox', accountId: owner.accountId, unclaimedAddress: address };
  }

  /** Creates nothing yet: a peer that only names addresses must not use up the bounds of the domain. */
  async #unowned(address: string, beside: readonly string[]): Promise<Recipient> {
    if (this.#options.unknownRecipients === 'reject' && !isRole(address)) return { kind: 'unknown' };
    return (await this.#unclaimedMailboxes.hasRoom(address, beside))
      ? { kind: 'unclaimed', address }
      : { kind: 'full' };
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
