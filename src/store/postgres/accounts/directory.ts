// The directory in PostgreSQL: combines the statements about accounts, addresses, keys and domains to one store, and converts the
// driver's errors to faults and conflicts.
import { isUuid } from '../../../mail-format/ids.js';
import type { AliasStore } from '../../addresses/aliases.js';
import { DirectoryConflict, type DirectoryStore } from '../../directory.js';
import { codeOf, type Sql, storeFault } from '../driver/client.js';
import {
  createAccount,
  deleteAccount,
  findAccountByEmail,
  findAccountById,
  findAccountsWith,
  listAccounts,
  setDisplayName,
} from './accounts.js';
import { addressRoutes, findOwner } from './address-rows.js';
import {
  confirmVerification,
  findVerification,
  renewVerification,
  withdrawVerification,
} from './address-verifications.js';
import { addAddress, addForwardingTarget, deleteAddress, isForwardingTarget, requestAddress } from './addresses.js';
import { deleteAlias, findAliasesNaming, insertAlias, listAliases } from './aliases.js';
import { watchChanges } from './directory-changes.js';
import {
  countAddresses,
  deleteDomain,
  insertDomain,
  insertDomainAlias,
  listDomains,
  listRoutedDomains,
} from './domains.js';
import {
  activeKeys,
  activeKeysByPrefixes,
  deleteRevokedKeys,
  insertKey,
  insertKeyWithin,
  markKeyOfRevoked,
  markKeyRevoked,
  noteKeyUses,
  replaceKey,
} from './keys.js';
import { findLogin, provisionLogin } from './logins.js';
import { findProfile } from './profiles.js';
import { deleteUnclaimed, listExpiredUnclaimed, unclaimedOpener } from './unclaimed-mailboxes.js';
import { hasUnclaimedRoom, unclaimedSurplus, unclaimedUsage } from './unclaimed-usage.js';

/**
 * `shards`: the number of shards of this store (LeaseStore.shardCount). `announced`: gets keys whose revocation is committed; the
 * revoking call waits for it.
 */
