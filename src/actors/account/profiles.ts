// An account's profile and its additional addresses. A requested address receives nothing until it is verified; the token that will prove
// it is created now, and only its hash is stored.
import { createHash } from 'node:crypto';
import { canonicalAddress, hasTag } from '../../mail-format/address.js';
import type { DirectoryStore } from '../../store/directory.js';
import type { Profiles } from './protocol.js';

/** The addresses of one account, verified or not. */
const MOST_ADDRESSES = 50;
const TOKEN_OCTETS = 32;

export interface ProfilesOptions {
  readonly store: Pick<DirectoryStore, 'profile' | 'renameAccount' | 'requestAddress' | 'removeAddress'>;
  /** Returns this many random octets. */
  readonly random: (octets: number) => Uint8Array;
}

export function createProfiles({ store, random }: ProfilesOptions): Profiles {
  return {
    read: (accountId) => store.profile(accountId),
    rename: (accountId, displayName) => store.renameAccount(accountId, displayName),

    async addAddress(accountId, text) {
      const address = canonicalAddress(text);
      if (address === undefined) return 'invalid';
      if (hasTag(text)) return 'tagged';
      const token = Buffer.from(random(TOKEN_OCTETS)).toString('base64url');
      const hash = createHash('sha256').update(token).digest('hex');
      const result = await store.requestAddress(accountId, address, hash, MOST_ADDRESSES);
      return result.kind === 'added' ? result.address : result.kind;
    },

    removeAddress: (accountId, addressId) => store.removeAddress(accountId, addressId),
  };
}
