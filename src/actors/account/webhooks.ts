// Webhooks as their account manages them. Secrets are created here and shown once.
import { isUuid } from '../../mail-format/ids.js';
import type { WebhookDeliveryStore, WebhookStore } from '../../store/webhooks.js';
import type { Webhooks } from './protocol.js';

/** The webhooks of one account. */
const MOST_WEBHOOKS = 20;
const SECRET_OCTETS = 32;
/** How long the old secret also signs after a rotation. */
const FORMER_SECRET_MS = 24 * 3_600_000;

export interface WebhooksOptions {
  readonly store: WebhookStore;
  readonly deliveries: WebhookDeliveryStore;
  /** Returns this many random octets. */
  readonly random: (octets: number) => Uint8Array;
  /** Called when webhooks of the account have changed: the component that delivers to them looks again. */
  readonly changed: (accountId: string) => void;
}

export function createWebhooks({ store, deliveries, random, changed }: WebhooksOptions): Webhooks {
  const newSecret = () => `whsec_${Buffer.from(random(SECRET_OCTETS)).toString('base64')}`;
  const noticed = <T>(accountId: string, isChanged: boolean, result: T): T => {
    if (isChanged) changed(accountId);
    return result;
  };

  return {
    list: (accountId) => store.list(accountId),
    get: (accountId, id) => store.get(accountId, id),

    async create(accountId, choices) {
      const secret = newSecret();
      const made = await store.create(accountId, { ...choices, secret }, MOST_WEBHOOKS);
      return noticed(accountId, made !== undefined, made && { ...made, secret });
    },

    async update(accountId, id, choices) {
      const isUpdated = await store.update(accountId, id, choices);
      return noticed(accountId, isUpdated, isUpdated);
    },

    async remove(accountId, id) {
      const isRemoved = await store.remove(accountId, id);
      return noticed(accountId, isRemoved, isRemoved);
    },

    async rotateSecret(accountId, id) {
      const secret = newSecret();
      return (await store.rotateSecret(accountId, id, secret, FORMER_SECRET_MS)) ? secret : undefined;
    },

    async replay(accountId, id, start) {
      const outcome = await store.replay(accountId, id, start);
      return noticed(accountId, outcome === 'done', outcome);
    },

    deliveries: (accountId, id, page, pageSize) => deliveries.page(accountId, id, page, pageSize),

    async eventOf(accountId, id, deliveryId) {
      return isUuid(deliveryId) ? (await deliveries.get(accountId, id, deliveryId))?.eventId : undefined;
    },
  };
}
