// Tests that the library of receivers verifies the messages of webhooks, whatever they contain.

import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { cursorOf, type EventPosition } from '../../../src/gateways/events/cursor.js';
import { eventIdOf, positionOfEventId } from '../../../src/gateways/events/event-id.js';
import { retryDelayMs } from '../../../src/gateways/webhooks/retry-schedule.js';
import { signedMessage } from '../../../src/gateways/webhooks/signed-message.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const SECRETS = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`, `whsec_${Buffer.alloc(32, 2).toString('base64')}`];
const ACCOUNT = '018f0000-0000-7000-8000-00000000000a';

test('each secret verifies a message, another one does not', (t) => {
  fc.assert(
    fc.property(fc.json(), fc.string(), (json, type) => {
      const data = JSON.parse(json);
      const { headers, body } = signedMessage({ id: '12_0_1-7-abc', type, at: 0, data }, SECRETS, Date.now());
      for (const secret of SECRETS) {
        const read = new Webhook(secret).verify(body, { ...headers });
        t.deepEqual(read, JSON.parse(JSON.stringify({ type, timestamp: '1970-01-01T00:00:00.000Z', data })));
      }
      t.throws(() => new Webhook('whsec_AAAA').verify(body, { ...headers }));
      t.throws(() => new Webhook(SECRETS[0]!).verify(`${body} `, { ...headers }));
    }),
    { numRuns: runs(50) },
  );
});

test('a message that was signed long ago is refused', (t) => {
  const { headers, body } = signedMessage(
    { id: 'x', type: 'NewEmail', at: 0, data: {} },
    SECRETS,
    Date.now() - 600_000,
  );
  t.throws(() => new Webhook(SECRETS[0]!).verify(body, { ...headers }), { message: /timestamp/ });
});

test('the id of an event has no full stop, and is the position of the event', (t) => {
  const number = fc.nat(999_999_999);
  const position = fc.record(
    { seq: number, at: number, within: fc.record({ n: number, k: number }) },
    { requiredKeys: ['seq', 'at'] },
  );
  fc.assert(
    fc.property(position as fc.Arbitrary<EventPosition>, (at) => {
      const id = eventIdOf(at, ACCOUNT);
      t.notRegex(id, /\./);
      t.deepEqual(positionOfEventId(id, ACCOUNT), at);
      t.deepEqual(positionOfEventId(cursorOf(at, ACCOUNT), ACCOUNT), at);
      t.is(positionOfEventId(id, '018f0000-0000-7000-8000-00000000000b'), null);
    }),
    { numRuns: runs(50) },
  );
  t.is(positionOfEventId('', ACCOUNT), undefined);
  t.is(positionOfEventId('1_2-3', ACCOUNT), null);
});

test('rests grow up to four hours, and differ by a tenth', (t) => {
  const delays = Array.from({ length: 12 }, (_, i) => retryDelayMs(i + 1, () => 0.5));
  t.is(delays[0], 2_000);
  t.deepEqual(
    delays,
    delays.toSorted((a, b) => a - b),
  );
  t.is(delays.at(-1), 4 * 3_600_000);
  t.is(
    retryDelayMs(1_000_000, () => 0),
    4 * 3_600_000 * 0.9,
  );
  t.is(
    retryDelayMs(1, () => 1),
    2_200,
  );
});
