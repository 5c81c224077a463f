// Tests DSNs as a mail program reads them, also with hostile addresses, replies and headers.

import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { DSN_KINDS } from '../../../src/mail-format/outbound-status.js';
import { type Dsn, writeDsn } from '../../../src/mail-format/reports/dsn.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const AT = Date.UTC(2026, 4, 17, 9, 30);
const HEADER = Buffer.from(
  'From: Ann <ann@here.test>\r\nTo: bob@there.test\r\nSubject: lunch?\r\nMessage-ID: <1@here.test>\r\n\r\n',
);

const REPORT: Dsn = {
  kind: 'failed',
  hostname: 'mx.here.test',
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  now: AT + 3_600_000,
  envid: null,
  email: {
    sender: 'ann@here.test',
    subject: 'lunch?',
    messageId: '<1@here.test>',
    references: ['<0@there.test>'],
    createdAt: AT,
    header: HEADER,
    content: null,
  },
  recipients: [
    {
      address: 'bob@there.test',
      orcpt: null,
      statusCode: '5.1.1',
      text: '550 5.1.1 No such user here',
      host: 'mx1.there.test',
      attemptedAt: AT + 1_000,
    },
    {
      address: 'cy@gone.test',
      orcpt: null,
      statusCode: null,
      text: 'no answer from any host',
      host: null,
      attemptedAt: null,
    },
  ],
  delivered: ['dee@there.test'],
  retriedUntil: null,
};

const textOf = (report: Dsn) => Buffer.from(writeDsn(report)).toString();

/** Returns the content of the parts, by type. */
function partsOf(report: Dsn): ReadonlyMap<string, string> {
  const bytes = Buffer.from(writeDsn(report));
  const { root } = indexMessage(bytes);
  return new Map(
    root.parts.map(({ type, subtype, bodyStart, bodyEnd }) => [
      `${type}/${subtype}`,
      bytes.subarray(bodyStart, bodyEnd).toString(),
    ]),
  );
}

/** Returns the groups of fields, unfolded. */
function fieldsOf(text: string): readonly (readonly (readonly [name: string, value: string])[])[] {
  const groups = text.replace(/\r\n[ \t]+/g, ' ').split(/\r\n\r\n/);
  return groups.map((group) =>
    group
      .split('\r\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [, name, value] = /^([!-9;-~]+): ?(.*)$/.exec(line) ?? [];
        if (name === undefined) throw new Error(`no field: ${JSON.stringify(line)}`);
        return [name, value!] as const;
      }),
  );
}

test('a report of failure says who has not got it and why, to people and to programs', async (t) => {
  const parsed = await simpleParser(Buffer.from(writeDsn(REPORT)));
  t.is(parsed.from?.text, '"Mail Delivery System" <mailer-daemon@mx.here.test>');
  t.is(parsed.subject, 'Undelivered: lunch?');
  t.is(parsed.inReplyTo, '<1@here.test>');
  t.deepEqual(parsed.references, ['<0@there.test>', '<1@here.test>']);
  t.is(parsed.messageId, '<01890a5d-ac96-774b-bcce-b302099a8057@mx.here.test>');
  t.is(parsed.date?.getTime(), REPORT.now);
  t.is(parsed.headers.get('auto-submitted'), 'auto-replied');
  t.true(textOf(REPORT).startsWith('Return-Path: <>\r\n'));
  t.like(parsed.headers.get('content-type'), {
    value: 'multipart/report',
    params: { 'report-type': 'delivery-status' },
  });
  for (const words of [
    /bob@there\.test\n {4}There is no such address\.\n {4}mx1\.there\.test said: 550 5\.1\.1 No such user here/,
    /cy@gone\.test\n {4}no answer from any host/,
    /It was delivered to:\n {4}dee@there\.test/,
  ])
    t.regex(parsed.text!, words);
  const parts = partsOf(REPORT);
  t.deepEqual([...parts.keys()], ['text/plain', 'message/delivery-status', 'text/rfc822-headers']);
  t.deepEqual(fieldsOf(parts.get('message/delivery-status')!), [
    [
      ['Reporting-MTA', 'dns; mx.here.test'],
      ['Arrival-Date', 'Sun, 17 May 2026 09:30:00 +0000'],
    ],
    [
      ['Final-Recipient', 'rfc822; bob@there.test'],
      ['Action', 'failed'],
      ['Status', '5.1.1'],
      ['Remote-MTA', 'dns; mx1.there.test'],
      ['Diagnostic-Code', 'smtp; 550 5.1.1 No such user here'],
      ['Last-Attempt-Date', 'Sun, 17 May 2026 09:30:01 +0000'],
    ],
    [
      ['Final-Recipient', 'rfc822; cy@gone.test'],
      ['Action', 'failed'],
      ['Status', '5.0.0'],
      ['Diagnostic-Code', 'x-mansio; no answer from any host'],
    ],
  ]);
  t.is(parts.get('text/rfc822-headers'), HEADER.toString().slice(0, -2));
});