export function postgresDirectory(
  sql: Sql,
  shards: number,
  announced: (keyIds: readonly string[]) => Promise<void> = async () => {},
): DirectoryStore {
  async function revoking(id: string, revoke: () => Promise<boolean>): Promise<boolean> {
    const isRevoked = isUuid(id) && (await revoke().catch(rethrow));
    if (isRevoked) await announced([id.toLowerCase()]);
    return isRevoked;
  }

  return {
    domains: () => listDomains(sql).catch(rethrow),
    addDomain: (name) => insertDomain(sql, name).catch(rethrow),
    removeDomain: (name) => deleteDomain(sql, name).catch(rethrowTaken),
    addressesAt: (domain) => countAddresses(sql, domain).catch(rethrow),
    createAccount: (email, displayName) => createAccount(sql, shards, email, displayName).catch(rethrowTaken),
    accounts: () => listAccounts(sql).catch(rethrow),
    accountByEmail: (email) => findAccountByEmail(sql, email).catch(rethrow),
    accountById: async (id) => (isUuid(id) ? findAccountById(sql, id).catch(rethrow) : undefined),
    accountOfLogin: (login) => findLogin(sql, login).catch(rethrow),
    provision: (login) => provisionLogin(sql, shards, login).catch(rethrow),
    profile: async (id) => (isUuid(id) ? findProfile(sql, id).catch(rethrow) : undefined),
    renameAccount: async (id, displayName) => isUuid(id) && setDisplayName(sql, id, displayName).catch(rethrow),
    deleteAccount: async (id) => isUuid(id) && deleteAccount(sql, id).catch(rethrow),
    addAddress: (accountId, address, verified) => addAddress(sql, accountId, address, verified).catch(rethrowTaken),
    addForwardingTarget: (accountId, address) => addForwardingTarget(sql, accountId, address).catch(rethrowTaken),
    isForwardingTarget: async (accountId, address) =>
      isUuid(accountId) && isForwardingTarget(sql, accountId, address).catch(rethrow),
    ...addressVerifications(sql),
    accountsWith: (address) => findAccountsWith(sql, address).catch(rethrow),
    removeAddress: async (accountId, addressId) =>
      isUuid(addressId) && deleteAddress(sql, accountId, addressId).catch(rethrow),
    ownerOf: (address) => findOwner(sql, address).catch(rethrow),
    routeOf: addressRoutes(sql),
    ...aliasesAndDomains(sql),
    openUnclaimed: unclaimedOpener(sql, shards),
    hasUnclaimedRoom: (address, limit) => hasUnclaimedRoom(sql, address, limit).catch(rethrow),
    unclaimedUsage: (exceptNames) => unclaimedUsage(sql, exceptNames).catch(rethrow),
    unclaimedSurplus: (accountId, kept) => unclaimedSurplus(sql, accountId, kept).catch(rethrow),
    expiredUnclaimed: (before, limit) => listExpiredUnclaimed(sql, before, limit).catch(rethrow),
    deleteUnclaimed: (id, before) => deleteUnclaimed(sql, id, before).catch(rethrow),
    createKey: (key) => insertKey(sql, key).catch(rethrow),
    async createKeyWithin(limit, key) {
      const rekeyed = await insertKeyWithin(sql, limit, key).catch(rethrow);
      if (rekeyed !== undefined && rekeyed.revoked.length > 0) await announced(rekeyed.revoked);
      return rekeyed?.made;
    },
    keys: (accountId) => activeKeys(sql, accountId).catch(rethrow),
    keysByPrefixes: (prefixes) => activeKeysByPrefixes(sql, prefixes).catch(rethrow),
    dropRevokedKeys: (maxAgeMs) => deleteRevokedKeys(sql, maxAgeMs).catch(rethrow),
    revokeKey: (id) => revoking(id, () => markKeyRevoked(sql, id)),
    revokeKeyOf: (accountId, id) => revoking(id, () => markKeyOfRevoked(sql, accountId, id)),
    async rotateKey(accountId, id, minted) {
      const made = isUuid(id) ? await replaceKey(sql, accountId, id, minted).catch(rethrow) : undefined;
      if (made !== undefined) await announced([id.toLowerCase()]);
      return made;
    },
    touchKeys: (uses) => noteKeyUses(sql, uses).catch(rethrow),
    watch: (onChange) => watchChanges(sql, onChange).catch(rethrow),
  };
}

function addressVerifications(
  sql: Sql,
): Pick<
  DirectoryStore,
  'requestAddress' | 'renewVerification' | 'withdrawVerification' | 'findVerification' | 'confirmVerification'
> {
  return {
    requestAddress: (accountId, address, hash, limit, rates) =>
      requestAddress(sql, accountId, address, hash, limit, rates).catch(rethrow),
    renewVerification: async (accountId, addressId, hash, rates) =>
      isUuid(addressId)
        ? renewVerification(sql, accountId, addressId, hash, rates).catch(rethrow)
        : { kind: 'noSuchAddress' },
    withdrawVerification: (accountId, address) => withdrawVerification(sql, accountId, address).catch(rethrow),
    findVerification: (hash, maxAgeMs) => findVerification(sql, hash, maxAgeMs).catch(rethrow),
    confirmVerification: (hash, maxAgeMs) => confirmVerification(sql, hash, maxAgeMs).catch(rethrow),
  };
}

function aliasesAndDomains(sql: Sql): AliasStore {
  return {
    addAlias: (alias) => insertAlias(sql, alias).catch(rethrowTaken),
    aliases: (domain) => listAliases(sql, domain).catch(rethrow),
    removeAlias: (address) => deleteAlias(sql, address).catch(rethrow),
    aliasesNaming: (addresses, limit) => findAliasesNaming(sql, addresses, limit).catch(rethrow),
    aliasDomain: (name, target) => insertDomainAlias(sql, name, target).catch(rethrowTaken),
    routedDomains: () => listRoutedDomains(sql).catch(rethrow),
  };
}

function rethrow(error: unknown): never {
  throw storeFault(error);
}

const UNIQUE_VIOLATION = '23505';

function rethrowTaken(error: unknown): never {
  if (error instanceof DirectoryConflict) throw error;
  if (codeOf(error) === UNIQUE_VIOLATION) throw new DirectoryConflict('the address is taken');
  throw storeFault(error);
}
