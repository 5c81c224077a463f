// Implements the routes' account API in memory, by the rules that routes can see. Each account has one profile, and keys,
// addresses, preferences, subscriptions and webhooks, with limits so low that tests reach them.

import { randomUUID } from 'node:crypto';
import type {
  AccountApi,
  IssuedKey,
  Passkeys,
  PreferenceValues,
  ProfileAddress,
  Sessions,
  Webhooks,
} from '../../../src/actors/account/protocol.js';
import { eventIdOf } from '../../../src/gateways/events/event-id.js';
import { canonicalAddress, hasTag } from '../../../src/mail-format/address.js';
import { NO_SENDERS, type SenderLists } from '../../../src/mail-format/senders.js';
import type { ApiKey } from '../../../src/store/directory.js';
import { type Forwarding, NO_FORWARDING } from '../../../src/store/preferences.js';
import type { PageSession } from '../../../src/store/sessions.js';
import type { StoredPasskey } from '../../../src/store/sign-in/passkeys.js';
import { NO_VACATION, type Vacation } from '../../../src/store/vacation.js';
import type { Webhook, WebhookDelivery } from '../../../src/store/webhooks.js';
import { ALICE, BOB } from './fakes.js';

export const KEY_ID = '018f0000-0000-7000-8000-0000000000a1';
export const SERVICE_KEY_ID = '018f0000-0000-7000-8000-0000000000a2';
export const BOBS_KEY_ID = '018f0000-0000-7000-8000-0000000000b1';
export const ADDRESS_ID = '018f0000-0000-7000-8000-0000000000c1';
export const BOBS_ADDRESS_ID = '018f0000-0000-7000-8000-0000000000d1';

/** The fake sends a mail for the first, and too many for the second. */
export const PENDING_ADDRESS_ID = '018f0000-0000-7000-8000-0000000000c2';
export const BUSY_ADDRESS_ID = '018f0000-0000-7000-8000-0000000000c3';
/** Links that verify an address: one is good once, the other one is for an address of another account. */
export const VERIFICATION_TOKEN = 'V'.repeat(43);
export const TAKEN_TOKEN = 'T'.repeat(43);

export const SESSION_ID = '018f0000-0000-7000-8000-0000000000a5';
export const BOBS_SESSION_ID = '018f0000-0000-7000-8000-0000000000b5';
export const PASSKEY_ID = '018f0000-0000-7000-8000-0000000000a6';
export const BOBS_PASSKEY_ID = '018f0000-0000-7000-8000-0000000000b6';
/** Sessions that links of sessions make. */
export const LINKED_ID = '018f0000-0000-7000-8000-0000000000a6';
export const BOBS_LINKED_ID = '018f0000-0000-7000-8000-0000000000b6';
/** A link that signs Bob in, once. */
export const BOBS_LINK = 'B'.repeat(43);

export const WEBHOOK_ID = '018f0000-0000-7000-8000-0000000000e1';
export const BOBS_WEBHOOK_ID = '018f0000-0000-7000-8000-0000000000e2';
/** This delivery belongs to Alice's webhook. */
export const DELIVERY_ID = '018f0000-0000-7000-8000-0000000000f1';

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

const address = (id: string, text: string): ProfileAddress => ({
  ...{ id, address: text, isVerified: true, addedAt: at, isAlias: false, canSend: true },
});

const DEFAULTS: PreferenceValues = {
  theme: 'system',
  displayDensity: 'comfortable',
  emailsPerPage: 20,
  defaultSort: 'date',
  showPreview: true,
  groupByDate: false,
  threads: true,
  desktopNotifications: true,
  emailDigest: false,
  digestFrequency: 'daily',
  digestTime: '09:00',
  undoSendSeconds: 0,
  signature: '',
  identities: [],
  pictureSenders: [],
};

const MOST = 4;
const MOST_KEYS = 5;

/** The address to which accounts may forward. */
export const VERIFIED_ELSEWHERE = 'me@elsewhere.test';

