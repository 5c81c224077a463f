// Subjects, names, file names and previews in the charsets of real mail.
import test from 'ava';
import iconv from 'iconv-lite';
import { indexMessage } from '../../../src/mail/mime-index/indexer.js';

const JAPANESE = Buffer.from('\x1b$BF|K\\\x1b(B');

for (const [charset, octets, text] of [
  ['iso-2022-jp', JAPANESE, '日本'],
  ['windows-1252', Buffer.from([0x80, 0x93, 0xe9]), '€“é'],
  ['koi8-r', iconv.encode('Привет', 'koi8-r'), 'Привет'],
  ['GB18030', iconv.encode('你好', 'gb18030'), '你好'],
  ['utf-8', Buffer.from('Grüße'), 'Grüße'],
] as const) {
  test(`subject and preview in ${charset}`, (t) => {
    const base64 = octets.toString('base64');
    const raw = Buffer.concat([
      Buffer.from(`Subject: =?${charset}?B?${base64}?=\r\nFrom: =?${charset}?B?${base64}?= <a@b>\r\n`),
      Buffer.from(`Content-Type: text/plain; charset="${charset}"\r\n\r\n`),
      octets,
    ]);
    const index = indexMessage(raw);
    t.is(index.envelope.subject, text);
    t.deepEqual(index.envelope.from, [{ name: text, address: 'a@b' }]);
    t.is(index.preview, text);
  });
}

test('a character split across encoded words', (t) => {
  const octets = Buffer.from('ab✓cd');
  for (const encoding of ['B', 'Q']) {
    const words = [octets.subarray(0, 3), octets.subarray(3)].map((part) =>
      encoding === 'B'
        ? part.toString('base64')
        : [...part].map((octet) => `=${octet.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
    );
    const raw = `Subject: x =?utf-8?${encoding}?${words[0]}?=\r\n =?UTF-8?${encoding}?${words[1]}?= y\r\n\r\n`;
    t.is(indexMessage(Buffer.from(raw)).envelope.subject, 'x ab✓cd y');
  }
});

test('raw 8-bit header octets', (t) => {
  t.is(indexMessage(Buffer.from('Subject: Grüße\r\n\r\n')).envelope.subject, 'Grüße');
  t.is(indexMessage(Buffer.from('Subject: Gr\xfc\xdfe\r\n\r\n', 'latin1')).envelope.subject, 'Grüße');
});

test('file names: RFC 2231, encoded words, raw', (t) => {
  const fileName = (field: string) =>
    indexMessage(Buffer.from(`Content-Type: application/pdf\r\nContent-Disposition: attachment; ${field}\r\n\r\n`))
      .attachments[0]!.fileName;
  t.is(fileName("filename*=utf-8''r%C3%A9sum%C3%A9.pdf"), 'résumé.pdf');
  t.is(fileName("filename*=iso-8859-1'en'r%E9sum%E9.pdf"), 'résumé.pdf');
  t.is(fileName('filename*0*=utf-8\'\'a%C3; filename*1*=%A9; filename*2=".pdf"'), 'aé.pdf');
  t.is(fileName('filename="=?utf-8?B?csOpc3Vtw6kucGRm?="'), 'résumé.pdf');
  t.is(fileName('filename="résumé.pdf"'), 'résumé.pdf');
  t.is(fileName('filename="../../etc/passwd"'), '.._.._etc_passwd');
  t.is(fileName('filename=".."'), 'attachment-1.pdf');
  t.is(fileName(`filename="${'x'.repeat(500)}.pdf"`), `${'x'.repeat(196)}.pdf`);
});

test('a multi-byte character cut by the end of the sample leaves no trace', (t) => {
  // 4,096 octets are kept: the last é is cut in two.
  const text = `a${' '.repeat(3996)}${'é'.repeat(300)}`;
  for (const charset of ['; charset=utf-8', '']) {
    const raw = Buffer.from(`Content-Type: text/plain${charset}\r\n\r\n${text}`);
    t.is(indexMessage(raw).preview, 'a ééé');
  }
});
