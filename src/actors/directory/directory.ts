// The directory as gateways see it: decides where mail for an address goes and whose credential a key is. The store has
// the facts; here are the rules about unknown and held recipients (CONTRACT §5) and what this node remembers of both.
import { Subject } from 'rxjs';
import { canonicalAddress } from '../../mail/address.js';
import type { AddressOwner, DirectoryChange, DirectoryStore } from '../../store/directory.js';
import { StoreFault } from '../../store/errors.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import { ActorFault } from '../runtime/errors.js';
import { AddressCache } from './address-cache.js';
import { matchesHash, parseApiKey } from './api-key.js';
import type { KeyUses } from './key-uses.js';
import { Logins } from './logins.js';
import type { Directory, Principal, Recipient } from './protocol.js';

/** Held addresses of one domain. */
const MAX_HELD = 1_000;
/** Messages in one held mailbox. */
const MAX_HELD_MESSAGES = 100;
/** "Not hosted" is for good, so it is not said by a list of hosted domains that is older. */
const HOSTED_MS = 1_000;
/** The owner of a mailbox that is not asked in vain answers within milliseconds. */
const ACCEPTANCE_DEADLINE_MS = 2_000;

export interface DirectoryOptions {
  readonly store: DirectoryStore;
  readonly mailboxes: Mailboxes;
  readonly unknownRecipients: 'hold' | 'reject';
  /** Address of the account that requests without a credential act as. */
  readonly anonymousAccount?: string;
  readonly keyUses?: Pick<KeyUses, 'note'>;
  readonly log: { info(fields: object, message: string): void };
  /** ms of a clock that does not jump. */
  readonly now?: () => number;
}

/** @throws StoreFault when the store cannot be read */
export async function createDirectory(options: DirectoryOptions): Promise<Directory & { close(): Promise<void> }> {
  const { store, mailboxes, log, now = () => performance.now() } = options;
  const owners = new AddressCache();
  const logins = new Logins(store, log);
  const revokedKeys = new Subject<string>();
  const deletedAccounts = new Subject<string>();
  let hosted: Promise<ReadonlySet<string>> | undefined;
  let hostedReadAt = 0;

  // Watching comes before the first read: what changes in between is dropped again.
  const stopWatching = await store.watch(onChange);
  await hostedDomains().catch(async (error: unknown) => {
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
        log.info({}, 'changes to the directory may have been missed; reading it anew');
        hosted = undefined;
        owners.clear();
        logins.clear();
    }
  }

  /** A read that fails is not remembered, so the next recipient tries again. */
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

  /** News of a change may be on their way, or lost with a connection that nobody knows to be dead. */
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
    // Twice: a held mailbox may have been deleted since it was remembered.
    return (await route(address, beside)) ?? (await route(address, beside)) ?? { kind: 'unknown' };
  }

  /** Undefined when the remembered owner is no more; it is forgotten then. */
  async function route(address: string, beside: readonly string[]): Promise<Recipient | undefined> {
    const { unknownRecipients } = options;
    const owner = await owners.owner(address, () => store.ownerOf(address));
    if (owner !== undefined && !owner.held) return { kind: 'mailbox', accountId: owner.accountId };
    if (unknownRecipients === 'reject') return { kind: 'unknown' };
    if (owner === undefined) {
      // Nothing is made yet: whoever only names addresses must not use up what the domain may hold.
      return (await hasRoom([...beside, address], address)) ? { kind: 'hold', address } : { kind: 'full' };
    }
    const verdict = await acceptance(owner);
    if (verdict === 'gone') {
      owners.drop(address);
      return undefined;
    }
    return verdict === 'full' ? { kind: 'full' } : { kind: 'mailbox', accountId: owner.accountId };
  }

  /** Whether all of the addresses that are in the domain of `address` can be held. */
  function hasRoom(addresses: readonly string[], address: string): Promise<boolean> {
    const domain = domainOf(address);
    const wanted = new Set(addresses.filter((other) => domainOf(other) === domain)).size;
    return store.heldRoom(address, MAX_HELD - (wanted - 1));
  }

  async function hold(addresses: readonly string[]): Promise<ReadonlyMap<string, string> | undefined> {
    if (options.unknownRecipients === 'reject') return undefined;
    // Those that got an owner since need no room; asking for it all the same errs on the safe side.
    const byDomain = new Map(addresses.map((address) => [domainOf(address), address]));
    for (const address of byDomain.values()) if (!(await hasRoom(addresses, address))) return undefined;
    const made = new Map<string, string>();
    for (const address of new Set(addresses)) {
      const held = await store.holdAddress(address, MAX_HELD);
      // Another message may have come first, and filled it.
      if (held.kind === 'full' || (await acceptance(held)) !== 'open') return undefined;
      made.set(address, held.accountId);
    }
    return made;
  }

  async function acceptance(owner: Pick<AddressOwner, 'accountId'>): Promise<'open' | 'full' | 'gone'> {
    try {
      const { reply } = await mailboxes
        .of(owner.accountId)
        .ask('acceptance', {}, { deadlineMs: ACCEPTANCE_DEADLINE_MS });
      return reply?.held === true && reply.total >= MAX_HELD_MESSAGES ? 'full' : 'open';
    } catch (error) {
      if (!(error instanceof ActorFault)) throw error;
      if (error.code === 'no-such-account') return 'gone';
      throw new StoreFault('store-unavailable', `held mailbox ${owner.accountId} cannot be asked: ${error.message}`, {
        temporary: true,
        cause: error,
      });
    }
  }

  async function authenticate(apiKey: string): Promise<Principal | undefined> {
    const parsed = parseApiKey(apiKey);
    if (parsed === undefined) return undefined;
    const [key] = await store.keysByPrefix(parsed.prefix);
    if (!matchesHash(apiKey, key?.hash) || key === undefined) return undefined;
    const { accountId, email, scopes, id, serviceWide } = key;
    options.keyUses?.note(id);
    return { accountId, email, scopes, keyId: id, serviceWide };
  }

  async function anonymous(): Promise<Principal | undefined> {
    const address = options.anonymousAccount === undefined ? undefined : canonicalAddress(options.anonymousAccount);
    const account = address === undefined ? undefined : await store.accountByEmail(address);
    if (account === undefined || account.held) return undefined;
    return { accountId: account.id, email: account.email, scopes: ['app'], keyId: null, serviceWide: false };
  }

  /** Whether or not its domain is hosted: an address elsewhere can be verified too. */
  async function isAddressOf(accountId: string, text: string): Promise<boolean> {
    const address = canonicalAddress(text);
    if (address === undefined) return false;
    const owner = await owners.owner(address, () => store.ownerOf(address));
    return owner !== undefined && !owner.held && owner.accountId === accountId;
  }

  return {
    recipient,
    hold,
    authenticate,
    isAddressOf,
    login: (claims) => logins.open(claims),
    anonymous,
    revokedKeys$: revokedKeys.asObservable(),
    deletedAccounts$: deletedAccounts.asObservable(),
    async close() {
      await stopWatching();
      revokedKeys.complete();
      deletedAccounts.complete();
    },
  };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
