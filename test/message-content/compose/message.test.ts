// Tests composed messages, which another parser and our index read back.

import fc from 'fast-check';
import { type AddressObject, simpleParser } from 'mailparser';
import { MessageTooLarge } from '../../../src/message-content/compose/message.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { attachment, compose, faultsOf, newSpool, PLAIN } from './compose.js';

const lines = (text: string | false | undefined): string => (text || '').replace(/\r\n?/g, '\n').replace(/\n$/, '');

/** Characters with a meaning in header fields, encoded words and address lists, and some of every kind. */
const unit = fc.oneof(
  fc.constantFrom(
    '=?',
    '?=',
    '=?utf-8?Q?',
    '"',
    '\\',
    ',',
    ';',
    ':',
    '<',
    '>',
    '(',
    ')',
    '@',
    '[',
    ']',
    '.',
    ' ',
    '  ',
    '=',
  ),
  fc.constantFrom(
    'Bcc: x@y.test',
    '=?utf-8?Q?Bcc?=',
    '=?iso-8859-1?B?AAAA?=',
    'undisclosed:;',
    '\u{1f600}',
    'é',
    '日本',
    '\u00a0',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
);
const oneLine = fc
  .array(unit, { maxLength: 12 })
  .map((parts) =>
    parts
      .join('')
      .replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '')
      .trim()
      .slice(0, 200)
      .trim(),
  )
  .filter((text) => !/\p{Cs}/u.test(text));
const prose = fc
  .array(
    fc.oneof(
      unit,
      fc.constantFrom('\n', '\r\n', '\r', '.\n', '\nFrom ', ' \n', '\t', '\n\n'),
      fc.string({ maxLength: 300 }),
    ),
    {
      maxLength: 20,
    },
  )
  .map((parts) => parts.join('').replace(/[\0\p{Cs}]/gu, ''));

const domain = fc.constantFrom('remote.test', 'sub.remote.test', 'xn--bcher-kva.test');
const localPart = fc.constantFrom('bob', 'bob+tag', "o'hara", '"a b"', '"a,b;c"', '"a\\"b"', '"<x@y.test>"');
const mailbox = fc.record({
  name: oneLine,
  address: fc.tuple(localPart, domain).map(([local, host]) => `${local}@${host}`),
});

const FIELDS = ['From', 'To', 'Cc', 'Subject', 'Message-ID', 'Date', 'MIME-Version', 'Content-Type'];

test('whatever strings come in, they come out again, and nothing else does', async (t) => {
  const strings = fc.record({
    from: mailbox,
    to: fc.array(mailbox, { maxLength: 4 }),
    cc: fc.array(mailbox, { maxLength: 4 }),
    subject: oneLine.filter((subject) => subject !== ''),
    textBody: fc.option(prose.filter((text) => text !== '')),
    htmlBody: fc.option(prose.filter((text) => text.trim() !== '')),
  });
  await fc.assert(
    fc.asyncProperty(strings, async (given) => {
      const { octets, fields, index } = await compose(given);
      t.deepEqual(faultsOf(octets), []);
      const names = fields.map(([name]) => name);
      t.deepEqual(names, [...new Set(names)]);
      const strange = names.filter((name) => !FIELDS.includes(name) && name !== 'Content-Transfer-Encoding');
      t.deepEqual(strange, []);
      t.deepEqual(names.includes('Cc'), given.cc.length > 0);

      // Our parser folds any white space into one space.
      const folded = (text: string) => text.replace(/\s+/gu, ' ').trim();
      t.is(folded(index.envelope.subject), folded(given.subject));
      const shown = (list: readonly { name: string; address: string }[]) =>
        list.map(({ name, address }) => [folded(name), address]);
      t.deepEqual(shown(index.envelope.from), shown([given.from]));
      if (given.to.length + given.cc.length > 0) t.deepEqual(shown(index.envelope.to), shown(given.to));
      t.deepEqual(shown(index.envelope.cc), shown(given.cc));
      t.deepEqual(index.envelope.bcc, []);
      t.deepEqual(index.attachments, []);

      const read = await simpleParser(octets, { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true });
      t.is(folded(read.subject ?? ''), folded(given.subject));
      t.is(lines(read.text), lines(given.textBody ?? ''));
      t.is(lines(read.html), lines(given.htmlBody ?? ''));
      t.is(read.attachments.length, 0);
      t.is(folded(read.from?.value[0]?.name ?? ''), folded(given.from.name));
      const cc = [read.cc ?? []].flat() as AddressObject[];
      t.is(cc.flatMap(({ value }) => value).length, given.cc.length);
    }),
    { numRuns: runs(300) },
  );
});

test('the header is as mail programs write it', async (t) => {
  const { fields } = await compose({
    from: { name: 'Müller, Jürgen "J"', address: 'alice@example.test' },
    cc: [
      { name: '', address: 'x@BÜCHER.test' },
      { name: 'A, B', address: '"a b"@c.test' },
    ],
    inReplyTo: '<b@x>',
    references: ['<a@x>', '<b@x>'],
  });
  t.deepEqual(Object.fromEntries(fields), {
    From: '=?UTF-8?Q?M=C3=BCller=2C_J=C3=BCrgen_=22J=22?= <alice@example.test>',
    To: 'Bob <bob@remote.test>',
    Cc: 'x@xn--bcher-kva.test, "A, B" <"a b"@c.test>',
    Subject: 'Subject',
    'In-Reply-To': '<b@x>',
    References: '<a@x> <b@x>',
    'Message-ID': '<018f@mail.example.test>',
    Date: 'Fri, 02 Jan 2026 03:04:05 +0000',
    'MIME-Version': '1.0',
    'Content-Transfer-Encoding': '7bit',
    'Content-Type': 'text/plain; charset=utf-8',
  });
});

