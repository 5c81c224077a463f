// Outbound mail of mailboxes that send none.
import type { DeliverySlots } from '../../src/actors/mailbox/outbound/delivery-slots.js';

/** Deliveries begin when the queue asks for them, and not before. */
export const NO_DEPARTURES: DeliverySlots = {
  room: () => undefined,
  hold: () => {
    throw new Error('no delivery begins here');
  },
};

export const NO_OUTBOUND = {
  deferrals: { note() {} },
  blobs: { index: () => Promise.reject(new Error('no message is sent here')) },
  outbound: {
    retry: { maxRetries: 0, baseMs: 1, capMs: 1 },
    note() {},
    hosted: async () => undefined,
    place() {},
    ...NO_DEPARTURES,
  },
};
