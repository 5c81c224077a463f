// Tests that the parts of any message have the same octets after it was rewritten: for short lines, and for servers without
// 8BITMIME.

import fc from 'fast-check';
import { decodeTransfer } from '../../../src/mail-format/decode/transfer.js';
import type { IndexedPart } from '../../../src/mail-format/message-index.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { LongLines, longLineEdits } from '../../../src/mail-format/writing/long-lines.js';
import type { PartEdit } from '../../../src/mail-format/writing/part-edits.js';
import { EightBitRegions, sevenBitEdits } from '../../../src/mail-format/writing/seven-bit.js';
import { rewrittenMessage } from '../../../src/message-content/compose/rewritten-message.js';
import test from '../../support/test.js';

const words = fc.constantFrom(
  'grün',
  'plain',
  'x'.repeat(1200),
  ' \t',
  '.dot',
  '=3D',
  'Ж'.repeat(40),
  '',
  'From me',
  '--no',
);
const body = fc.array(words, { maxLength: 6 }).map((lines) => lines.join('\r\n'));
const fields = fc.array(
  fc.constantFrom('Subject: grün\r\n', `X-Long: ${'word '.repeat(300)}end\r\n`, 'To: Zoë <a@b.test>, c@d.test\r\n'),
  { maxLength: 2 },
);
const encoding = fc.constantFrom(
  '',
  ...['7bit', '8bit', 'quoted-printable', 'BASE64'].map((name) => `\r\nContent-Transfer-Encoding: ${name}`),
);
const media = fc.constantFrom('text/plain', 'text/html; charset=utf-8', 'application/json; name="ü.json"');

/** Generates a part with its header; a boundary is named after the level. */
const part = (level: number): fc.Arbitrary<string> => {
  const leaf = fc
    .tuple(fields, media, encoding, body)
    .map(([some, type, coded, text]) => `${some.join('')}Content-Type: ${type}${coded}\r\n\r\n${text}`);
  if (level === 3) return leaf;
  const label = fc.constantFrom('', '\r\nContent-Transfer-Encoding: 8bit');
  const multipart = fc
    .tuple(fields, label, fc.array(part(level + 1), { minLength: 1, maxLength: 3 }))
    .map(
      ([some, coded, parts]) =>
        `${some.join('')}Content-Type: multipart/mixed; boundary=b${level}${coded}\r\n\r\nprä\r\n` +
        `${parts.map((one) => `--b${level}\r\n${one}\r\n`).join('')}--b${level}--`,
    );
  const message = fc
    .tuple(label, part(level + 1))
    .map(([coded, inner]) => `Content-Type: message/rfc822${coded}\r\n\r\n${inner}`);
  return fc.oneof(leaf, multipart, message);
};
const message = part(0).map((text) => Buffer.from(`From: a@b.test\r\n${text}\r\n`));

/** Returns type and decoded octets of each part. An encoding may add a line end to a body. */
function contents({ type, subtype, parts, encoding: coded, bodyStart, bodyEnd }: IndexedPart, of: Buffer): string[] {
  if (parts.length > 0) return parts.flatMap((child) => contents(child, of));
  const octets = decodeTransfer(coded, of.subarray(bodyStart, bodyEnd));
  return [
    `${type}/${subtype} ${Buffer.from(octets)
      .toString('latin1')
      .replace(/(?:\r\n)+$/, '')}`,
  ];
}

async function rewritten(octets: Buffer, edits: readonly PartEdit[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const original = { size: octets.length, chunks: () => [octets.subarray(0, 100), octets.subarray(100)] };
  for await (const piece of rewrittenMessage(original, edits)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const longLinesOf = (octets: Buffer): readonly number[] => {
  const lines = new LongLines();
  lines.push(octets);
  lines.finish();
  return lines.starts;
};

test('without long lines every part holds what it held', async (t) => {
  await fc.assert(
    fc.asyncProperty(message, async (octets) => {
      const index = indexMessage(octets);
      const after = await rewritten(octets, longLineEdits(index, longLinesOf(octets))!);
      t.deepEqual(longLinesOf(after), []);
      t.deepEqual(contents(indexMessage(after).root, after), contents(index.root, octets));
    }),
  );
});

test('in 7 bits every part holds what it held, and the header says the same', async (t) => {
  await fc.assert(
    fc.asyncProperty(message, async (octets) => {
      const before = indexMessage(octets);
      const regions = new EightBitRegions(before);
      for (let at = 0; at < octets.length; at += 97) regions.push(octets.subarray(at, at + 97));
      const edits = sevenBitEdits(before, regions);
      const written = await rewritten(octets, edits as readonly PartEdit[]);
      const after = indexMessage(written);
      t.deepEqual(contents(after.root, written), contents(before.root, octets));
      t.deepEqual([after.envelope.subject, after.envelope.to], [before.envelope.subject, before.envelope.to]);
      const counted = new EightBitRegions(after);
      counted.push(written);
      t.true(counted.regions.every((_, region) => counted.countOf(region) === 0));
      t.notRegex(written.toString('latin1'), /^content-transfer-encoding: 8bit/im);
    }),
  );
});