test('a report of a delay says until when it is tried', async (t) => {
  const report: Dsn = {
    ...REPORT,
    kind: 'delayed',
    recipients: [{ ...REPORT.recipients[0]!, statusCode: '4.4.1' }],
    retriedUntil: AT + 5 * 86_400_000,
  };
  const parsed = await simpleParser(Buffer.from(writeDsn(report)));
  t.is(parsed.subject, 'Delayed: lunch?');
  t.regex(parsed.text!.replace(/\s+/g, ' '), /It is tried again until Fri, 22 May 2026 09:30:00 \+0000/);
  const [, recipient] = fieldsOf(partsOf(report).get('message/delivery-status')!);
  t.deepEqual(recipient!.slice(1, 3), [
    ['Action', 'delayed'],
    ['Status', '4.4.1'],
  ]);
  t.deepEqual(recipient!.at(-1), ['Will-Retry-Until', 'Fri, 22 May 2026 09:30:00 +0000']);
});

test('names of other scripts: encoded in fields, written out for people, escaped for programs (RFC 6533)', async (t) => {
  const subject = `Grüße, ${'日本語 '.repeat(40)}`.trim();
  const report: Dsn = {
    ...REPORT,
    email: { ...REPORT.email, sender: 'jürgen@here.test', subject, header: Buffer.from(`Subject: ${subject}\r\n\r\n`) },
    recipients: [{ ...REPORT.recipients[0]!, address: '用+户@例子.test', text: '550 nicht zustellbar – Fünf' }],
  };
  const parsed = await simpleParser(Buffer.from(writeDsn(report)));
  t.is(parsed.subject, `Undelivered: ${subject}`);
  t.regex(parsed.text!, /用\+户@例子\.test/);
  t.regex(parsed.text!, /nicht zustellbar – Fünf/);
  const parts = partsOf(report);
  t.is(parts.get('message/global-headers'), `Subject: ${subject}\r\n`);
  const status = parts.get('message/delivery-status')!;
  t.regex(status, /^[\t\r\n -~]*$/);
  const [, recipient] = fieldsOf(status);
  t.deepEqual(recipient![0], ['Final-Recipient', 'utf-8; \\x{7528}\\x{2B}\\x{6237}@\\x{4F8B}\\x{5B50}.test']);
});

test('a report joins the thread of the message, and an id that is none is left out', (t) => {
  const summary = (report: Dsn) => summarize(indexMessage(writeDsn(report)));
  t.like(summary(REPORT), { inReplyTo: '<1@here.test>', references: ['<0@there.test>', '<1@here.test>'] });
  for (const messageId of [null, '<a b@c>', '<a@b>\r\nBcc: x@y.test', '1@here.test', `<${'a'.repeat(2_000)}@b>`]) {
    const found = summary({ ...REPORT, email: { ...REPORT.email, messageId } });
    t.deepEqual([found.inReplyTo, found.references], [null, ['<0@there.test>']]);
  }
});

test('the header of the message is repeated in whole lines, without what would end the part', (t) => {
  const header = (text: string) =>
    partsOf({ ...REPORT, email: { ...REPORT.email, header: Buffer.from(text) } }).get('text/rfc822-headers');
  t.is(header('A: 1\r\nB: 2\nC: 3\r\n\r\n'), 'A: 1\r\nB: 2\r\nC: 3\r\n');
  t.is(header('A: 1\r\nB: cut off in the mid'), 'A: 1\r\n');
  t.is(header(''), '');
  t.is(header(`A: ${'x'.repeat(5_000)}\r\n\r\n`)!.length, 249 + 2);
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      ' ',
      '\t',
      ':',
      'a',
      '-',
      '.',
      '=?',
      '?=',
      '<',
      '>',
      '"',
      '\u2028',
      '\0',
      'ü',
      '😀',
    ),
    maxLength: 2_000,
  }),
  fc.constantFrom(
    'x\r\nBcc: victim@x.test',
    'x\r\n\r\n--report-01890a5d-ac96-774b-bcce-b302099a8057--\r\n',
    'x\nFinal-Recipient: rfc822; nobody@x.test',
    `${'a'.repeat(10_000)}`,
    `${'日'.repeat(5_000)}`,
  ),
);

