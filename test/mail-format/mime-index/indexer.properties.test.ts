// Tests properties of the index: the parts of a generated MIME tree lie at the offsets of the index, however the octets are cut,
// and arbitrary octets are indexed without an exception.

import fc from 'fast-check';
import MailComposer from 'nodemailer/lib/mail-composer';
import { decodeTransfer } from '../../../src/mail-format/decode/transfer.js';
import type { IndexedPart, MessageIndex } from '../../../src/mail-format/message-index.js';
import { indexMessage, MimeIndexer } from '../../../src/mail-format/mime-index/indexer.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { mimeTree, writtenTree } from '../mime-tree.js';
import { piecesOf } from '../pieces.js';

function leavesOf(part: IndexedPart): IndexedPart[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leavesOf);
}

function indexInPieces(raw: Buffer, cuts: readonly number[]): MessageIndex {
  const indexer = new MimeIndexer();
  for (const piece of piecesOf(raw, cuts)) {
    indexer.push(piece);
    // The caller may use its buffer again.
    piece.fill(0x2d);
  }
  return indexer.finish();
}

/** Checks that offsets are nested and ordered. */
function nested(part: IndexedPart, start: number, end: number): boolean {
  if (part.headerStart < start || part.bodyStart < part.headerStart) return false;
  if (part.bodyEnd < part.bodyStart || part.bodyEnd > end) return false;
  let from = part.bodyStart;
  for (const child of part.parts) {
    if (!nested(child, from, part.bodyEnd)) return false;
    from = child.bodyEnd;
  }
  return true;
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });

test('every part lies where the index says, in CRLF and LF, in any pieces', (t) => {
  fc.assert(
    fc.property(mimeTree, fc.constantFrom('\n', '\r\n'), cuts, (root, lineEnd, at) => {
      const bodies: string[] = [];
      const raw = Buffer.from(writtenTree(root, bodies).replaceAll('\n', lineEnd));
      const index = indexMessage(raw);
      const found = leavesOf(index.root).map((part) => raw.toString('utf8', part.bodyStart, part.bodyEnd));
      t.deepEqual(
        found,
        bodies.map((body) => body.replaceAll('\n', lineEnd)),
      );
      for (const part of leavesOf(index.root)) {
        t.is(part.lines, raw.toString('latin1', part.bodyStart, part.bodyEnd).split('\n').length - 1);
      }
      t.true(nested(index.root, 0, raw.length));
      t.deepEqual(indexInPieces(raw, at), index);
      checkSizes(raw, index);
    }),
    { numRuns: runs(400) },
  );
});

function checkSizes(raw: Buffer, index: MessageIndex): void {
  const parts = new Map(allParts(index.root).map((part) => [part.section, part]));
  for (const attachment of index.attachments) {
    const part = parts.get(attachment.section)!;
    const size = decodeTransfer(part.encoding, raw.subarray(part.bodyStart, part.bodyEnd)).length;
    if (size !== attachment.size) throw new Error(`${attachment.section} has ${size} octets, not ${attachment.size}`);
  }
}

function allParts(part: IndexedPart): IndexedPart[] {
  return [part, ...part.parts.flatMap(allParts)];
}

test('arbitrary bytes', (t) => {
  const shard = fc.constantFrom(
    'Content-Type: multipart/mixed; boundary=b\n',
    'Content-Type: message/rfc822\n',
    'Content-Transfer-Encoding: base64\n',
    'Content-Type: text/html; charset=utf-7\n',
    'Subject: =?utf-16le?B?ANg=?= =?x?Q?=00?=\n',
    'To: a:b<c>(d',
    '--b\n',
    '--b--\n',
    '\n',
    '\r\n',
    '\r',
    ' ',
    '-',
    'aGVs=',
  );
  const bytes = fc
    .array(
      fc.oneof(
        shard,
        fc.uint8Array({ maxLength: 8 }).map((octets) => Buffer.from(octets).toString('latin1')),
      ),
    )
    .map((parts) => Buffer.from(parts.join(''), 'latin1'));
  fc.assert(
    fc.property(bytes, cuts, (raw, at) => {
      const index = indexMessage(raw);
      t.true(nested(index.root, 0, raw.length));
      t.is(index.size, raw.length);
      t.deepEqual(indexInPieces(raw, at), index);
      t.notRegex(JSON.stringify(index), /\\u0000|\\ud[89a-f]/i);
      checkSizes(raw, index);
    }),
    { numRuns: runs(3000) },
  );
});

test('messages of nodemailer', async (t) => {
  const attachment = fc.record({
    filename: fc.stringMatching(/^[a-zéü✓ ]{1,40}x\.bin$/).map((name) => name.trim()),
    content: fc.uint8Array({ maxLength: 400 }).map((octets) => Buffer.from(octets)),
    contentTransferEncoding: fc.constantFrom('base64' as const, undefined),
  });
  const mail = fc.record({
    subject: fc.stringMatching(/^[A-Za-zéü✓日]([A-Za-zéü✓日 ]{0,60}[A-Za-zéü✓日])?$/),
    text: fc.stringMatching(/^[A-Za-zé✓ .]{1,200}$/),
    attachments: fc.array(attachment, { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(mail, cuts, async (content, at) => {
      const raw = await new MailComposer({
        from: { name: 'Ünal "A" Lee', address: 'a@example.org' },
        to: ['b@example.org', 'Bob <bob@example.org>'],
        html: '<p>hello</p>',
        ...content,
      } as ConstructorParameters<typeof MailComposer>[0])
        .compile()
        .build();
      const index = indexMessage(raw);
      t.is(index.envelope.subject, content.subject);
      t.deepEqual(index.envelope.from, [{ name: 'Ünal "A" Lee', address: 'a@example.org' }]);
      t.is(index.envelope.to.length, 2);
      t.is(index.preview, content.text.replace(/ +/g, ' ').trim().slice(0, 200).trim() || 'hello');
      t.is(index.htmlSections.length, 1);
      const parts = new Map(allParts(index.root).map((part) => [part.section, part]));
      t.deepEqual(
        index.attachments.map((found) => {
          const part = parts.get(found.section)!;
          return Buffer.from(decodeTransfer(part.encoding, raw.subarray(part.bodyStart, part.bodyEnd)));
        }),
        content.attachments.map((given) => given.content),
      );
      t.deepEqual(
        index.attachments.map((found) => found.size),
        content.attachments.map((given) => given.content.length),
      );
      t.deepEqual(indexInPieces(raw, at), index);
    }),
    { numRuns: runs(150) },
  );
});
