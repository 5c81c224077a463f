// Tests the email about a disabled webhook: programs can read it, whatever the receiver has answered.

import fc from 'fast-check';
import { acceptNotice, writeDisablingNotice } from '../../../src/gateways/webhooks/disabling-notice.js';
import type { InboundDelivery, InboundEnvelope } from '../../../src/store/inbound.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const ID = '018f0000-0000-7000-8000-0000000000e9';
const PLACE = { hostname: 'mx.example.test', id: ID, now: Date.parse('2026-11-22T23:00:00Z') };
const notice = (reason: string, url = 'https://hooks.example.org/mail?key=1') =>
  writeDisablingNotice({ address: 'ann@example.test', webhookId: ID, url, reason }, PLACE);

test('the notice names the webhook and the reason', async (t) => {
  const spooled: { readonly envelope: InboundEnvelope; readonly deliveries: readonly InboundDelivery[] }[] = [];
  const inbound = {
    spool: async (_content: unknown, envelope: InboundEnvelope, deliveries: readonly InboundDelivery[]) =>
      void spooled.push({ envelope, deliveries }),
  };
  const message = notice('The receiver answered 500: Zoë 💌');
  await acceptNotice(inbound, 'account', { message, id: ID, now: PLACE.now });
  const [{ envelope, deliveries } = { envelope: undefined, deliveries: undefined }] = spooled;
  t.deepEqual(deliveries, [{ accountId: 'account', id: ID }]);
  t.like(envelope!.summary, {
    subject: 'Webhook disabled: hooks.example.org',
    fromAddress: 'postmaster@mx.example.test',
  });
  t.is(envelope!.receivedAt, PLACE.now);
  const text = message.toString();
  for (const line of [
    `Webhook: ${ID}`,
    'URL: https://hooks.example.org/mail?key=1',
    'Reason: The receiver answered 500: Zoë 💌',
  ]) {
    t.true(text.includes(`\r\n${line}\r\n`), line);
  }
});

test('no answer of a receiver adds a line to the header or breaks one', (t) => {
  const header = (message: Uint8Array) => message.toString().split('\r\n\r\n')[0];
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (reason) => {
      const message = notice(reason);
      t.is(header(message), header(notice('')));
      t.true(
        message
          .toString()
          .split('\r\n')
          .every((line) => !/[\r\n]/.test(line) && Buffer.byteLength(line) <= 998),
      );
    }),
    { numRuns: runs(100) },
  );
  t.true(
    notice('x', `https://hooks.example.org/${'x'.repeat(2000)}`)
      .toString()
      .split('\r\n')
      .every((line) => line.length <= 998),
  );
});
