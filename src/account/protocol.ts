// What gateways may ask about an account itself, beside its mail: profile, additional addresses, API keys, preferences, push
// subscriptions and webhooks. Each is asked on behalf of one account and touches that account's alone.
import type { AccountAddress, ApiKey, Profile, Scope } from '../store/directory.js';
import type { PushSubscription } from '../store/push-subscriptions.js';
import type { ReplayStart, Webhook, WebhookChoices, WebhookDelivery } from '../store/webhooks.js';

/** A key and its text, which is known only now. */
export interface IssuedKey extends ApiKey {
  readonly apiKey: string;
}

export interface Keyring {
  /** Active keys, oldest first. */
  list(accountId: string): Promise<readonly ApiKey[]>;
  /**
   * Undefined when the account has as many keys as it may. A key for a device revokes the one that the device had.
   */
  issue(accountId: string, name: string, scopes: readonly Scope[], deviceId?: string): Promise<IssuedKey | undefined>;
  /** False when the account has no active key of that id. */
  revoke(accountId: string, keyId: string): Promise<boolean>;
  /** A new key of the same name and scopes for the old one. */
  rotate(accountId: string, keyId: string): Promise<IssuedKey | 'noSuchKey' | 'serviceWide'>;
}

export type AddressRefusal = 'invalid' | 'tagged' | 'own' | 'known' | 'full' | 'noAccount';

export interface Profiles {
  read(accountId: string): Promise<Profile | undefined>;
  /** False when there is no such account. */
  rename(accountId: string, displayName: string): Promise<boolean>;
  addAddress(accountId: string, address: string): Promise<AccountAddress | AddressRefusal>;
  /** False when the account has no additional address of that id. */
  removeAddress(accountId: string, addressId: string): Promise<boolean>;
}

export interface PreferenceValues {
  readonly theme: 'light' | 'dark' | 'system';
  readonly displayDensity: 'compact' | 'comfortable' | 'spacious';
  readonly emailsPerPage: number;
  readonly defaultSort: 'date' | 'sender' | 'subject';
  readonly showPreview: boolean;
  readonly groupByDate: boolean;
  readonly desktopNotifications: boolean;
  readonly emailDigest: boolean;
  readonly digestFrequency: 'daily' | 'weekly';
  /** HH:mm */
  readonly digestTime: string;
  /** For so long, what REST clients send is held, and can be cancelled. */
  readonly undoSendSeconds: number;
}

export interface Preferences {
  /** Chosen values over the defaults; undefined when there is no such account. */
  read(accountId: string): Promise<(PreferenceValues & { readonly updatedAt: Date }) | undefined>;
  /** @throws ActorFault */
  choose(accountId: string, chosen: Partial<PreferenceValues>): Promise<void>;
}

export interface PushSubscriptions {
  /** False when there is no such account. */
  subscribe(accountId: string, subscription: PushSubscription): Promise<boolean>;
  /** The one of the endpoint; all of the account when absent. */
  unsubscribe(accountId: string, endpoint?: string): Promise<void>;
}

/** A webhook and its secret, which is known only now. */
interface MadeWebhook extends Webhook {
  readonly secret: string;
}

export interface Webhooks {
  /** Oldest first. */
  list(accountId: string): Promise<readonly Webhook[]>;
  get(accountId: string, id: string): Promise<Webhook | undefined>;
  /** Gets the events that follow. Undefined when the account has as many webhooks as it may. */
  create(accountId: string, choices: WebhookChoices): Promise<MadeWebhook | undefined>;
  /** False, as in the others: the account has no webhook of that id. */
  update(accountId: string, id: string, choices: WebhookChoices): Promise<boolean>;
  remove(accountId: string, id: string): Promise<boolean>;
  /** The new secret. */
  rotateSecret(accountId: string, id: string): Promise<string | undefined>;
  /** `ahead`: the account has no such change yet. */
  replay(accountId: string, id: string, start: ReplayStart): Promise<'done' | 'ahead' | 'noSuchWebhook'>;
  /** Attempts, newest first. */
  deliveries(
    accountId: string,
    id: string,
    page: number,
    pageSize: number,
  ): Promise<{ readonly items: readonly WebhookDelivery[]; readonly totalCount: number } | undefined>;
  /** The id of the event that a delivery was about; undefined when it is not known (any more). */
  eventOf(accountId: string, id: string, deliveryId: string): Promise<string | undefined>;
}

export interface AccountApi {
  readonly keys: Keyring;
  readonly profiles: Profiles;
  readonly preferences: Preferences;
  readonly push: PushSubscriptions;
  readonly webhooks: Webhooks;
}
