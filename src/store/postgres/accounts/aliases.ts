// The rows of aliases. An alias is added under the lock of its domain, so that no account gets its address meanwhile, and under one lock of
// all aliases, so that two of them cannot form a loop. domains.ts has the aliases of whole domains.
import { canonicalAddress } from '../../../mail-format/address.js';
import {
  type AliasFault,
  atDomain,
  expandAlias,
  isCatchAll,
  MOST_ALIASES_DEEP,
  MOST_TARGETS,
} from '../../../mail-format/alias-expansion.js';
import type { Alias, NewAlias } from '../../addresses/aliases.js';
import { DirectoryConflict } from '../../directory.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { domainOf, findOwner, findRoutes, lockDomain } from './address-rows.js';
import { endMailedVerifications } from './address-verifications.js';
import { announce } from './directory-changes.js';
import { listRoutedDomains } from './domains.js';
import { moveUnclaimed } from './unclaimed-mailboxes.js';

const aliasColumns = (sql: Sql | SqlTransaction) =>
  sql`address, targets, send_as as "sendAs", created_at as "createdAt"`;

const FAULTS: Readonly<Record<AliasFault, string>> = {
  loop: 'leads back to itself',
  tooDeep: `has more than ${MOST_ALIASES_DEEP} aliases in a row`,
  tooMany: `leads to more than ${MOST_TARGETS} addresses, or through more than ${MOST_TARGETS} aliases`,
};

/** Targets may have a `+tag`, which stays at domains elsewhere. @throws DirectoryConflict */
export async function insertAlias(sql: Sql, asked: NewAlias): Promise<Alias> {
  return sql.begin(async (tx) => {
    const alias = { ...asked, targets: await keptTargets(tx, asked.targets) };
    const { address, targets, sendAs } = alias;
    await lockDomain(tx, domainOf(address));
    await tx`select pg_advisory_xact_lock(hashtextextended('mansio aliases', 0))`;
    const same = await sameAlias(tx, alias);
    if (same !== undefined) {
      // A mailbox that was opened before the alias may have got mail since.
      await moveUnclaimedMail(tx, address, await takersOf(tx, new AliasWalk(tx), address));
      return same;
    }
    await refuseTaken(tx, address);
    const [added] = await tx<[Alias]>`
      insert into aliases (address, targets, send_as) values (${address}, ${tx.array([...targets])}::text[], ${sendAs})
      returning ${aliasColumns(tx)}`;
    const walk = new AliasWalk(tx);
    await walk.refuseFaults(address);
    await refuseUnowned(tx, walk, alias);
    await moveUnclaimedMail(tx, address, await takersOf(tx, walk, address));
    await announce(tx, { kind: 'address', address });
    // A catch-all of a domain below a hosted one makes its mail accepted.
    if (isCatchAll(address)) {
      await endMailedVerifications(tx, domainOf(address));
      await announce(tx, { kind: 'domains' });
    }
    return added;
  });
}

/** Undefined when there is no alias of the address. @throws DirectoryConflict when there is another one */
async function sameAlias(tx: SqlTransaction, { address, targets, sendAs }: NewAlias): Promise<Alias | undefined> {
  const [found] = await tx<Alias[]>`select ${aliasColumns(tx)} from aliases where address = ${address}`;
  if (found === undefined) return undefined;
  const isSame = found.sendAs === sendAs && found.targets.join() === targets.join();
  if (isSame) return found;
  throw new DirectoryConflict(`${address} is an alias of ${found.targets.join(', ')} already: remove it first`);
}

