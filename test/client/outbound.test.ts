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
    null,
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
  const steps = (status: 'Draft' | 'Queued', queuedAt: string | null) =>
    timelineOf({ createdAt: '0', status, recipients: [recipient('a')] }, [], queuedAt)[0]!.steps;
  t.deepEqual(steps('Draft', null), []);
  t.like(steps('Queued', '5'), [{ at: '5', kind: 'queued' }]);
});

test('a recipient that has failed ends so, whatever its attempts tell', (t) => {
  const failed = (id: string, lastError: string, deliveredAt: string | null = null) =>
    recipient(id, { status: 'Failed', lastError, deliveredAt });
  const timeline = timelineOf(
    {
      createdAt: '0',
      status: 'Failed',
      recipients: [
        failed('bounced', '550 gone', '1'),
        failed('bouncing', '550 gone', '1'),
        failed('taken', '550 gone', '1'),
        failed('suppressed', 'suppressed'),
        failed('cancelled', 'Cancelled by the operator.'),
        failed('late', '451 later'),
        failed('again', '451 later', '1'),
        recipient('mended', { status: 'Delivered', deliveredAt: '9', lastError: '550 gone' }),
      ],
    },
    [
      attempt('1', { bounced: 'delivered', taken: 'delivered', again: 'delivered' }),
      attempt('2', { suppressed: 'permanent', late: 'temporary', mended: 'permanent' }),
      attempt('3', { bounced: 'permanent', again: 'permanent' }),
      attempt('4', { again: 'temporary' }),
    ],
    null,
  );
  t.deepEqual(
    timeline.map(({ recipient: { id }, steps }) => [
      id,
      ...steps.slice(1).map(({ at, kind, reply }) => `${at} ${kind} ${reply}`),
    ]),
    [
      ['bounced', '1 delivered reply at 1', '3 failed reply at 3'],
      ['bouncing', '1 delivered ', '1 failed 550 gone'],
      ['taken', '1 delivered reply at 1', '1 failed 550 gone'],
      ['suppressed', '2 failed reply at 2'],
      ['cancelled', '0 failed Cancelled by the operator.'],
      ['late', '2 retried reply at 2', '2 failed 451 later'],
      ['again', '1 delivered reply at 1', '3 failed reply at 3', '4 retried reply at 4', '4 failed 451 later'],
      ['mended', '2 failed reply at 2', '9 delivered '],
    ],
  );
});