test('mail that all get in secret names an empty group', async (t) => {
  const { fields } = await compose({ to: [] });
  t.is(Object.fromEntries(fields)['To'], 'undisclosed-recipients:;');
});

test('a local part that is not ASCII stands as it is, the domain in A-labels', async (t) => {
  const { fields } = await compose({ to: [{ name: '', address: 'jürgen@bücher.test' }] });
  t.is(Object.fromEntries(fields)['To'], 'jürgen@xn--bcher-kva.test');
});

test('bodies are alternatives, html with its pictures is one of them, files stand beside', async (t) => {
  const picture = attachment(Buffer.from('GIF'), { contentType: 'image/gif', contentId: 'p1@x', inline: true });
  const file = attachment(Buffer.alloc(0), { fileName: 'résumé "1".pdf', contentType: 'application/pdf' });
  const { octets, index } = await compose({ htmlBody: '<img src="cid:p1@x">', attachments: [picture, file] });
  const tree = (part: typeof index.root): unknown =>
    part.parts.length === 0 ? `${part.type}/${part.subtype}` : [part.subtype, ...part.parts.map(tree)];
  t.deepEqual(tree(index.root), [
    'mixed',
    ['alternative', 'text/plain', ['related', 'text/html', 'image/gif']],
    'application/pdf',
  ]);
  t.like(index.attachments[0], { contentId: 'p1@x', inline: true });
  t.like(index.attachments[1], { fileName: 'résumé "1".pdf', size: 0, inline: false });
  t.deepEqual(faultsOf(octets), []);
});

test('long bodies and large attachments come out whole, through the spool', async (t) => {
  const textBody = `${'ä€ lorem ipsum\t \n'.repeat(40_000)}end`;
  const htmlBody = `${'日本語。'.repeat(60_000)}\r\n${' '.repeat(100_000)}x`;
  const octets = Buffer.from(Array.from({ length: 500_000 }, (_, i) => (i * 7919) % 251));
  const spool = newSpool();
  const composed = await compose({ textBody, htmlBody, attachments: [attachment(octets)] }, undefined, spool);
  t.deepEqual(faultsOf(composed.octets), []);
  const read = await simpleParser(composed.octets, { skipHtmlToText: true, skipTextToHtml: true });
  t.is(lines(read.text), textBody);
  t.is(lines(read.html), lines(htmlBody));
  t.true(read.attachments[0]!.content.equals(octets));
  t.is(composed.index.size, composed.octets.length);
  t.is(spool.memory.used, 0);
});

test('the longest values there may be make no line that is too long', async (t) => {
  const word = (length: number) => 'w'.repeat(length);
  const id = (n: number) => `<${n}${word(890)}@x>`;
  const { octets, index } = await compose({
    subject: word(998),
    from: { name: word(200), address: `${word(64)}@${word(63)}.${word(63)}.test` },
    to: Array.from({ length: 50 }, (_, n) => ({ name: `"${word(200)}`, address: `${n}@${word(60)}.test` })),
    inReplyTo: id(0),
    references: Array.from({ length: 9 }, (_, n) => id(n)),
    textBody: word(5000),
    htmlBody: `<p>${word(100_000)}`,
    attachments: [
      attachment(Buffer.from('x'), { fileName: `${word(251)}.txt`, contentId: `${word(240)}@x`, inline: true }),
      attachment(Buffer.from('x'), { fileName: `${'ä'.repeat(251)}.txt` }),
    ],
  });
  t.deepEqual(faultsOf(octets), []);
  t.is(index.envelope.inReplyTo, id(0));
  t.is(index.envelope.references.length, 9);
  t.is(index.envelope.subject, word(998));
});

test('what is too large is given up, and so are the streams it was made of', async (t) => {
  const spool = newSpool();
  let left = 0;
  let pulled = 0;
  const endless = attachment(Buffer.alloc(0), {
    content: async function* () {
      try {
        for (;;) {
          pulled += 65_536;
          yield Buffer.alloc(65_536, 'x');
        }
      } finally {
        left++;
      }
    },
  });
  const never = attachment(Buffer.from('never read'));
  await t.throwsAsync(compose({ attachments: [endless, never] }, 300_000, spool), { instanceOf: MessageTooLarge });
  t.true(pulled < 1_000_000);
  await new Promise(setImmediate);
  t.is(left, 1);
  t.is(spool.memory.used, 0);
  await t.throwsAsync(compose({ subject: 'x'.repeat(900) }, 500), { instanceOf: MessageTooLarge });
});

test('a fault of an attachment is the fault of the message', async (t) => {
  const spool = newSpool();
  const broken = attachment(Buffer.alloc(0), {
    content: async function* () {
      yield Buffer.from('begun');
      throw new Error('the store is down');
    },
  });
  await t.throwsAsync(compose({ attachments: [broken] }, undefined, spool), { message: 'the store is down' });
  t.is(spool.memory.used, 0);
});

test('the sizes of a message and of its limit are the same thing', async (t) => {
  const { octets } = await compose(PLAIN);
  await t.notThrowsAsync(compose(PLAIN, octets.length));
  await t.throwsAsync(compose(PLAIN, octets.length - 1), { instanceOf: MessageTooLarge });
});
