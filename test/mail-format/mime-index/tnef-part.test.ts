// Tests messages with winmail.dat: its files are attachments, and its text is the body when there is no other.

import fc from 'fast-check';
import { composeBodies } from '../../../src/mail-format/decode/bodies.js';
import { indexMessage, MimeIndexer } from '../../../src/mail-format/mime-index/indexer.js';
import { attachmentContent, attachmentPart } from '../../../src/mail-format/writing/attachment-content.js';
import { bodyParts } from '../../../src/message-content/decode/body-parts.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { piecesOf } from '../pieces.js';
import { binary, long, string8, unicode, type WrittenTnef, writtenTnef } from '../tnef/written-tnef.js';

const FILES: WrittenTnef = {
  files: [
    {
      title: 'REPORT~1.PDF',
      data: Buffer.from('%PDF-1.7\0\xff', 'latin1'),
      properties: [unicode(0x3707, 'Отчёт 2026.pdf'), string8(0x370e, 'application/pdf')],
    },
    { title: '../notes.txt', data: Buffer.from('words') },
    { data: Buffer.from('x'), properties: [string8(0x370e, 'multipart/mixed'), string8(0x3712, 'logo@x')] },
  ],
};
const RTF = binary(0x1009, Buffer.from('1a0000001c0000004c5a4675e2d44b5141000420' + '5758595a0d6e7d010eb0', 'hex'));

function part(
  tnef: Buffer,
  header = 'Content-Type: application/ms-tnef; name="winmail.dat"',
  encoding = 'base64',
): string {
  const octets = encoding === 'base64' ? tnef.toString('base64').replace(/.{76}/g, '$&\r\n') : tnef.toString('latin1');
  return `${header}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${octets}\r\n`;
}

const message = (...parts: string[]) =>
  Buffer.from(
    `Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts.map((one) => `--b\r\n${one}`).join('')}--b--\r\n`,
    'latin1',
  );
const text = (words: string) => `Content-Type: text/plain\r\n\r\n${words}\r\n`;

async function contents(raw: Buffer): Promise<readonly (readonly [string, string, string])[]> {
  const index = indexMessage(raw);
  return Promise.all(
    index.attachments.map(async (entry) => {
      const pieces: Uint8Array[] = [];
      const octets = async function* (start: number, end: number) {
        for (let at = start; at < end; at += 50) yield raw.subarray(at, Math.min(end, at + 50));
      };
      for await (const piece of attachmentContent(entry, attachmentPart(index, entry)!, octets)) pieces.push(piece);
      const content = Buffer.concat(pieces);
      if (content.length !== entry.size)
        throw new Error(`${entry.section} has ${content.length} octets, not ${entry.size}`);
      return [entry.section, entry.fileName, content.toString('latin1')] as const;
    }),
  );
}

function bodies(raw: Buffer): readonly [string, string, string] {
  const index = indexMessage(raw);
  const parts = bodyParts(index).map((source) => ({
    ...source,
    inText: index.textSections.includes(source.section),
    inHtml: index.htmlSections.includes(source.section),
    bytes: raw.subarray(source.bodyStart, source.bodyEnd),
  }));
  const { text: plain, html } = composeBodies(parts, 10_000);
  return [plain.trim(), html.trim(), index.preview];
}

test('files of a TNEF are attachments in its place, however it is sent', async (t) => {
  const tnef = writtenTnef(FILES);
  const expected = [
    ['2/1', 'Отчёт 2026.pdf', '%PDF-1.7\0\xff'],
    ['2/2', '.._notes.txt', 'words'],
    ['2/3', 'attachment-2.3.bin', 'x'],
    ['3', 'last.bin', 'y'],
  ] as const;
  const last = 'Content-Type: application/octet-stream; name=last.bin\r\n\r\ny\r\n';
  for (const packed of [
    part(tnef),
    part(tnef, 'Content-Type: application/vnd.ms-tnef'),
    part(tnef, 'Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="WINMAIL.DAT"'),
    part(tnef, undefined, '8bit'),
  ]) {
    t.deepEqual(await contents(message(text('body'), packed, last)), expected);
  }
  const { attachments, textSections, preview } = indexMessage(message(text('body'), part(tnef)));
  t.deepEqual(
    attachments.map(({ contentType, contentId, inline }) => [contentType, contentId, inline]),
    [
      ['application/pdf', null, false],
      ['text/plain', null, false],
      ['application/octet-stream', 'logo@x', true],
    ],
  );
  t.deepEqual([textSections, preview], [['1'], 'body']);
});

