// The stores of an account's data other than mail. Each fails at once while the database does not answer.

import type { CircuitBreaker } from '../store/postgres/circuit-breaker.js';
import type { Sql } from '../store/postgres/client.js';
import { postgresPreferences } from '../store/postgres/preferences.js';
import { postgresPushSubscriptions } from '../store/postgres/push-subscriptions.js';
import { postgresWebhookDeliveries } from '../store/postgres/webhook-deliveries.js';
import { postgresWebhooks } from '../store/postgres/webhooks.js';
import type { PreferenceStore } from '../store/preferences.js';
import type { PushSubscriptionStore } from '../store/push-subscriptions.js';
import type { WebhookDeliveryStore, WebhookStore } from '../store/webhooks.js';

export interface AccountStores {
  readonly preferences: PreferenceStore;
  readonly subscriptions: PushSubscriptionStore;
  readonly webhooks: WebhookStore;
  readonly webhookDeliveries: WebhookDeliveryStore;
}

export function openAccountStores(sql: Sql, breaker: Pick<CircuitBreaker, 'guard'>): AccountStores {
  return {
    preferences: breaker.guard(postgresPreferences(sql)),
    subscriptions: breaker.guard(postgresPushSubscriptions(sql)),
    webhooks: breaker.guard(postgresWebhooks(sql)),
    webhookDeliveries: breaker.guard(postgresWebhookDeliveries(sql)),
  };
}
