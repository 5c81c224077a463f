// Tests bounces as servers write them, messages that are none, and which bounces are believed.

import fc from 'fast-check';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { readBounce } from '../../../src/mail-format/reports/bounce.js';
import { isBelieved } from '../../../src/mail-format/reports/bounce-source.js';
import { writeDsn } from '../../../src/mail-format/reports/dsn.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const crlf = (text: string) => Buffer.from(text.replace(/\r?\n/g, '\r\n'));
const read = (octets: Buffer, sender = '') => readBounce(octets, indexMessage(octets), sender);

const REPORT = (action: string, returned = 'message/rfc822') => `From: MAILER-DAEMON@there.test
Subject: Undelivered Mail Returned to Sender
Message-ID: <bounce@there.test>
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

This is the mail system at host mx.there.test.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.there.test

Original-Recipient: rfc822;Bob@There.test
Final-Recipient: rfc822; bob.inner@store.there.test
Action: ${action}
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 <bob.inner@store.there.test>:
    User unknown

Final-Recipient: rfc822; cy@there.test
Action: relayed
Status: 2.0.0

--b
Content-Type: ${returned}

From: ann@here.test
Message-ID:
 <original@here.test>
Subject: lunch

--b--
`;

const QMAIL = `From: MAILER-DAEMON@there.test
Subject: failure notice
Message-ID: <bounce@there.test>

Hi. This is the qmail-send program at there.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<bob@there.test>:
192.0.2.1 does not like recipient.
Remote host said: 550 5.7.1 no mail from you
Giving up on 192.0.2.1.

--- Below this line is a copy of the message.

Return-Path: <ann@here.test>
Message-ID: <original@here.test>
To: other@there.test
`;

const EXIM = `From: Mail Delivery System <Mailer-Daemon@there.test>
Subject: Mail delivery failed: returning message to sender
X-Failed-Recipients: bob@there.test
Message-Id: <bounce@there.test>

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  bob@there.test
    host mx.there.test [192.0.2.1]
    SMTP error from remote mail server after RCPT TO:<bob@there.test>:
    550 unknown user

------ This is a copy of the message, including all the headers. ------

Message-ID: <original@here.test>
`;

test('reports of RFC 3464: the recipients that failed, and the message that comes back', (t) => {
  for (const returned of ['message/rfc822', 'text/rfc822-headers', 'message/global-headers']) {
    t.deepEqual(read(crlf(REPORT('failed', returned))), {
      messageId: '<original@here.test>',
      recipients: [
        {
          addresses: ['bob@there.test', 'bob.inner@store.there.test'],
          finals: ['bob.inner@store.there.test'],
          statusCode: '5.1.1',
          text: '550 5.1.1 <bob.inner@store.there.test>: User unknown',
        },
      ],
    });
  }
  t.truthy(read(crlf(REPORT('failed')), 'mailer@there.test'), 'also with a sender');
  for (const action of ['delayed', 'delivered', 'relayed', 'expanded', ''])
    t.is(read(crlf(REPORT(action))), undefined, action);
});

test('the reports that Mansio writes are read', (t) => {
  const email = {
    sender: 'ann@here.test',
    subject: 'x',
    messageId: '<1@here.test>',
    references: [],
    createdAt: 0,
    header: crlf('From: ann@here.test\nMessage-ID: <1@here.test>\n\n'),
    content: null,
  };
  const recipient = {
    address: 'bob@there.test',
    orcpt: null,
    statusCode: '5.2.1',
    text: '550 5.2.1 off',
    host: 'mx',
    attemptedAt: 1,
  };
  const report = { hostname: 'mx', id: 'a', now: 1, envid: null, email, recipients: [recipient], delivered: [] };
  const written = Buffer.from(writeDsn({ ...report, kind: 'failed', retriedUntil: null }));
  t.deepEqual(read(written), {
    messageId: '<1@here.test>',
    recipients: [
      { addresses: ['bob@there.test'], finals: ['bob@there.test'], statusCode: '5.2.1', text: '550 5.2.1 off' },
    ],
  });
  t.is(read(Buffer.from(writeDsn({ ...report, kind: 'delayed', retriedUntil: 2 }))), undefined);
});

test('free forms: what qmail and Exim write', (t) => {
  const qmail = read(crlf(QMAIL))!;
  t.is(qmail.messageId, '<original@here.test>');
  t.deepEqual(
    qmail.recipients.map(({ addresses }) => addresses),
    [['bob@there.test']],
  );
  t.is(qmail.recipients[0]!.statusCode, '5.7.1');
  t.regex(qmail.recipients[0]!.text, /does not like recipient.*550 5\.7\.1 no mail from you/);
  const exim = read(crlf(EXIM))!;
  t.is(exim.messageId, '<original@here.test>');
  t.true(exim.recipients.every(({ addresses }) => addresses.join() === 'bob@there.test'));
  t.regex(exim.recipients[0]!.text, /host mx\.there\.test.*: 550 unknown user$/);
});

