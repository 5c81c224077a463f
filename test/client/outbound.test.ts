// Tests the steps that each recipient of an outbound email is shown.
import type { DeliveryAttempt, OutboundRecipient } from '../../src/client/generated/rest.js';
import { timelineOf } from '../../src/client/outbound.js';
import test from '../support/test.js';

const recipient = (id: string, changes: Partial<OutboundRecipient> = {}): OutboundRecipient => ({
  id,
  address: `${id}@remote.test`,
  type: 'To',
  status: 'Pending',
  deliveredAt: null,
  lastError: null,
  statusCode: null,
  ...changes,
});

const attempt = (
  at: string,
  outcomes: Readonly<Record<string, 'delivered' | 'temporary' | 'permanent'>>,
): DeliveryAttempt => ({
  id: at,
  at,
  durationMs: 5,
  domain: 'remote.test',
  host: 'mx.remote.test',
  remoteAddress: '192.0.2.1',
  tls: null,
  reply: `reply at ${at}`,
  recipients: Object.entries(outcomes).map(([id, outcome]) => ({ id, outcome, statusCode: null })),
});

test('a recipient has the attempts that were made for it, after the moment when the email was queued', (t) => {
  const timeline = timelineOf(
    {
      createdAt: '0',
      status: 'Sending',
      recipients: [
        recipient('a'),
        recipient('b'),
        recipient('c', { status: 'Delivered', deliveredAt: '9' }),
        recipient('d'),
      ],
    },
    [attempt('1', { a: 'temporary', b: 'permanent' }), attempt('2', { a: 'delivered' })],
  );
  t.deepEqual(
    timeline.map(({ recipient: { id }, steps }) => [id, ...steps.map(({ at, kind }) => `${at} ${kind}`)]),
    [
      ['a', '0 queued', '1 retried', '2 delivered'],
      ['b', '0 queued', '1 failed'],
      ['c', '0 queued', '9 delivered'],
      ['d', '0 queued'],
    ],
  );
  t.deepEqual(timeline[0]!.steps[1], { at: '1', kind: 'retried', host: 'mx.remote.test', reply: 'reply at 1' });
});

test('a draft has not been queued', (t) => {
  t.deepEqual(timelineOf({ createdAt: '0', status: 'Draft', recipients: [recipient('a')] }, [])[0]!.steps, []);
});
