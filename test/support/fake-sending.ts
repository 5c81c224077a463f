// The status of sending of a gateway in tests: nobody is suspended until a test says so.
import type { SendingDelay, SendingStatus } from '../../src/actors/sending/protocol.js';
import type { SendingSuspension } from '../../src/store/limits/sending.js';

export interface FakeSending extends SendingStatus {
  suspension: SendingSuspension | null;
  delay: SendingDelay;
}

export function fakeSending(): FakeSending {
  const fake: FakeSending = {
    suspension: null,
    delay: { detail: 'The account may send to at most 5 recipients an hour.', retryAfter: 90 },
    suspensionOf: async () => fake.suspension,
    delayOf: async () => fake.delay,
    async resume() {
      const { suspension } = fake;
      fake.suspension = null;
      return suspension !== null;
    },
  };
  return fake;
}
