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
  const steps = deliverySteps(email, attempts, null);
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
  const states = (more: Partial<OutboundDetail>) =>
    deliverySteps({ ...email, ...more }, [], null).map(({ state }) => state);
  t.deepEqual(states({ status: 'Sending' }).slice(1, 3), ['sending', 'sending']);
  t.deepEqual(states({ sendAt: '2026-12-04T09:00:00Z' }).slice(1, 3), ['held', 'held']);
  t.deepEqual(states({ status: 'Draft' }).slice(1, 3), ['cancelled', 'cancelled']);
});

const bounce = (id: string, outcomes: Attempt['recipients'], reply: string): Attempt => ({
  ...attempt(id, '', 'permanent'),
  host: null,
  reply: `a later bounce: ${reply}`,
  recipients: outcomes,
});

test('a recipient whose email came back was delivered, and bounced for its own reason at its own time', (t) => {
  const deliveredAt = '2026-12-03T09:00:02Z';
  const failed = (id: string, lastError: string) => ({ ...recipient(id, 'Failed', lastError), deliveredAt });
  const email: OutboundDetail = {
    id: 'o',
    status: 'Failed',
    sendAt: null,
    recipients: [
      failed('ann', '550 5.1.1 gone'),
      failed('bob', '552 5.2.2 full'),
      failed('early', '550 5.1.1 gone'),
      failed('bare', '550 5.1.1 gone'),
      failed('again', '550 5.7.1 no'),
      failed('late', '451 later'),
      recipient('mended', 'Delivered', '550 5.1.1 gone'),
    ],
  };
  const both = [
    { id: 'ann', outcome: 'permanent' },
    { id: 'bob', outcome: 'permanent' },
  ] as const;
  const attempts = [
    ...['ann', 'bob', 'early', 'again', 'late', 'mended'].map((id) => attempt('1', id, 'delivered')),
    bounce('3', both, '550 5.1.1 gone'),
    ...['again', 'late', 'mended'].map((id) => bounce('3', [{ id, outcome: 'permanent' }], '550 5.1.1 first')),
    { ...attempt('4', 'again', 'permanent'), reply: '550 5.7.1 no' },
    { ...attempt('4', 'late', 'temporary'), reply: '451 later' },
    attempt('4', 'mended', 'delivered'),
  ];
  t.deepEqual(
    deliverySteps(email, attempts, null).map(({ state, tries, error }) => [
      state,
      ...tries.map(({ at, host, outcome, reply }) => [at.slice(-3, -1), host, outcome, reply].join(' ')),
      error,
    ]),
    [
      ['bounced', '01 mx.a.test delivered 250 2.0.0 Ok', '03  bounced 550 5.1.1 gone', null],
      ['bounced', '01 mx.a.test delivered 250 2.0.0 Ok', '03  bounced 552 5.2.2 full', null],
      ['bounced', '01 mx.a.test delivered 250 2.0.0 Ok', '550 5.1.1 gone'],
      ['bounced', '550 5.1.1 gone'],
      [
        'failed',
        '01 mx.a.test delivered 250 2.0.0 Ok',
        '03  bounced 550 5.1.1 first',
        '04 mx.a.test permanent 550 5.7.1 no',
        null,
      ],
      [
        'failed',
        '01 mx.a.test delivered 250 2.0.0 Ok',
        '03  bounced 550 5.1.1 first',
        '04 mx.a.test temporary 451 later',
        null,
      ],
      [
        'delivered',
        '01 mx.a.test delivered 250 2.0.0 Ok',
        '03  bounced 550 5.1.1 first',
        '04 mx.a.test delivered 250 2.0.0 Ok',
        null,
      ],
    ],
  );
  t.is(deliverySteps(email, [], null)[0]!.deliveredAt, deliveredAt);
});

test('the first step is the queue and stays, except for an email that was taken back', (t) => {
  const at = '2026-12-03T09:00:00Z';
  const queued = (status: OutboundDetail['status'], queuedAt: string | null) =>
    deliverySteps({ id: 'o', status, sendAt: null, recipients: [recipient('ann', 'Delivered')] }, [], queuedAt)[0]!
      .queued;
  t.deepEqual(queued('Sent', at), { at });
  t.deepEqual(queued('Sent', null), { at: null });
  t.is(queued('Draft', at), null);
});
