// Tests the statuses of replies and faults: the table, and that replies of a hostile server do no harm to the text.

import fc from 'fast-check';
import {
  faultStatus,
  isClosing,
  isRecipientLimit,
  replyStatus,
  replyText,
  type Stage,
} from '../../../src/mail-format/reports/delivery-status.js';
import test from '../../support/test.js';

const TABLE: readonly [reply: string, stage: Stage, status: string][] = [
  ['250 2.0.0 Ok: queued as 1', 'message', 'delivered 2.0.0'],
  ['250 Ok', 'message', 'delivered 2.0.0'],
  ['250 2.6.0 <id> Queued', 'message', 'delivered 2.6.0'],
  ['250', 'message', 'delivered 2.0.0'],
  ['421 4.7.0 too busy', 'greeting', 'temporary 4.7.0'],
  ['421 closing', 'mail', 'temporary 4.3.2'],
  ['450 4.7.1 greylisted', 'rcpt', 'temporary 4.7.1'],
  ['450 busy', 'rcpt', 'temporary 4.2.0'],
  ['451 later', 'message', 'temporary 4.3.0'],
  ['452 too many recipients', 'rcpt', 'temporary 4.5.3'],
  ['452 no room', 'message', 'temporary 4.3.1'],
  ['554 no SMTP service here', 'greeting', 'permanent 5.0.0'],
  ['521 does not accept mail', 'greeting', 'permanent 5.3.2'],
  ['550 no such user', 'rcpt', 'permanent 5.1.1'],
  ['550 5.7.1 policy', 'rcpt', 'permanent 5.7.1'],
  ['550 spam', 'message', 'permanent 5.6.0'],
  // RFC 5321 §4.5.3.1.10: a 552 to RCPT means 452.
  ['552 full', 'rcpt', 'temporary 4.5.3'],
  ['552 5.2.2 full', 'rcpt', 'temporary 4.2.2'],
  ['552 too large', 'mail', 'permanent 5.3.4'],
  ['552 too large', 'message', 'permanent 5.3.4'],
  ['552 5.5.3 too many recipients', 'rcpt', 'temporary 4.5.3'],
  ['553 bad', 'rcpt', 'permanent 5.1.3'],
  ['556 null MX', 'rcpt', 'permanent 5.1.10'],
  ['599 what', 'data', 'permanent 5.0.0'],
  // The class is that of the reply code.
  ['550 4.7.1 confused', 'rcpt', 'permanent 5.7.1'],
  ['451 5.1.1 confused', 'rcpt', 'temporary 4.1.1'],
  // These replies answer no question.
  ['250 Ok', 'rcpt', 'temporary 4.5.0'],
  ['354 go on', 'message', 'temporary 4.5.0'],
  ['hello', 'message', 'temporary 4.5.0'],
  ['2500 hello', 'message', 'temporary 4.5.0'],
  ['550x', 'rcpt', 'temporary 4.5.0'],
  ['250-taken\n550 refused', 'message', 'temporary 4.5.0'],
  ['550-no\n250 yes', 'rcpt', 'temporary 4.5.0'],
  ['550-no\nno code', 'rcpt', 'temporary 4.5.0'],
  ['', 'message', 'temporary 4.5.0'],
];

for (const [reply, stage, expected] of TABLE) {
  test(`${stage}: ${reply} is ${expected}`, (t) => {
    const { kind, statusCode } = replyStatus(reply, stage);
    t.is(`${kind} ${statusCode}`, expected);
  });
}

test('faults have the kind that their code says', (t) => {
  t.deepEqual(faultStatus('null-mx', 'no mail'), { kind: 'permanent', statusCode: '5.1.10', text: 'no mail' });
  t.deepEqual(faultStatus('dns', 'silence'), { kind: 'temporary', statusCode: '4.4.3', text: 'silence' });
  t.is(faultStatus('private-host', '').kind, 'permanent');
  t.is(faultStatus('lost', '').kind, 'temporary');
  t.is(faultStatus('sts-certificate', '').statusCode, '4.7.5');
});

test('lines of a reply become one, without what they repeat', (t) => {
  t.is(
    replyText('550-5.1.1 The account\n550-5.1.1 does not\r\n550 5.1.1 exist'),
    '550 5.1.1 The account does not exist',
  );
  t.is(replyText('550-one\n550 two'), '550 one two');
  t.is(replyText('550 a\u0007b\u202ec\u2028d\ud800e'), '550 a b c d e');
});

test('limits on recipients are told from other refusals', (t) => {
  for (const reply of [
    '452 too many',
    '452 4.5.3 too many',
    '552 too many',
    '552 5.5.3 too many',
    '451 4.5.3 slow down',
  ]) {
    t.true(isRecipientLimit(reply), reply);
  }
  for (const reply of ['452 4.2.2 full', '452 4.3.1 no room', '552 5.2.2 full', '450 later', '550 5.5.3 no']) {
    t.false(isRecipientLimit(reply), reply);
  }
  t.true(isClosing('421 bye'));
  t.false(isClosing('4210 bye'));
});

test('whatever a server says, the status is bounded and can be shown', (t) => {
  const stages = fc.constantFrom<Stage>('greeting', 'hello', 'mail', 'rcpt', 'data', 'message');
  const replies = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 2000 }),
    fc
      .tuple(fc.integer({ min: 200, max: 599 }), fc.string({ unit: 'binary' }))
      .map(([code, text]) => `${code} ${text}`),
  );
  fc.assert(
    fc.property(replies, stages, (reply, stage) => {
      const { kind, statusCode, text } = replyStatus(reply, stage);
      t.regex(statusCode, /^[245]\.\d{1,3}\.\d{1,3}$/);
      const classes = { delivered: '2', temporary: '4', permanent: '5' };
      t.is(statusCode[0], classes[kind]);
      t.true(text.length <= 1000 && !/[\p{Cc}\p{Cs}\u2028\u202e]/u.test(text));
      if (kind === 'delivered') t.is(stage, 'message');
    }),
  );
});