test('whatever others wrote, a report has the fields it has, in lines within the limit', (t) => {
  const field = fc.option(hostile);
  const reports = fc.record({
    kind: fc.constantFrom(...DSN_KINDS),
    envid: field,
    hostname: fc.oneof(fc.constant('mx.here.test'), hostile),
    email: fc.record({
      sender: hostile,
      subject: hostile,
      messageId: field,
      references: fc.array(hostile, { maxLength: 30 }),
      createdAt: fc.constant(AT),
      header: fc.oneof(
        hostile.map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 3_000 }),
      ),
      content: fc.constant(null),
    }),
    recipients: fc.array(
      fc.record({
        address: hostile,
        orcpt: field,
        statusCode: field,
        text: field,
        host: field,
        attemptedAt: fc.constant(AT),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    delivered: fc.array(hostile, { maxLength: 30 }),
  });
  const names = ['Return-Path', 'From', 'To', 'Subject', 'Date', 'Message-ID', 'In-Reply-To', 'References'];
  const rest = ['Auto-Submitted', 'MIME-Version', 'Content-Type'];
  fc.assert(
    fc.property(reports, ({ kind, envid, hostname, email, recipients, delivered }) => {
      const report: Dsn = { ...REPORT, kind, envid, hostname, email, recipients, delivered, retriedUntil: AT };
      const text = textOf(report);
      for (const line of text.split('\r\n')) {
        if (/[\r\n\0]/.test(line)) throw new Error(`bare: ${JSON.stringify(line)}`);
        if (Buffer.byteLength(line) > 998) throw new Error(`long: ${line.length}`);
      }
      const [header] = fieldsOf(text.slice(0, text.indexOf('\r\n\r\n')));
      t.deepEqual(
        header!.map(([name]) => name).filter((name) => !['In-Reply-To', 'References'].includes(name)),
        [...names.slice(0, 6), ...rest],
      );
      const index = indexMessage(Buffer.from(text));
      t.is(index.root.parts.length, 3);
      const groups = fieldsOf(partsOf(report).get('message/delivery-status')!);
      t.is(groups.length, recipients.length + 1);
      for (const group of groups.slice(1)) {
        t.deepEqual(
          group
            .map(([name]) => name)
            .filter((name) => !['Original-Recipient', 'Remote-MTA', 'Diagnostic-Code'].includes(name)),
          [
            'Final-Recipient',
            'Action',
            'Status',
            'Last-Attempt-Date',
            ...(kind === 'delayed' ? ['Will-Retry-Until'] : []),
          ],
        );
        const codes = group.filter(([name]) => name === 'Status').map(([, value]) => value);
        t.regex(codes.join(' '), /^[245]\.\d{1,3}\.\d{1,3}$/);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a report has what the sender gave to know it by, and the whole message where it is wanted', (t) => {
  const [bob] = REPORT.recipients;
  const content = Buffer.from(`${HEADER}Grüße,\r\n-- \r\nAnn\r\n`);
  const asked = { envid: 'QQ 314', recipients: [{ ...bob!, orcpt: 'rfc822;robert@there.test' }] };
  const report: Dsn = { ...REPORT, ...asked, email: { ...REPORT.email, content } };
  const [message, recipient] = fieldsOf(partsOf(report).get('message/delivery-status')!);
  t.deepEqual(message![0], ['Original-Envelope-Id', 'QQ 314']);
  t.deepEqual(recipient![0], ['Original-Recipient', 'rfc822; robert@there.test']);
  t.is(partsOf(report).get('message/rfc822'), content.toString());
  t.true(textOf(report).includes('Content-Transfer-Encoding: 8bit\r\n\r\nFrom: Ann'));
});

test('a success says that the message is there, or that nobody will say whether it is', async (t) => {
  for (const [kind, words] of [
    ['delivered', /was delivered to the recipients below/],
    ['relayed', /send no notifications/],
  ] as const) {
    const [bob] = REPORT.recipients;
    const report: Dsn = {
      ...REPORT,
      kind,
      recipients: [{ ...bob!, statusCode: null, text: null }],
      delivered: [bob!.address],
    };
    const [, recipient] = fieldsOf(partsOf(report).get('message/delivery-status')!);
    t.deepEqual(recipient!.slice(1, 3), [
      ['Action', kind],
      ['Status', '2.0.0'],
    ]);
    const { text = '', subject } = await simpleParser(Buffer.from(writeDsn(report)));
    t.regex(text.replaceAll('\n', ' '), words);
    t.notRegex(text, /It was delivered to:/);
    t.regex(subject!, new RegExp(`^${kind}`, 'i'));
  }
});
