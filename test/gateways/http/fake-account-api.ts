// Accounts' own affairs in memory, by the rules that routes can see: one profile, keys, addresses, preferences and
// subscriptions an account, each bounded low so that tests reach the bound.
import { randomUUID } from 'node:crypto';
import type { AccountApi, IssuedKey, PreferenceValues } from '../../../src/account/protocol.js';
import { canonicalAddress, hasTag } from '../../../src/mail/address.js';
import type { AccountAddress, ApiKey } from '../../../src/store/directory.js';
import { ALICE, BOB } from './fakes.js';

export const KEY_ID = '018f0000-0000-7000-8000-0000000000a1';
export const SERVICE_KEY_ID = '018f0000-0000-7000-8000-0000000000a2';
export const BOBS_KEY_ID = '018f0000-0000-7000-8000-0000000000b1';
export const ADDRESS_ID = '018f0000-0000-7000-8000-0000000000c1';
export const BOBS_ADDRESS_ID = '018f0000-0000-7000-8000-0000000000d1';

const at = new Date('2026-01-02T03:04:05.006Z');

const key = (id: string, accountId: string, serviceWide = false): ApiKey => ({
  id,
  accountId,
  name: 'laptop',
  scopes: serviceWide ? ['internal'] : ['imap', 'smtp'],
  serviceWide,
  createdAt: at,
  lastUsedAt: null,
});

const address = (id: string, text: string): AccountAddress => ({ id, address: text, isVerified: true, addedAt: at });

const DEFAULTS: PreferenceValues = {
  theme: 'system',
  displayDensity: 'comfortable',
  emailsPerPage: 20,
  defaultSort: 'date',
  showPreview: true,
  groupByDate: false,
  desktopNotifications: true,
  emailDigest: false,
  digestFrequency: 'daily',
  digestTime: '09:00',
  undoSendSeconds: 0,
};

const MOST = 4;
const MOST_KEYS = 5;

export function fakeAccountApi(): AccountApi {
  const keys = [key(KEY_ID, ALICE), key(SERVICE_KEY_ID, ALICE, true), key(BOBS_KEY_ID, BOB)];
  const addresses = new Map([
    [ALICE, [address(ADDRESS_ID, 'sales@example.test')]],
    [BOB, [address(BOBS_ADDRESS_ID, 'bobs@example.test')]],
  ]);
  const names = new Map([
    [ALICE, 'Alice'],
    [BOB, 'Bob'],
  ]);
  const devices = new Map<string, string>();
  const preferences = new Map<string, Partial<PreferenceValues>>();
  const find = (accountId: string, id: string) => keys.findIndex((one) => one.id === id && one.accountId === accountId);
  const add = (made: ApiKey): IssuedKey => {
    keys.push(made);
    return { ...made, apiKey: 'mansio_made' };
  };
  return {
    keys: {
      list: async (accountId) => keys.filter((one) => one.accountId === accountId),
      async issue(accountId, name, scopes, deviceId) {
        const before = keys.findIndex((one) => one.accountId === accountId && devices.get(one.id) === deviceId);
        if (deviceId !== undefined && before >= 0) keys.splice(before, 1);
        if (keys.filter((one) => one.accountId === accountId).length >= MOST_KEYS) return undefined;
        const made = add({ ...key(randomUUID(), accountId), name, scopes });
        if (deviceId !== undefined) devices.set(made.id, deviceId);
        return made;
      },
      async revoke(accountId, id) {
        const found = find(accountId, id);
        return found >= 0 && keys.splice(found, 1).length === 1;
      },
      async rotate(accountId, id) {
        const found = find(accountId, id);
        if (found < 0) return 'noSuchKey';
        if (keys[found]!.serviceWide) return 'serviceWide';
        const [old] = keys.splice(found, 1);
        return add({ ...old!, id: randomUUID() });
      },
    },
    profiles: {
      async read(id) {
        const displayName = names.get(id);
        if (displayName === undefined) return undefined;
        const additionalAddresses = addresses.get(id) ?? [];
        return {
          id,
          email: 'alice@example.test',
          displayName,
          held: false,
          createdAt: at,
          lastLoginAt: at,
          additionalAddresses,
        };
      },
      async rename(id, name) {
        return names.has(id) && names.set(id, name) !== undefined;
      },
      async addAddress(accountId, text) {
        const wanted = canonicalAddress(text);
        const there = addresses.get(accountId);
        if (there === undefined) return 'noAccount';
        if (wanted === undefined) return 'invalid';
        if (hasTag(text)) return 'tagged';
        if (wanted === 'alice@example.test') return 'own';
        if (there.some((one) => one.address === wanted)) return 'known';
        if (there.length >= MOST) return 'full';
        const added = { ...address(randomUUID(), wanted), isVerified: false };
        there.push(added);
        return added;
      },
      async removeAddress(accountId, id) {
        const there = addresses.get(accountId) ?? [];
        const found = there.findIndex((one) => one.id === id);
        return found >= 0 && there.splice(found, 1).length === 1;
      },
    },
    preferences: {
      async read(accountId) {
        return names.has(accountId) ? { ...DEFAULTS, ...preferences.get(accountId), updatedAt: at } : undefined;
      },
      async choose(accountId, chosen) {
        preferences.set(accountId, { ...preferences.get(accountId), ...chosen });
        return names.has(accountId);
      },
    },
    push: { subscribe: async (accountId) => names.has(accountId), unsubscribe: async () => {} },
  };
}