const OLD_POSTFIX = `From: MAILER-DAEMON@there.test
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients.

<bob@there.test>: who is that?

--b
Content-Type: message/rfc822

From: ann@here.test
To: bob@there.test, cy@there.test
Message-ID: <original@here.test>

--b--
`;

const OLD_EXCHANGE = OLD_POSTFIX.replace(
  /I'm sorry[\s\S]*who is that\?/,
  'Your message did not reach\nbob@there.test on Saturday',
);

/** No line marks the beginning of the copy. */
const WITHOUT_MARK = `From: MAILER-DAEMON@there.test
Subject: Mail could not be delivered

This address failed: bob@there.test

Received: from here.test
From: ann@here.test
To: bob@there.test, cy@there.test
Message-ID: <original@here.test>
`;

test('free forms: words over two lines, other words, a copy without a mark', (t) => {
  for (const text of [OLD_POSTFIX, OLD_EXCHANGE, WITHOUT_MARK]) {
    const bounce = read(crlf(text))!;
    t.is(bounce?.messageId, '<original@here.test>', text);
    t.deepEqual(
      bounce.recipients.map(({ addresses }) => addresses.join()),
      ['bob@there.test'],
    );
  }
});

test('a report within another multipart, as mail filters make it, with comments and an encoded address in its fields', (t) => {
  const [, report] = REPORT('Failed (for good)').split('Message-ID: <bounce@there.test>\n');
  const wrapped = `From: MAILER-DAEMON@there.test
Content-Type: multipart/mixed; boundary="o"

--o
${report!.replace('rfc822;Bob@There.test', 'rfc822;bob+2Btag@there.test (Bob)')}
--o
Content-Type: text/plain

Checked by a filter.
--o--
`;
  t.deepEqual(read(crlf(wrapped))?.recipients[0]?.addresses, [
    'bob+2btag@there.test',
    'bob+tag@there.test',
    'bob.inner@store.there.test',
  ]);
});

test('what is no bounce: delays, mail of people, no message that comes back', (t) => {
  t.is(read(crlf(EXIM.replace('delivery failed', 'delayed').replace('could not', 'has not yet been'))), undefined);
  t.is(read(crlf(QMAIL.replace('a permanent error', 'a Warning; the message will be retried'))), undefined);
  t.is(read(crlf(QMAIL), 'friend@there.test'), undefined, 'with a sender it is somebody’s mail');
  t.is(read(crlf(QMAIL.replace(/\nMessage-ID: <original.*\n/, '\n'))), undefined);
  t.is(read(crlf('From: a@b.test\n\nI am on holiday.\n')), undefined);
  const reply = 'I am away. If this fails, write to bob@there.test instead.';
  for (const quote of [
    'Message-ID: <original@here.test>',
    '> From: ann@here.test\n> Message-ID: <original@here.test>',
  ]) {
    t.is(read(crlf(`From: a@b.test\nSubject: Away\n\n${reply}\n\n${quote}\n`)), undefined, quote);
  }
});

test('whatever others write is read within bounds', (t) => {
  const pieces = fc.constantFrom(
    QMAIL,
    EXIM,
    REPORT('failed'),
    'x@y.test ',
    '<',
    '\0',
    '\r\n',
    '550 5.1.1 ',
    'é',
    '--b\r\n',
  );
  const long = ' '.repeat(200_000);
  const fields = `Final-Recipient: rfc822; a@b.test${long}x\nAction: failed\n\nFinal-Recipient: rfc822; ${'(a '.repeat(60_000)}\nAction: failed\n`;
  const report = REPORT('failed').replace('Action: relayed', `Action: failed\n\n${fields}`);
  read(crlf(report));
  for (const text of [
    long,
    'a'.repeat(200_000),
    'Message-ID:\n'.repeat(20_000),
    'not be '.repeat(30_000),
    'a@'.repeat(100_000),
  ])
    read(crlf(`Subject: x\n\n${text}`));
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (texts) => {
      const bounce = read(crlf(texts.join('')));
      if (bounce === undefined) return;
      t.true(bounce.recipients.length <= 100);
      for (const { text, statusCode } of bounce.recipients) {
        t.regex(statusCode, /^5\.\d{1,3}\.\d{1,3}$/);
        t.notRegex(text, /\p{Cc}/u);
      }
    }),
    { numRuns: runs(200) },
  );
});

test('a bounce is believed of the host that took the message, and of whom the recipient’s domain speaks through', (t) => {
  const taken = { domain: 'there.test', hosts: ['mx1.mail.test', 'MX2.provider.test'], takers: ['192.0.2.1'] };
  const of = (remoteAddress: string, ...domains: string[]) => isBelieved({ remoteAddress, domains }, taken);
  t.true(of('192.0.2.1'));
  t.false(of('192.0.2.2'));
  for (const domain of ['there.test', 'bounces.there.test', 'mx1.mail.test', 'mail.test', 'provider.test'])
    t.true(of('192.0.2.2', domain), domain);
  for (const domain of ['evil.test', 'xthere.test', 'test', 'there.test.evil.test', 'other.mail.test', ''])
    t.false(of('192.0.2.2', domain), domain);
  t.true(of('192.0.2.2', 'evil.test', 'there.test'));
});
