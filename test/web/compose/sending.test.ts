// Tests the times of Send later, the files of a draft, and the steps of a delivery.
import {
  attachmentInputs,
  type DraftFile,
  fileProblem,
  roomFor,
  storedAs,
} from '../../../web/src/compose/attachments.js';
import { type Attempt, deliverySteps, type OutboundDetail } from '../../../web/src/compose/delivery-steps.js';
import { fieldValue, readSendTime, sendTimes } from '../../../web/src/compose/send-times.js';
import test from '../../support/test.js';

test('the times that are offered are ahead, each once', (t) => {
  // A Thursday, a Friday, a Sunday and a late evening, by the clock of this machine.
  for (const [now, ...expected] of [
    ['2026-12-03T09:30', '2026-12-03T18:00', '2026-12-04T08:00', '2026-12-04T13:00', '2026-12-07T08:00'],
    ['2026-12-04T17:00', '2026-12-04T18:00', '2026-12-05T08:00', '2026-12-05T13:00', '2026-12-07T08:00'],
    ['2026-12-06T17:01', '2026-12-07T08:00', '2026-12-07T13:00'],
    ['2026-12-07T23:59', '2026-12-08T08:00', '2026-12-08T13:00', '2026-12-14T08:00'],
  ] as const) {
    t.deepEqual(
      sendTimes(new Date(now)).map(({ at }) => fieldValue(at)),
      expected,
      now,
    );
  }
});

test('a date field is read by the clock of the reader', (t) => {
  const now = new Date('2026-12-03T09:30');
  t.deepEqual(readSendTime('2026-12-03T09:31', now), { at: new Date('2026-12-03T09:31') });
  for (const [value, problem] of [
    ['', 'missing'],
    ['soon', 'missing'],
    ['2026-12-03T09:30', 'past'],
    ['2028-01-01T00:00', 'far'],
  ] as const) {
    t.deepEqual(readSendTime(value, now), { problem }, value);
  }
});

const file = (key: string, more: Partial<DraftFile> = {}): DraftFile => ({
  key,
  fileName: `${key}.pdf`,
  contentType: 'application/pdf',
  size: 10,
  contentId: null,
  stored: null,
  ...more,
});

test('a file is told to be too large before it travels', (t) => {
  const limit = 36_700_160;
  const room = roomFor([], limit);
  t.true(room > 26_000_000 && room < 27_000_000);
  t.is(fileProblem({ size: room }, [], limit), undefined);
  t.is(fileProblem({ size: room }, [{ size: 1 }], limit), 'tooLarge');
  t.is(
    fileProblem(
      { size: 0 },
      Array.from({ length: 100 }, () => ({ size: 1 })),
      limit,
    ),
    'tooMany',
  );
});

test('a file travels once: later saves name it where it is stored, and a save that came between does not lose it', (t) => {
  const files = [file('a'), file('cat', { contentId: 'cat@x' }), file('b'), file('late')];
  const contents = new Map([
    ['a', 'QQ=='],
    ['cat', 'Qw=='],
    ['b', 'Qg=='],
  ]);
  t.deepEqual(attachmentInputs(files, contents), [
    { fileName: 'a.pdf', contentType: 'application/pdf', content: 'QQ==' },
    { fileName: 'cat.pdf', contentType: 'application/pdf', content: 'Qw==', contentId: 'cat@x' },
    { fileName: 'b.pdf', contentType: 'application/pdf', content: 'Qg==' },
  ]);
  const listed = [{ id: '1', contentId: 'cat@x' }, { id: '2', contentId: 'of-a-forward' }, { id: '3' }];
  const stored = storedAs(files, ['a', 'cat', 'b'], 'd', listed);
  t.deepEqual(
    stored.map((one) => one.stored?.attachmentId),
    ['2', '1', '3', undefined],
  );
  t.deepEqual(attachmentInputs(stored, new Map()), [
    { emailId: 'd', attachmentId: '2' },
    { emailId: 'd', attachmentId: '1', contentId: 'cat@x' },
    { emailId: 'd', attachmentId: '3' },
  ]);
});

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
