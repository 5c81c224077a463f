// Combines the operations of an account on itself.

import type { DirectoryStore } from '../../store/directory.js';
import type { PreferenceStore } from '../../store/preferences.js';
import type { PushSubscriptionStore } from '../../store/push-subscriptions.js';
import type { SessionStore } from '../../store/sessions.js';
import type { PasskeyStore } from '../../store/sign-in/passkeys.js';
import type { WebhookDeliveryStore, WebhookStore } from '../../store/webhooks.js';
import type { KeyUses } from '../directory/key-uses.js';
import type { HostedDomains, Senders } from '../directory/protocol.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import { createForwarding } from './forwarding.js';
import { createKeyring } from './keyring.js';
import { createPasskeys } from './passkeys.js';
import { createPreferences } from './preferences.js';
import { createProfiles, type VerificationSettings } from './profiles.js';
import type { AccountApi } from './protocol.js';
import { createSenders } from './senders.js';
import { createSessions } from './sessions.js';
import { createVacation } from './vacation.js';
import { createWebhooks } from './webhooks.js';

/** The browsers of one account; a new one replaces the oldest. */
const MOST_SUBSCRIPTIONS = 20;

export interface AccountApiOptions {
  readonly directory: DirectoryStore;
  readonly senders: Senders & HostedDomains;
  readonly verification: VerificationSettings;
  readonly sessions: SessionStore;
  readonly passkeys: PasskeyStore;
  readonly preferences: PreferenceStore;
  readonly mailboxes: Mailboxes;
  readonly subscriptions: PushSubscriptionStore;
  readonly webhooks: WebhookStore;
  readonly webhookDeliveries: WebhookDeliveryStore;
  /** Called when the account has a new subscription, or its webhooks have changed: the component that delivers to them looks again. */
  readonly consumersChanged: (accountId: string) => void;
  readonly keyUses: Pick<KeyUses, 'last'>;
  /** Returns this many random octets. */
  readonly random: (octets: number) => Uint8Array;
  /** ms since the epoch, by which sessions end. */
  readonly time: () => number;
}

export function createAccountApi(options: AccountApiOptions): AccountApi {
  const { directory: store, preferences, mailboxes, subscriptions, consumersChanged, keyUses, random } = options;
  return {
    keys: createKeyring({ store, keyUses, random }),
    passkeys: createPasskeys(options.passkeys),
    sessions: createSessions({ store: options.sessions, keyUses, random, time: options.time }),
    profiles: createProfiles({ ...options, store }),
    preferences: createPreferences(preferences, mailboxes),
    senders: createSenders(preferences, mailboxes),
    vacation: createVacation(preferences, mailboxes, options.verification.newId),
    forwarding: createForwarding({ directory: store, domains: options.senders, preferences, mailboxes }),
    push: {
      async subscribe(accountId, subscription) {
        const isDone = await subscriptions.subscribe(accountId, subscription, MOST_SUBSCRIPTIONS);
        if (isDone) consumersChanged(accountId);
        return isDone;
      },
      unsubscribe: (accountId, endpoint) => subscriptions.unsubscribe(accountId, endpoint),
    },
    webhooks: createWebhooks({
      store: options.webhooks,
      deliveries: options.webhookDeliveries,
      random,
      changed: consumersChanged,
    }),
  };
}
