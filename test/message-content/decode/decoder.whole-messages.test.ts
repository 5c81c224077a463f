// Tests whole messages of nodemailer: the index and the decoder find what mailparser finds in them.

import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { OctetRange } from '../../../src/mail-format/message-index.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { BodyDecoder } from '../../../src/message-content/decode/decoder.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

/** Only single spaces are generated: the index folds runs of spaces in names, mailparser keeps them. */
const words = fc
  .stringMatching(/^[A-Za-zéü✓日]([A-Za-zéü✓日., ]{0,80}[A-Za-zéü✓日])?$/)
  .map((text) => text.replace(/ {2,}/g, ' '));
const mail = fc.record({
  subject: words,
  from: fc.record({ name: words, address: fc.constant('a@example.org') }),
  to: fc.array(fc.record({ name: words, address: fc.emailAddress() }), { minLength: 1, maxLength: 4 }),
  text: fc.array(words, { minLength: 1, maxLength: 40 }).map((lines) => lines.join('\n')),
  html: fc.option(
    words.map((text) => `<p>${text}</p>`),
    { nil: undefined },
  ),
  textEncoding: fc.constantFrom('quoted-printable' as const, 'base64' as const),
  references: fc.array(fc.constantFrom('<1@x>', '<2@x>', '<3@x>'), { maxLength: 5 }),
  attachments: fc.array(
    fc.record({
      filename: fc.constantFrom('a.pdf', 'é ü.txt', '日本.bin'),
      content: fc.uint8Array().map((octets) => Buffer.from(octets)),
    }),
    { maxLength: 3 },
  ),
});

test('headers, bodies and attachments are those that mailparser finds', async (t) => {
  // A worker that a busy machine delays is not replaced by our own decoders, which are not compared here.
  const decoder = new BodyDecoder({ startMs: 120_000, shortJobMs: 60_000, jobMs: 60_000 });
  t.teardown(() => decoder.close());
  await fc.assert(
    fc.asyncProperty(mail, async ({ html, ...content }) => {
      const options = html === undefined ? content : { ...content, html };
      const raw: Buffer = await new MailComposer(options as ConstructorParameters<typeof MailComposer>[0])
        .compile()
        .build();
      const other = await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true });
      const index = indexMessage(raw);
      const read = async (ranges: readonly OctetRange[]) =>
        ranges.map(({ start, end }) => Uint8Array.prototype.slice.call(raw, start, end));
      const bodies = await decoder.bodies(index, read, { accountId: 'a' });
      t.is(index.envelope.subject, other.subject ?? '');
      t.is(index.envelope.messageId, other.messageId ?? null);
      t.deepEqual(index.envelope.from[0], { name: content.from.name, address: content.from.address });
      const recipients = [other.to ?? []].flat().flatMap((list) => list.value);
      t.deepEqual(
        index.envelope.to.map(({ name, address }) => ({ name, address })),
        recipients.map(({ name, address }) => ({ name, address: address ?? '' })),
      );
      t.is(index.envelope.sentAt, other.date?.getTime() ?? null);
      t.is(bodies.text.trimEnd(), (other.text ?? '').trimEnd());
      t.is(bodies.html.trimEnd(), (other.html || '').trimEnd());
      t.deepEqual(
        index.attachments.map(({ fileName, contentType, size }) => ({ fileName, contentType, size })),
        other.attachments.map((found) => ({
          fileName: found.filename ?? '',
          contentType: found.contentType,
          size: found.size,
        })),
      );
    }),
    { numRuns: runs(100) },
  );
});
