// The directory for gateways: it finds the account that gets mail for an address, and the owner of a credential. The store has
// the facts; this file has the rules about unknown and unclaimed recipients (docs/interface/mail.md), and caches the facts.
import { Subject } from 'rxjs';
import { canonicalAddress } from '../../mail/address.js';
import type { DirectoryChange, DirectoryStore, StoredKey } from '../../store/directory.js';
import { CoalescedReads } from '../../work/coalesced-reads.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import { AddressCache } from './address-cache.js';
import { matchesHash, parseApiKey } from './api-key.js';
import type { KeyUses } from './key-uses.js';
import { Logins } from './logins.js';
import type { Directory, HostedDomains, Principal, Recipient } from './protocol.js';
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
}

/** @throws StoreFault when the store cannot be read */
export async function createDirectory(
  options: DirectoryOptions,
): Promise<Directory & HostedDomains & { close(): Promise<void> }> {
  const { store, mailboxes, log, now = () => performance.now() } = options;
  const owners = new AddressCache();
  const unclaimedMailboxes = new UnclaimedMailboxes(store, mailboxes, now);
  const logins = new Logins(store, log);
  const revokedKeys = new Subject<string>();
  const deletedAccounts = new Subject<string>();
  const missedChanges = new Subject<void>();
  /** Prefixes of the keys that the next read fetches. */
  const prefixes = new Set<string>();
  const keyReads = new CoalescedReads(readKeys);
  let hosted: Promise<ReadonlySet<string>> | undefined;
  let hostedReadAt = 0;

  // Watch before the first read, so that a change between the two still drops what was read.
  const stopWatching = await store.watch(onChange);
  const stopListening = options.revocations?.listen((keyId) => revokedKeys.next(keyId));
  await hostedDomains().catch(async (error: unknown) => {
    stopListening?.();
    await stopWatching();
    throw error;
  });

  function onChange(change: DirectoryChange): void {
    switch (change.kind) {
      case 'domains':
        hosted = undefined;
        return;
      case 'address':
        owners.drop(change.address);
        return;
      case 'account-deleted':
        owners.dropAccount(change.accountId);
        logins.dropAccount(change.accountId);
        deletedAccounts.next(change.accountId);
        return;
      case 'key-revoked':
        revokedKeys.next(change.keyId);
        return;
      case 'all':
        log.info({}, 'notifications of the directory may have been missed: reading the directory again');
        hosted = undefined;
        owners.clear();
        logins.clear();
        missedChanges.next();
    }
  }

  /** A failed read is not cached, so the next recipient tries again. */
  function hostedDomains(): Promise<ReadonlySet<string>> {
    if (hosted !== undefined) return hosted;
    const read = store.domains().then((domains) => new Set(domains.map((domain) => domain.name)));
    hosted = read;
    hostedReadAt = now();
    read.catch(() => {
      if (hosted === read) hosted = undefined;
    });
    return read;
  }

  /** Reads again before it answers "no": the notice of a change may still be on its way, or lost with a dead connection. */
  async function isHosted(domain: string): Promise<boolean> {
    const read = hostedDomains();
    if ((await read).has(domain)) return true;
    if (hosted === read && now() - hostedReadAt < HOSTED_MS) return false;
    if (hosted === read) hosted = undefined;
    return (await hostedDomains()).has(domain);
  }

  async function recipient(text: string, beside: readonly string[] = []): Promise<Recipient> {
    const address = canonicalAddress(text);
    if (address === undefined) return { kind: 'notHosted' };
    if (!(await isHosted(domainOf(address)))) return { kind: 'notHosted' };
    // Routes twice, because an unclaimed mailbox may have been deleted after it was cached.
    return (await route(address, beside)) ?? (await route(address, beside)) ?? { kind: 'unknown' };
  }

  /** Returns undefined, and drops the cached owner, when the owner no longer exists. */
  async function route(address: string, beside: readonly string[]): Promise<Recipient | undefined> {
    const { unknownRecipients } = options;
    const owner = await owners.owner(address, () => store.ownerOf(address));
    if (owner !== undefined && !owner.isUnclaimed) return { kind: 'mailbox', accountId: owner.accountId };
    if (unknownRecipients === 'reject' && !isRole(address)) return { kind: 'unknown' };
    if (owner === undefined) {
      // Create nothing yet: a peer that only names addresses must not use up the bounds of the domain.
      return (await unclaimedMailboxes.hasRoom(address, beside)) ? { kind: 'unclaimed', address } : { kind: 'full' };
    }
    const acceptance = await unclaimedMailboxes.acceptance(address, owner);
    if (acceptance === 'gone') {
      owners.drop(address);
      return undefined;
    }
    return acceptance === 'full'
      ? { kind: 'full' }
      : { kind: 'mailbox', accountId: owner.accountId, unclaimedAddress: address };
  }

  async function openUnclaimed(addresses: readonly string[], octets: number, existing: readonly string[] = []) {
    if (options.unknownRecipients === 'reject' && !addresses.every(isRole)) return undefined;
    return unclaimedMailboxes.open(addresses, octets, existing);
  }

  /** Keys that are requested during a read are read together after it. */
  function keyOf(prefix: string): Promise<StoredKey | undefined> {
    prefixes.add(prefix);
    return keyReads.of('keys').then((keys) => keys.get(prefix));
  }

  async function readKeys(): Promise<ReadonlyMap<string, StoredKey>> {
    const read = [...prefixes];
    prefixes.clear();
    return new Map((await store.keysByPrefixes(read)).map((key) => [key.prefix, key]));
  }

  async function authenticate(apiKey: string): Promise<Principal | undefined> {
    const parsed = parseApiKey(apiKey);
    if (parsed === undefined) return undefined;
    const key = await keyOf(parsed.prefix);
    if (!matchesHash(apiKey, key?.hash) || key === undefined) return undefined;
    const { accountId, email, scopes, id, serviceWide } = key;
    options.keyUses?.note(id);
    return { accountId, email, scopes, keyId: id, serviceWide };
  }

  async function anonymous(): Promise<Principal | undefined> {
    const address = options.anonymousAccount === undefined ? undefined : canonicalAddress(options.anonymousAccount);
    const account = address === undefined ? undefined : await store.accountByEmail(address);
    if (account === undefined || account.isUnclaimed) return undefined;
    return { accountId: account.id, email: account.email, scopes: ['app'], keyId: null, serviceWide: false };
  }

  /** Checks the address even when its domain is not hosted here: an address elsewhere can be verified too. */
  async function isAddressOf(accountId: string, text: string): Promise<boolean> {
    const address = canonicalAddress(text);
    if (address === undefined) return false;
    const owner = await owners.owner(address, () => store.ownerOf(address));
    return owner !== undefined && !owner.isUnclaimed && owner.accountId === accountId;
  }

  return {
    recipient,
    openUnclaimed,
    authenticate,
    noteUse: (keyId) => options.keyUses?.note(keyId),
    hosts: isHosted,
    isAddressOf,
    login: (claims) => logins.open(claims),
    anonymous,
    revokedKeys$: revokedKeys.asObservable(),
    deletedAccounts$: deletedAccounts.asObservable(),
    missedChanges$: missedChanges.asObservable(),
    async close() {
      stopListening?.();
      await stopWatching();
      revokedKeys.complete();
      deletedAccounts.complete();
      missedChanges.complete();
    },
  };
}