async function refuseTaken(tx: SqlTransaction, address: string): Promise<void> {
  const domain = domainOf(address);
  const hosts = await tx<{ name: string; aliasOf: string | null }[]>`
    select d.name, a.target as "aliasOf" from domains d left join domain_aliases a using (name)
    where d.name = ${domain} or ${domain} like '%.' || d.name`;
  const own = hosts.find(({ name }) => name === domain);
  if (isCatchAll(address)) {
    if (hosts.length === 0) throw new DirectoryConflict(`not a hosted domain: ${domain}`);
    if (own !== undefined && own.aliasOf !== null)
      throw new DirectoryConflict(`${domain} is an alias of ${own.aliasOf} as a whole (see mansio domain list)`);
    return;
  }
  if (own === undefined) throw new DirectoryConflict(`not a hosted domain: ${domain} (see mansio domain add)`);
  const owner = await findOwner(tx, address);
  if (owner?.isUnclaimed === false) throw new DirectoryConflict(`${address} is an address of an account`);
}

/** Mail for targets elsewhere belongs to the account of the domain's postmaster: without one, no alias leads there. */
async function refuseUnowned(tx: SqlTransaction, walk: AliasWalk, { address, targets }: NewAlias): Promise<void> {
  const elsewhere = await addressesElsewhere(tx, targets);
  if (elsewhere.length === 0) return;
  const postmaster = `postmaster@${domainOf(address)}`;
  if ((await walk.accountsOf(postmaster)).length > 0) return;
  throw new DirectoryConflict(
    `no account has ${postmaster}, to which mail for ${elsewhere.join(', ')} would belong: add an alias or an address for it`,
  );
}

/** Addresses of hosted domains are in canonical form, in which they are looked up. */
async function keptTargets(tx: SqlTransaction, targets: readonly string[]): Promise<readonly string[]> {
  const elsewhere = new Set(await addressesElsewhere(tx, targets));
  return [...new Set(targets.map((target) => (elsewhere.has(target) ? target : (canonicalAddress(target) ?? target))))];
}

async function addressesElsewhere(tx: SqlTransaction, addresses: readonly string[]): Promise<readonly string[]> {
  const hosted = new Set((await listRoutedDomains(tx)).map(({ name }) => name));
  return addresses.filter((address) => !hosted.has(domainOf(address)));
}

/** The accounts that the alias leads to; where it leads only elsewhere, the postmaster's, to which its mail belongs. */
async function takersOf(tx: SqlTransaction, walk: AliasWalk, address: string): Promise<readonly string[]> {
  const accounts = await walk.accountsOf(address);
  if (accounts.length > 0) return accounts;
  const elsewhere = await addressesElsewhere(tx, await walk.endsOf(address));
  return elsewhere.length > 0 ? walk.accountsOf(`postmaster@${domainOf(address)}`) : [];
}

/** Unclaimed mail for the address goes to these accounts; without one, it stays. */
async function moveUnclaimedMail(tx: SqlTransaction, address: string, takers: readonly string[]): Promise<void> {
  if (takers.length === 0) return;
  const waiting = await tx<{ address: string; accountId: string }[]>`
    select address, account_id as "accountId" from addresses a
    where unclaimed and ${isCatchAll(address) ? tx`domain = ${domainOf(address)}` : tx`address = ${address}`}
      and not exists (select from aliases o where o.address = a.address and o.address <> ${address})`;
  for (const { address: unclaimed, accountId } of waiting) {
    await moveUnclaimed(tx, accountId, takers);
    await announce(tx, { kind: 'address', address: unclaimed });
  }
}

export async function listAliases(sql: Sql, domain: string | undefined): Promise<readonly Alias[]> {
  const which = domain === undefined ? sql`true` : sql`split_part(reverse(address), '@', 1) = reverse(${domain})`;
  return [...(await sql<Alias[]>`select ${aliasColumns(sql)} from aliases where ${which} order by address`)];
}

export async function deleteAlias(sql: Sql, address: string): Promise<Alias | undefined> {
  return sql.begin(async (tx) => {
    const [gone] = await tx<Alias[]>`delete from aliases where address = ${address} returning ${aliasColumns(tx)}`;
    if (gone === undefined) return undefined;
    await announce(tx, { kind: 'address', address });
    if (isCatchAll(address)) await announce(tx, { kind: 'domains' });
    return gone;
  });
}

