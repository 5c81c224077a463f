// Tests the limits of a summary, whatever the envelope contains.

import fc from 'fast-check';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../src/mail-format/summary.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

const summary = (header: string) => summarize(indexMessage(Buffer.from(`${header}\r\n\r\n`)));

test('an id of more octets than a line may have is none', (t) => {
  const fits = `<${'x'.repeat(980)}@h>`;
  // The id has about 990 characters, and three times this number of octets.
  const wide = `<${'\u20ac'.repeat(980)}@h>`;
  t.is(summary(`Message-ID: ${fits}`).messageId, fits);
  const made = summary(`Message-ID: ${wide}\r\nIn-Reply-To: ${wide}\r\nReferences: <a@b> ${wide} <c@d>`);
  t.is(made.messageId, null);
  t.is(made.inReplyTo, null);
  t.deepEqual(made.references, ['<a@b>', '<c@d>']);
});

test('references: the first and the last that fit', (t) => {
  const ids = Array.from({ length: 300 }, (_, n) => `<${n}@h>`);
  t.deepEqual(summary(`References: ${ids.join(' ')}`).references, [ids[0], ...ids.slice(-99)]);
  const long = Array.from({ length: 90 }, (_, n) => `<${n}.${'x'.repeat(900)}@h>`);
  const { references } = summary(`References: ${long.join(' ')}`);
  t.is(references[0], long[0]);
  t.is(references.at(-1), long.at(-1));
  t.is(references.length, 18);
});

test('subject and sender are cut in the summary, the subject not in the envelope', (t) => {
  const subject = 'x'.repeat(1999) + '\u{1f600}'.repeat(10);
  const header = `Subject: ${subject}\r\nFrom: ${'N'.repeat(400)} <${'a'.repeat(400)}@h>`;
  const made = summary(header);
  t.is(made.subject, 'x'.repeat(1999), 'no half of a pair');
  t.is(made.fromName.length, 300);
  t.is(made.fromAddress.length, 320);
  t.is(indexMessage(Buffer.from(`${header}\r\n\r\n`)).envelope.subject, subject);
});

test('whatever the header, a summary stays within its bounds', (t) => {
  const id = fc.string({ unit: 'grapheme', maxLength: 1200 }).map((text) => `<${text.replace(/[<>\s]/g, '')}@h>`);
  const text = fc.string({ unit: 'grapheme', maxLength: 5000 }).map((line) => line.replace(/[\r\n]/g, ''));
  fc.assert(
    fc.property(id, fc.array(id, { maxLength: 150 }), text, text, (messageId, references, subject, name) => {
      const made = summary(
        `Message-ID: ${messageId}\r\nReferences: ${references.join(' ')}\r\nSubject: ${subject}\r\nFrom: ${name} <a@b>`,
      );
      const octets = made.references.map((reference) => Buffer.byteLength(reference));
      t.true(octets.every((count) => count <= 998) && octets.length <= 100);
      t.true(octets.reduce((sum, count) => sum + count, 0) <= 16 * 1024);
      t.true(made.messageId === null || Buffer.byteLength(made.messageId) <= 998);
      t.true(made.subject.length <= 2000 && made.fromName.length <= 300 && made.fromAddress.length <= 320);
      t.notRegex(made.subject + made.fromName, /\p{Cs}/u);
    }),
    { numRuns: runs(50) },
  );
});
