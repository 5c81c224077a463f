// The stores of an account's data other than mail. Each fails at once while the database does not answer.

import { postgresPasskeys } from '../../store/postgres/accounts/passkeys.js';
import { postgresPreferences } from '../../store/postgres/accounts/preferences.js';
import { postgresPushSubscriptions } from '../../store/postgres/accounts/push-subscriptions.js';
import { postgresSessions } from '../../store/postgres/accounts/sessions.js';
import { postgresWebhookDeliveries } from '../../store/postgres/accounts/webhook-deliveries.js';
import { postgresWebhooks } from '../../store/postgres/accounts/webhooks.js';
import type { CircuitBreaker } from '../../store/postgres/driver/circuit-breaker.js';
import type { Sql } from '../../store/postgres/driver/client.js';
import type { PreferenceStore } from '../../store/preferences.js';
import type { PushSubscriptionStore } from '../../store/push-subscriptions.js';
import type { SessionStore } from '../../store/sessions.js';
import type { PasskeyStore } from '../../store/sign-in/passkeys.js';
import type { WebhookDeliveryStore, WebhookStore } from '../../store/webhooks.js';

export interface AccountStores {
  readonly sessions: SessionStore;
  readonly passkeys: PasskeyStore;
  readonly preferences: PreferenceStore;
  readonly subscriptions: PushSubscriptionStore;
  readonly webhooks: WebhookStore;
  readonly webhookDeliveries: WebhookDeliveryStore;
}

/** `announced`: gets sessions whose end is committed; the call that ends them waits for it. */
export function openAccountStores(
  sql: Sql,
  breaker: Pick<CircuitBreaker, 'guard'>,
  announced: (ids: readonly string[]) => Promise<void>,
): AccountStores {
  return {
    passkeys: breaker.guard(postgresPasskeys(sql)),
    sessions: breaker.guard(postgresSessions(sql, announced)),
    preferences: breaker.guard(postgresPreferences(sql)),
    subscriptions: breaker.guard(postgresPushSubscriptions(sql)),
    webhooks: breaker.guard(postgresWebhooks(sql)),
    webhookDeliveries: breaker.guard(postgresWebhookDeliveries(sql)),
  };
}