export function fakeAccountApi(): AccountApi {
  const keys = [key(KEY_ID, ALICE), key(SERVICE_KEY_ID, ALICE, true), key(BOBS_KEY_ID, BOB)];
  const addresses = new Map([
    [ALICE, [address(ADDRESS_ID, 'sales@example.test')]],
    [BOB, [address(BOBS_ADDRESS_ID, 'bobs@example.test')]],
  ]);
  const tokens = new Set([VERIFICATION_TOKEN]);
  const names = new Map([
    [ALICE, 'Alice'],
    [BOB, 'Bob'],
  ]);
  const devices = new Map<string, string>();
  const preferences = new Map<string, Partial<PreferenceValues>>();
  const senders = new Map<string, SenderLists>();
  const vacations = new Map<string, Vacation>();
  const forwardings = new Map<string, Forwarding>();
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
    sessions: fakeSessions(),
    profiles: {
      async read(id) {
        const displayName = names.get(id);
        if (displayName === undefined) return undefined;
        const additionalAddresses = addresses.get(id) ?? [];
        return {
          id,
          email: 'alice@example.test',
          displayName,
          isUnclaimed: false,
          createdAt: at,
          lastLoginAt: at,
          additionalAddresses,
        };
      },
      maySendAs: async () => false,
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
        if (wanted.endsWith('@unset.test')) return { kind: 'noPublicUrl' };
        if (wanted.endsWith('@busy.test')) return { kind: 'tooManyMails', againInMs: 1_500 };
        if (there.some((one) => one.address === wanted)) return 'known';
        if (there.length >= MOST) return 'full';
        const added = { ...address(randomUUID(), wanted), isVerified: false, canSend: false };
        there.push(added);
        return added;
      },
      async sendVerification(accountId, id) {
        if (id === PENDING_ADDRESS_ID) return undefined;
        if (id === BUSY_ADDRESS_ID) return { kind: 'tooManyMails', againInMs: 1_500 };
        const isThere = addresses.get(accountId)?.some((one) => one.id === id) === true;
        return { kind: isThere ? 'verified' : 'noSuchAddress' };
      },
      async verificationOf(token) {
        const asked = { address: 'far@elsewhere.test', email: 'bob@example.test', displayName: 'Bob <b>' };
        return tokens.has(token) ? asked : undefined;
      },
      async confirmAddress(token) {
        const address = 'far@elsewhere.test';
        if (token === TAKEN_TOKEN) return { kind: 'taken', address };
        return tokens.delete(token) ? { kind: 'verified', address } : { kind: 'gone' };
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
      },
    },
    vacation: {
      read: async (accountId) => (names.has(accountId) ? (vacations.get(accountId) ?? NO_VACATION) : undefined),
      replace: async (accountId, vacation) => void vacations.set(accountId, { ...vacation, period: 'one' }),
    },
    forwarding: {
      read: async (accountId) => (names.has(accountId) ? (forwardings.get(accountId) ?? NO_FORWARDING) : undefined),
      replace: async (accountId, forwarding) => void forwardings.set(accountId, forwarding),
      targetOf: async (_, text) => (text.toLowerCase() === VERIFIED_ELSEWHERE ? VERIFIED_ELSEWHERE : undefined),
    },
    senders: {
      read: async (accountId) => (names.has(accountId) ? (senders.get(accountId) ?? NO_SENDERS) : undefined),
      async replace(accountId, lists) {
        senders.set(accountId, lists);
      },
    },
    passkeys: fakePasskeys(),
    push: { subscribe: async (accountId) => names.has(accountId), unsubscribe: async () => {} },
    webhooks: fakeWebhooks(),
  };
}

function fakeSessions(): Sessions {
  const session = (id: string, accountId: string): PageSession => ({
    ...{ id, accountId, userAgent: 'Firefox', createdAt: at, lastUsedAt: at },
  });
  const all = new Map([SESSION_ID, BOBS_SESSION_ID].map((id, i) => [id, session(id, [ALICE, BOB][i]!)]));
  const links = new Map([[BOBS_LINK, { id: BOB, email: 'bob@example.test', displayName: 'Bob <b>' }]]);
  const unused = new Map([
    [LINKED_ID, ALICE],
    [BOBS_LINKED_ID, BOB],
  ]);
  const create: Sessions['create'] = async (accountId, { userAgent, replaces = '' }) => {
    const made = { ...session(randomUUID(), accountId), userAgent };
    all.delete(replaces);
    all.set(made.id, made);
    return { ...made, token: 'mansio_session' };
  };
  return {
    create,
    list: async (accountId) => [...all.values()].filter((one) => one.accountId === accountId),
    end: async (accountId, id) => all.get(id)?.accountId === accountId && all.delete(id),
    isFreshlyProven: async (_, id) => id === SESSION_ID,
    isProven: async (_, id) => id === SESSION_ID,
    async makeLink(accountId, id) {
      if (all.get(id)?.accountId !== accountId) return undefined;
      const sessionId = randomUUID();
      unused.set(sessionId, accountId);
      return { sessionId, token: 'T'.repeat(43), expiresAt: at, expiresInSeconds: 600 };
    },
    withdrawLink: async (accountId, sessionId) => unused.get(sessionId) === accountId && unused.delete(sessionId),
    accountOfLink: async (token) => links.get(token),
    async redeemLink(token, browser) {
      const account = links.get(token);
      links.delete(token);
      return account && create(account.id, browser);
    },
  };
}