export async function findAliasesNaming(
  sql: Sql | SqlTransaction,
  addresses: readonly string[],
  limit: number,
): Promise<readonly Alias[]> {
  if (addresses.length === 0) return [];
  const rows = await sql<Alias[]>`
    select ${aliasColumns(sql)} from aliases where targets && ${sql.array([...addresses])}::text[]
    order by address limit ${limit}`;
  return [...rows];
}

/** Follows aliases over the rows of a transaction. It remembers what it has read. */
class AliasWalk {
  readonly #tx: SqlTransaction;
  readonly #targets = new Map<string, readonly string[] | undefined>();

  constructor(tx: SqlTransaction) {
    this.#tx = tx;
  }

  /** @throws DirectoryConflict when the alias, or an alias that leads to it, is beyond a bound now */
  async refuseFaults(address: string): Promise<void> {
    for (const one of [address, ...(await this.#leadingTo(address))]) {
      const { fault } = await expandAlias(one, (addresses) => this.#targetsOf(addresses));
      if (fault !== undefined) throw new DirectoryConflict(`${one} then ${FAULTS[fault]}`);
    }
  }

  async endsOf(address: string): Promise<readonly string[]> {
    const { ends = [] } = await expandAlias(address, (addresses) => this.#targetsOf(addresses));
    return ends;
  }

  async accountsOf(address: string): Promise<readonly string[]> {
    const routes = await findRoutes(this.#tx, await this.endsOf(address));
    const accounts = routes.flatMap((route) =>
      route !== undefined && 'accountId' in route && !route.isUnclaimed ? [route.accountId] : [],
    );
    return [...new Set(accounts)];
  }

  /** Aliases from which a way leads to the address; more of them than the address has, when a catch-all is among them. */
  async #leadingTo(address: string): Promise<readonly string[]> {
    const found = new Set<string>();
    let level = [address];
    while (level.length > 0) {
      const before = await this.#naming(level);
      level = before.filter((one) => one !== address && !found.has(one));
      for (const one of level) found.add(one);
    }
    return [...found];
  }

  /** For a catch-all, all aliases that name an address of its domain. */
  async #naming(addresses: readonly string[]): Promise<readonly string[]> {
    const twins = await this.#tx<{ name: string; target: string }[]>`
      select name, target from domain_aliases where target = any(${this.#tx.array(addresses.map(domainOf))}::text[])`;
    const names = addresses.flatMap((one) => [
      one,
      ...twins.filter(({ target }) => target === domainOf(one)).map(({ name }) => atDomain(one, name)),
    ]);
    const domains = names.filter(isCatchAll).map(domainOf);
    const rows = await this.#tx<{ address: string }[]>`
      select address from aliases where targets && ${this.#tx.array(names)}::text[]
      union
      select address from aliases, unnest(targets) target
      where ${domains.length > 0} and substring(target from '[^@]*$') = any(${this.#tx.array(domains)}::text[])`;
    return rows.map((row) => row.address);
  }

  async #targetsOf(addresses: readonly string[]): Promise<readonly (readonly string[] | undefined)[]> {
    const missing = addresses.filter((one) => !this.#targets.has(one));
    if (missing.length > 0) {
      const routes = await findRoutes(this.#tx, missing);
      const domains = await this.#tx<{ name: string; target: string }[]>`
        select name, target from domain_aliases where name = any(${this.#tx.array(missing.map(domainOf))}::text[])`;
      const wholes = new Map(domains.map(({ name, target }) => [name, target]));
      missing.forEach((one, i) => {
        const route = routes[i];
        const whole = wholes.get(domainOf(one));
        const isFree = route === undefined || ('isUnclaimed' in route && route.isUnclaimed);
        const other = isFree && whole !== undefined ? [atDomain(one, whole)] : undefined;
        this.#targets.set(one, route !== undefined && 'alias' in route ? route.targets : other);
      });
    }
    return addresses.map((one) => this.#targets.get(one));
  }
}
