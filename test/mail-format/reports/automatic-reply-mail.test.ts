// Tests the message of an automatic reply: others read its fields and bodies as they were meant, whatever they hold.
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { type ReplyMail, writeAutomaticReply } from '../../../src/mail-format/reports/automatic-reply-mail.js';
import test from '../../support/test.js';

const MAIL: ReplyMail = {
  name: 'Jörg "Joe" Müller',
  from: 'me@example.test',
  to: 'ann@remote.test',
  subject: 'Auto: Grüße',
  inReplyTo: '<2@remote.test>',
  references: ['<1@remote.test>', '<2@remote.test>'],
  textBody: 'Ich bin weg.\nBis Montag.',
  htmlBody: '<p>Ich bin weg.</p>',
  hostname: 'mail.example.test',
  id: '018f0000-0000-7000-8000-000000000001',
  now: Date.UTC(2026, 10, 29),
};

test('a reply has its fields, and both bodies', async (t) => {
  const parsed = await simpleParser(Buffer.from(writeAutomaticReply(MAIL)));
  t.deepEqual(parsed.from?.value, [{ name: MAIL.name, address: MAIL.from }]);
  t.is(parsed.subject, MAIL.subject);
  t.is(parsed.inReplyTo, '<2@remote.test>');
  t.deepEqual(parsed.references, ['<1@remote.test>', '<2@remote.test>']);
  t.is(parsed.headers.get('auto-submitted'), 'auto-replied');
  t.is(parsed.text?.trim(), MAIL.textBody ?? '');
  t.is(String(parsed.html).trim(), MAIL.htmlBody ?? '');
  const plain = await simpleParser(Buffer.from(writeAutomaticReply({ ...MAIL, name: 'Joe, "J"', htmlBody: null })));
  t.is(plain.from?.value[0]?.name, 'Joe, "J"');
  t.is(plain.html, false);
});

test('nothing that others wrote makes a field or a line', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (name, subject) => {
      const evil = { name: `${name}\r\nBcc: x@y.test`, subject: `${subject}\r\n\r\nX: y`, inReplyTo: '<a\r\nB: c>' };
      const octets = Buffer.from(writeAutomaticReply({ ...MAIL, ...evil }));
      const parsed = await simpleParser(octets);
      t.deepEqual([parsed.bcc, parsed.headers.get('x'), parsed.headers.get('b')], [undefined, undefined, undefined]);
      t.true(
        octets
          .toString('latin1')
          .split('\r\n')
          .every((line) => line.length <= 998 && !/[\r\n]/.test(line)),
      );
    }),
    { numRuns: 50 },
  );
});
