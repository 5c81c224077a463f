// The outbound ports of mailboxes that send no mail, without inline messages.
import type { DeliverySlots } from '../../src/actors/mailbox/outbound/delivery-slots.js';

/** Deliveries begin only when the queue asks for them. */
export const NO_DELIVERY_SLOTS: DeliverySlots = { reserve: () => undefined };

export const NO_OUTBOUND = {
  bodyFilters: { note() {} },
  filterRuns: { note() {} },
  automaticMail: { note() {}, kept() {} },
  inlineMessages: { find: () => undefined, decline() {}, weightOf: () => 0, receive: () => () => {} },
  blobs: {
    index: () => Promise.reject(new Error('no message is sent here')),
    read: () => Promise.reject(new Error('no script runs here')),
    put: () => Promise.reject(new Error('no script edits mail here')),
  },
  outbound: {
    retry: { maxRetries: 0, baseMs: 1, capMs: 1 },
    wakeQueue() {},
    hosted: async () => undefined,
    deliverLocally() {},
    queueOf: () => ({ shards: [], waiting: new Map() }),
    ...NO_DELIVERY_SLOTS,
  },
};