function fakePasskeys(): Passkeys {
  const first = (id: string, accountId: string) => ({
    ...{ id, accountId, name: 'Phone', createdAt: at, lastUsedAt: null, rpId: 'localhost', isProven: true },
    ...{ credentialId: Buffer.from(id).toString('base64url'), publicKey: new Uint8Array(), counter: 0, transports: [] },
  });
  let passkeys: (StoredPasskey & { readonly rpId: string })[] = [first(PASSKEY_ID, ALICE), first(BOBS_PASSKEY_ID, BOB)];
  const spent = new Set<string>();
  return {
    list: async (accountId) => passkeys.filter((one) => one.accountId === accountId),
    async add(accountId, passkey, { hash }) {
      if (passkeys.filter((one) => one.accountId === accountId).length >= MOST) return 'full';
      if (passkeys.some(({ credentialId }) => credentialId === passkey.credentialId)) return 'known';
      if (spent.has(hash)) return 'spent';
      spent.add(hash);
      const added = { ...passkey, id: randomUUID(), accountId, createdAt: at, lastUsedAt: null };
      passkeys.push(added);
      return added;
    },
    async remove(accountId, id) {
      const before = passkeys.length;
      passkeys = passkeys.filter((one) => one.id !== id || one.accountId !== accountId);
      return passkeys.length < before;
    },
    find: async (credentialId, rpId) => passkeys.find((one) => one.credentialId === credentialId && one.rpId === rpId),
    async use(id, counter, { hash }) {
      const found = passkeys.find((one) => one.id === id);
      const follows = found !== undefined && (counter > found.counter || (counter === 0 && found.counter === 0));
      if (!follows || spent.has(hash)) return false;
      spent.add(hash);
      passkeys = passkeys.map((one) => (one === found ? { ...one, counter, lastUsedAt: at } : one));
      return true;
    },
  };
}

const webhook = (id: string): Webhook => ({
  ...{ id, url: 'https://hooks.example.org/x', eventTypes: ['NewEmail'], isEnabled: true, disabledReason: null },
  ...{ failures: 2, failingSince: at, retryAt: at, createdAt: at, updatedAt: at },
});

const delivery: WebhookDelivery = {
  ...{ id: DELIVERY_ID, eventId: eventIdOf({ seq: 12, at: 7, within: { n: 0, k: 1 } }, ALICE), eventType: 'NewEmail' },
  ...{ at, attempt: 1, isDelivered: false, responseStatus: 500, durationMs: 12, error: 'The receiver answered 500.' },
};

export async function fakeWebhookTest(accountId: string, id: string) {
  if (accountId !== ALICE || id !== WEBHOOK_ID) return undefined;
  return { result: 'failed', responseStatus: 404, durationMs: 3, error: 'The receiver answered 404.' };
}

/** The log of each account ends at this change. */
const NEWEST = 100;

function fakeWebhooks(): Webhooks {
  const all = new Map([
    [ALICE, new Map([[WEBHOOK_ID, webhook(WEBHOOK_ID)]])],
    [BOB, new Map([[BOBS_WEBHOOK_ID, webhook(BOBS_WEBHOOK_ID)]])],
  ]);
  const find = (accountId: string, id: string) => all.get(accountId)?.get(id);
  return {
    list: async (accountId) => [...(all.get(accountId)?.values() ?? [])],
    get: async (accountId, id) => find(accountId, id),
    async create(accountId, choices) {
      const there = all.get(accountId)!;
      if (there.size >= MOST) return undefined;
      const made = { ...webhook(randomUUID()), ...choices, failures: 0, failingSince: null, retryAt: null };
      there.set(made.id, made);
      return { ...made, secret: 'whsec_c2VjcmV0' };
    },
    async update(accountId, id, choices) {
      const found = find(accountId, id);
      if (found !== undefined) all.get(accountId)!.set(id, { ...found, ...choices });
      return found !== undefined;
    },
    remove: async (accountId, id) => all.get(accountId)?.delete(id) ?? false,
    rotateSecret: async (accountId, id) => (find(accountId, id) === undefined ? undefined : 'whsec_bmV3'),
    async replay(accountId, id, { seq }) {
      if (find(accountId, id) === undefined) return 'noSuchWebhook';
      return seq > NEWEST ? 'ahead' : 'done';
    },
    deliveries: async (accountId, id) =>
      find(accountId, id) === undefined ? undefined : { items: [delivery], totalCount: 1 },
    eventOf: async (accountId, id, deliveryId) =>
      find(accountId, id) !== undefined && deliveryId === DELIVERY_ID ? delivery.eventId : undefined,
  };
}
