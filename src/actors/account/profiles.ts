// An account's profile and its additional addresses. A requested address receives nothing until it is verified; the token that will prove
// it is created now, and only its hash is stored.
import { createHash } from 'node:crypto';
import { canonicalAddress, hasTag } from '../../mail-format/address.js';
import { uuidV8 } from '../../mail-format/ids.js';
import type { AccountAddress, DirectoryStore, Profile } from '../../store/directory.js';
import type { HostedDomains, SenderAlias, Senders } from '../directory/protocol.js';
import { domainOf } from '../directory/unclaimed-mailboxes.js';
import type { ProfileAddress, Profiles } from './protocol.js';

/** The addresses of one account, verified or not. */
const MOST_ADDRESSES = 50;
const TOKEN_OCTETS = 32;

export interface ProfilesOptions {
  readonly store: Pick<DirectoryStore, 'profile' | 'renameAccount' | 'requestAddress' | 'removeAddress'>;
  readonly senders: Senders & HostedDomains;
  /** Returns this many random octets. */
  readonly random: (octets: number) => Uint8Array;
}

export function createProfiles({ store, senders, random }: ProfilesOptions): Profiles {
  async function addressOf(address: AccountAddress): Promise<ProfileAddress> {
    const canSend = address.isVerified && (await senders.hosts(domainOf(address.address)));
    return { ...address, isAlias: false, canSend };
  }

  return {
    async read(accountId) {
      const profile = await store.profile(accountId);
      if (profile === undefined) return undefined;
      const additional = await Promise.all(profile.additionalAddresses.map(addressOf));
      const own = [profile.email, ...additional.flatMap(({ address, isVerified }) => (isVerified ? address : []))];
      const aliases = await senders.senderAliases(accountId, own);
      return { ...profile, additionalAddresses: [...additional, ...aliases.map((alias) => aliasOf(profile, alias))] };
    },
    maySendAs: (accountId, address) => senders.maySendAs(accountId, address),
    rename: (accountId, displayName) => store.renameAccount(accountId, displayName),

    async addAddress(accountId, text) {
      const address = canonicalAddress(text);
      if (address === undefined) return 'invalid';
      if (hasTag(text)) return 'tagged';
      const token = Buffer.from(random(TOKEN_OCTETS)).toString('base64url');
      const hash = createHash('sha256').update(token).digest('hex');
      const result = await store.requestAddress(accountId, address, hash, MOST_ADDRESSES);
      return result.kind === 'added' ? addressOf(result.address) : result.kind;
    },

    removeAddress: (accountId, addressId) => store.removeAddress(accountId, addressId),
  };
}

/** An alias has no row of the account: its id is made from both. */
function aliasOf({ id: accountId, createdAt }: Profile, alias: SenderAlias): ProfileAddress {
  const id = uuidV8(createHash('sha256').update(`${accountId} ${alias.address}`).digest());
  const addedAt = alias.createdAt ?? createdAt;
  return { id, address: alias.address, isVerified: true, addedAt, isAlias: true, canSend: true };
}
