// Finds what an address leads to, for every gateway and for local deliveries: an account, or the ends of an alias. The order is account,
// alias, catch-all, whole domain, unclaimed mailbox (docs/interface/mail.md, "Aliases"). It also decides who may send as an alias.
import { canonicalAddress } from '../../mail-format/address.js';
import { atDomain, type Expansion, expandAlias, isCatchAll } from '../../mail-format/alias-expansion.js';
import type { AliasRoute } from '../../store/addresses/aliases.js';
import type { AddressRoute, DirectoryStore } from '../../store/directory.js';
import { AddressCache } from './address-cache.js';
import type { HostedDomainCache } from './hosted-domains.js';
import type { SenderAlias } from './protocol.js';
import { domainOf } from './unclaimed-mailboxes.js';

/** The most aliases that are examined for one account, and the most that it is shown. */
const MOST_EXAMINED = 1_000;
const MOST_SHOWN = 200;
const LEVELS = 10;

type Store = Pick<DirectoryStore, 'routeOf' | 'aliasesNaming' | 'accountById' | 'isForwardingTarget'>;

export class AddressResolution {
  readonly #store: Store;
  readonly #domains: HostedDomainCache;
  readonly #routes = new AddressCache();

  constructor(store: Store, domains: HostedDomainCache) {
    this.#store = store;
    this.#domains = domains;
  }

  get cache(): Pick<AddressCache, 'drop' | 'dropAccount' | 'clear'> {
    return this.#routes;
  }

  /** `address`: in canonical form. One cached look-up. @throws StoreFault */
  route(address: string): Promise<AddressRoute | undefined> {
    return this.#routes.route(address, async () => {
      const found = await this.#store.routeOf(address);
      return accountOf(found) !== undefined || isAlias(found) ? found : ((await this.#ofDomain(address)) ?? found);
    });
  }

  /** The addresses to which an alias leads in the end. @throws StoreFault */
  expand(address: string): Promise<Expansion> {
    return expandAlias(address, (addresses) =>
      Promise.all(
        addresses.map(async (one) => {
          const route = await this.route(one);
          return isAlias(route) ? Promise.all(route.targets.map((target) => this.#lookedUp(target))) : undefined;
        }),
      ),
    );
  }

  /** A target keeps its `+tag` only elsewhere; its domain may be hosted since the alias was added. */
  async #lookedUp(target: string): Promise<string> {
    if (!target.includes('+') || (await this.#domains.find(domainOf(target))) === undefined) return target;
    return canonicalAddress(target) ?? target;
  }

  /** The account that gets the mail of the domain's postmaster; undefined without one. @throws StoreFault */
  async postmasterOf(domain: string): Promise<string | undefined> {
    const address = `postmaster@${domain}`;
    const { ends = [] } = await this.expand(address);
    for (const end of ends) {
      const accountId = accountOf(await this.route(end));
      if (accountId !== undefined) return accountId;
    }
    return undefined;
  }

  /** Whether the account has the address as its own or as a verified one, wherever its domain is hosted. @throws StoreFault */
  async isOwn(accountId: string, address: string): Promise<boolean> {
    return accountOf(await this.route(address)) === accountId;
  }

  /** As `Senders.mayForwardTo`; `address`: in canonical form. @throws StoreFault */
  async mayForwardTo(accountId: string, address: string): Promise<boolean> {
    const route = await this.route(address);
    if (accountOf(route) === accountId) return true;
    // A target that nobody has any more gets no unclaimed mailbox.
    if (accountOf(route) === undefined && !isAlias(route)) return false;
    return this.#store.isForwardingTarget(accountId, address);
  }

  /** As `Senders.maySendAs`; `address`: in canonical form. @throws StoreFault */
  async maySendAs(accountId: string, address: string): Promise<boolean> {
    const isHosted = (await this.#domains.find(domainOf(address))) !== undefined;
    const route = await this.route(address);
    if (!isAlias(route)) {
      if (accountOf(route) !== accountId) return false;
      // A verified address elsewhere is for forwarding; the account's own may be anywhere.
      return isHosted || (await this.#store.accountById(accountId))?.email === address;
    }
    if (!isHosted) return false;
    if (route.isOfDomain === true) return this.maySendAs(accountId, route.targets[0]!);
    const { ends = [] } = await this.expand(address);
    const takers = await Promise.all(ends.map(async (end) => accountOf(await this.route(end))));
    return takers.includes(accountId) && (route.sendAs || takers.every((taker) => taker === accountId));
  }

  /** Aliases that name one of the addresses, directly or through others, and as which the account may send. @throws StoreFault */
  async senderAliases(accountId: string, addresses: readonly string[]): Promise<readonly SenderAlias[]> {
    const examined = new Map<string, SenderAlias>();
    let level: readonly string[] = addresses;
    for (let depth = 0; depth <= LEVELS && level.length > 0 && examined.size < MOST_EXAMINED; depth++) {
      const named = await this.#store.aliasesNaming(level, MOST_EXAMINED);
      const twins = (await Promise.all(level.map((one) => this.#twinsOf(one)))).flat();
      const found: readonly SenderAlias[] = [...named, ...twins].filter(
        ({ address }) => !examined.has(address) && !addresses.includes(address),
      );
      for (const { address, createdAt } of found) examined.set(address, { address, createdAt });
      level = found.map(({ address }) => address);
    }
    const allowed: SenderAlias[] = [];
    for (const alias of examined.values()) {
      if (allowed.length === MOST_SHOWN) break;
      if (!isCatchAll(alias.address) && (await this.maySendAs(accountId, alias.address))) allowed.push(alias);
    }
    return allowed.sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  /** The same name at the domains that are other names of the address's domain. */
  async #twinsOf(address: string): Promise<readonly SenderAlias[]> {
    const domains = await this.#domains.aliasesOf(domainOf(address));
    return domains.map((domain) => ({ address: atDomain(address, domain), createdAt: undefined }));
  }

  async #ofDomain(address: string): Promise<AliasRoute | undefined> {
    const whole = (await this.#domains.find(domainOf(address)))?.aliasOf ?? undefined;
    if (whole === undefined) return undefined;
    return { alias: address, targets: [atDomain(address, whole)], sendAs: false, isOfDomain: true };
  }
}

export const isAlias = (route: AddressRoute | undefined): route is AliasRoute =>
  route !== undefined && 'alias' in route;

/** The account that has the address; undefined for an unclaimed mailbox. */
function accountOf(route: AddressRoute | undefined): string | undefined {
  return route === undefined || isAlias(route) || route.isUnclaimed ? undefined : route.accountId;
}