test('its text is the body when there is none', (t) => {
  const html = binary(0x1013, Buffer.from('<p>Gr\xfc\xdfe', 'latin1'));
  const whole = (written: WrittenTnef) => Buffer.from(part(writtenTnef(written)), 'latin1');
  t.deepEqual(bodies(whole({ body: 'plain words' })), ['plain words', '', 'plain words']);
  t.deepEqual(bodies(whole({ codepage: 1251, body: '\xcf\xf0\xe8' })), ['При', '', 'При']);
  t.deepEqual(bodies(whole({ properties: [unicode(0x1000, 'Zoë 💌')] })), ['Zoë 💌', '', 'Zoë 💌']);
  t.deepEqual(bodies(whole({ properties: [html, RTF, long(0x3fde, 28591)] })), ['', '<p>Grüße', 'Grüße']);
  t.deepEqual(bodies(whole({ body: 'plain', properties: [html, RTF] })), ['plain', '<p>Grüße', 'plain']);
  t.deepEqual(bodies(whole({ ...FILES, properties: [RTF] })), ['WXYZWXYZWXYZWXYZWXYZ', '', 'WXYZWXYZWXYZWXYZWXYZ']);
  // The first message has an empty text as well, the next one a text with words.
  t.deepEqual(bodies(message(text(''), part(writtenTnef({ body: 'plain words' })))), [
    'plain words',
    '',
    'plain words',
  ]);
  t.deepEqual(bodies(message(text('own words'), part(writtenTnef({ body: 'plain words' })))), [
    'own words',
    '',
    'own words',
  ]);
});

test('what cannot be opened, or has nothing that is shown otherwise, stays a file', async (t) => {
  const cut = writtenTnef({ ...FILES, body: 'x' }).subarray(0, 60);
  for (const tnef of [Buffer.from('no TNEF'), cut, writtenTnef({ body: 'other words' }), writtenTnef({})]) {
    const found = await contents(message(text('body'), part(tnef)));
    t.deepEqual(found, [['2', 'winmail.dat', tnef.toString('latin1')]]);
  }
  t.deepEqual(await contents(message(part(writtenTnef({ body: 'words' })))), []);
});

test('the index is the same in any pieces, and bounded', (t) => {
  const many = {
    body: 'x',
    files: Array.from({ length: 3_000 }, (_, i) => ({ title: `${i}`, data: Buffer.from('y') })),
  };
  const raw = message(text('body'), part(writtenTnef(FILES)), part(writtenTnef(many)));
  const whole = indexMessage(raw);
  t.is(whole.attachments.length, 1_000);
  const packed = part(writtenTnef({ files: [{ title: 'a', data: Buffer.from('y') }] }));
  const names = indexMessage(message(text('body'), ...Array.from({ length: 20 }, () => packed))).attachments.map(
    ({ fileName }) => fileName,
  );
  t.deepEqual([names.length, names.filter((name) => name === 'winmail.dat').length], [20, 12]);
  t.false(JSON.stringify(whole).includes('\\u0000'));
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
      const indexer = new MimeIndexer();
      for (const piece of piecesOf(raw, cuts)) {
        indexer.push(piece);
        piece.fill(0x2d);
      }
      t.deepEqual(indexer.finish(), whole);
    }),
    { numRuns: runs(50) },
  );
});
