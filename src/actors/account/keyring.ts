// API keys as their account manages them. `actors/directory/api-key` defines the text of a key; the store and `node/engine/revocations`
// make a revoked key fail at once everywhere.

import type { DirectoryStore } from '../../store/directory.js';
import { newApiKey } from '../directory/api-key.js';
import type { KeyUses } from '../directory/key-uses.js';
import type { Keyring } from './protocol.js';

/** The active keys of one account. */
const MOST_KEYS = 100;

export interface KeyringOptions {
  readonly store: Pick<DirectoryStore, 'keys' | 'createKeyWithin' | 'revokeKeyOf' | 'rotateKey'>;
  readonly keyUses: Pick<KeyUses, 'last'>;
  /** Returns this many random octets. */
  readonly random: (octets: number) => Uint8Array;
}

export function createKeyring({ store, keyUses, random }: KeyringOptions): Keyring {
  return {
    async list(accountId) {
      const keys = await store.keys(accountId);
      return keys.map((key) => ({ ...key, lastUsedAt: keyUses.last(key.id) ?? key.lastUsedAt }));
    },

    async issue(accountId, name, scopes, deviceId) {
      const { apiKey, ...minted } = newApiKey(random);
      // Only operators make keys for any account.
      const key = { accountId, name, scopes, serviceWide: false, deviceId, ...minted };
      const made = await store.createKeyWithin(MOST_KEYS, key);
      return made && { ...made, apiKey };
    },

    revoke: (accountId, keyId) => store.revokeKeyOf(accountId, keyId),

    async rotate(accountId, keyId) {
      const { apiKey, ...minted } = newApiKey(random);
      const made = await store.rotateKey(accountId, keyId, minted);
      if (made !== undefined) return { ...made, apiKey };
      const keys = await store.keys(accountId);
      return keys.some((key) => key.id === keyId && key.serviceWide) ? 'serviceWide' : 'noSuchKey';
    },
  };
}
