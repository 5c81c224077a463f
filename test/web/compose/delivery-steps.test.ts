// Tests the steps that a sender sees of a delivery.
import { type Attempt, deliverySteps, type OutboundDetail } from '../../../web/src/compose/delivery-steps.js';
import test from '../../support/test.js';

const recipient = (
  id: string,
  status: OutboundDetail['recipients'][number]['status'],
  lastError: string | null = null,
) => ({
  id,
  address: `${id}@a.test`,
  displayName: 'Zoë 💌',
  status,
  deliveredAt: status === 'Delivered' ? '2026-12-03T09:00:02Z' : null,
  lastError,
});

const attempt = (id: string, of: string, outcome: Attempt['recipients'][number]['outcome']): Attempt => ({
  id,
  at: `2026-12-03T09:00:0${id}Z`,
  durationMs: 6,
  host: 'mx.a.test',
  reply: '250 2.0.0 Ok',
  recipients: [{ id: of, outcome }],
});

test('each recipient has its own steps and its own state', (t) => {
  const email: OutboundDetail = {
    id: 'o',
    status: 'Queued',
    sendAt: null,
    nextRetryAt: '2026-12-03T10:00:00Z',
    recipients: [
      recipient('ann', 'Delivered'),
      recipient('bob', 'Pending'),
      recipient('new', 'Pending'),
      recipient('bad', 'Failed', '550 no such user'),
      recipient('old', 'Failed', 'no mail server'),
    ],
  };
  const attempts = [
    attempt('3', 'bob', 'temporary'),
    attempt('1', 'ann', 'delivered'),
    attempt('2', 'bob', 'temporary'),
    attempt('4', 'bad', 'permanent'),
  ];
  const steps = deliverySteps(email, attempts);
  t.deepEqual(
    steps.map(({ state, tries, dueAt, error }) => [state, tries.map(({ id }) => id).join(), dueAt, error]),
    [
      ['delivered', '1', null, null],
      ['retrying', '2,3', '2026-12-03T10:00:00Z', null],
      ['queued', '', null, null],
      ['failed', '4', null, null],
      ['failed', '', null, 'no mail server'],
    ],
  );
  const states = (more: Partial<OutboundDetail>) => deliverySteps({ ...email, ...more }, []).map(({ state }) => state);
  t.deepEqual(states({ status: 'Sending' }).slice(1, 3), ['sending', 'sending']);
  t.deepEqual(states({ sendAt: '2026-12-04T09:00:00Z' }).slice(1, 3), ['held', 'held']);
  t.deepEqual(states({ status: 'Draft' }).slice(1, 3), ['cancelled', 'cancelled']);
});
