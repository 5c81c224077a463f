// PLACEHOLDER, until the courier of `gateways/smtp/client` is here: every recipient of elsewhere is temporary.
import type { RemoteCourier } from './delivery-queue.js';

export function openRemoteCourier(): RemoteCourier {
  return {
    async deliver({ recipients }) {
      const answer = { kind: 'temporary', text: 'This version sends no mail yet.', statusCode: '4.3.2', host: null };
      return {
        outcomes: recipients.map(({ id }) => ({ ...answer, kind: 'temporary', recipientId: id })),
        attempts: [],
      };
    },
    async close() {},
  };
}
