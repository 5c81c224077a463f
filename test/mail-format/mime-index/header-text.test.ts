// Tests subjects, names, file names and previews in the charsets of real mail.

import iconv from 'iconv-lite';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import test from '../../support/test.js';
import { caseIndex } from '../cases.js';

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
  // 4,096 octets are kept, which cuts the last é in two.
  const text = `a${' '.repeat(3996)}${'é'.repeat(300)}`;
  for (const charset of ['; charset=utf-8', '']) {
    const raw = Buffer.from(`Content-Type: text/plain${charset}\r\n\r\n${text}`);
    t.is(indexMessage(raw).preview, 'a ééé');
  }
});

const latin1 = (text: string) => indexMessage(Buffer.from(text, 'latin1'));

test('raw octets within an encoded word are octets of its charset', (t) => {
  t.is(caseIndex('raw-octet-in-encoded-word').envelope.subject, 'Fröhliche Grüße');
  const subject = (written: string | Buffer) =>
    indexMessage(
      Buffer.concat([Buffer.from('Subject: '), Buffer.from(written as string, 'latin1'), Buffer.from('\r\n\r\n')]),
    ).envelope.subject;
  t.is(subject(`=?koi8-r?q?${iconv.encode('Привет', 'koi8-r').toString('latin1')}_=CD=C9=D2?=`), 'Привет мир');
  t.is(subject(Buffer.from('=?utf-8?Q?Grüße_?= =?utf-8?Q?=C3=A4?=')), 'Grüße ä');
  t.is(subject(Buffer.from('Zoë =?iso-8859-1?Q?Gr=FC=DFe?=')), 'Zoë Grüße');
  t.is(subject('=?utf-8?B?w\xa06k=?= x'), 'é x');
});

test('raw octets that are no UTF-8 are in the charset that the body declares', (t) => {
  const { subject, from } = caseIndex('raw-subject-in-body-charset').envelope;
  t.is(subject, 'Привет из зоопарка');
  t.deepEqual(from, [{ name: 'Анна', address: 'ann@remote.test' }]);
  const texts = [
    ['koi8-r', 'Привет из зоопарка'],
    ['windows-1251', 'Привет из зоопарка'],
    ['gb2312', '动物园的问候'],
    ['big5', '動物園的問候'],
    ['euc-kr', '동물원에서 인사드립니다'],
    ['shift_jis', '動物園からこんにちは'],
    ['iso-8859-7', 'Χαιρετισμούς'],
    ['iso-8859-2', 'Příliš žluťoučký kůň'],
  ] as const;
  for (const [charset, text] of texts) {
    const raw = iconv.encode(text, charset).toString('latin1');
    const type = `Content-Type: text/plain; charset=${charset}\r\n`;
    t.is(latin1(`Subject: ${raw}\r\n${type}\r\nx`).envelope.subject, text);
    // A multipart declares no charset, so that of the first text counts.
    const file = `--b\r\nContent-Type: application/pdf; name="${raw}.pdf"\r\n\r\n%PDF\r\n`;
    const parts = `--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n${type}\r\nx\r\n--c--\r\n${file}--b--`;
    const index = latin1(
      `Subject: ${raw}\r\nFrom: ${raw} <a@b.test>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts}`,
    );
    t.is(index.envelope.subject, text);
    t.is(index.envelope.from[0]?.name, text);
    t.is(index.attachments[0]?.fileName, `${text}.pdf`);
    const forward = `Content-Type: message/rfc822\r\n\r\nSubject: ${raw}\r\n${type}\r\nx`;
    t.is(latin1(forward).attachments[0]?.fileName, `${text}.eml`);
  }
});

test('raw octets of a message that declares nothing, or UTF-8, are UTF-8 or windows-1252', (t) => {
  for (const type of [
    '',
    'Content-Type: text/plain; charset=utf-8\r\n',
    'Content-Type: text/plain; charset=none-such\r\n',
  ]) {
    t.is(latin1(`Subject: Gr\xfc\xdfe\r\n${type}\r\nx`).envelope.subject, 'Grüße');
    t.is(indexMessage(Buffer.from(`Subject: Grüße\r\n${type}\r\nx`)).envelope.subject, 'Grüße');
  }
  // UTF-8 is recognised, whatever charset the body declares.
  const other = 'Content-Type: text/plain; charset=koi8-r\r\n';
  t.is(indexMessage(Buffer.from(`Subject: Привет\r\n${other}\r\nx`)).envelope.subject, 'Привет');
});

test('of a text in UTF-8 that is cut within a letter only that letter is lost', (t) => {
  t.regex(caseIndex('name-cut-in-a-letter').attachments[0]!.fileName, /^Картинка длинна\ufffd?$/);
  const octets = Buffer.from('Картинка длинная.jpg');
  for (let end = 4; end < octets.length; end++) {
    const cut = octets.subarray(0, end);
    const letters = 'Картинка длинная.jpg'.slice(0, cut.toString().replace(/\ufffd$/, '').length);
    const percent = [...cut].map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('');
    const quoted = percent.replaceAll('%', '=');
    for (const parameter of [
      `filename="${cut.toString('latin1')}"`,
      `filename*=utf-8''${percent}`,
      `filename*0*=utf-8''${percent.slice(0, 9)}; filename*1*=${percent.slice(9)}`,
      `filename="=?utf-8?Q?${quoted}?="`,
      `filename="=?utf-8?B?${cut.toString('base64')}?="`,
    ]) {
      const header = `Content-Type: image/jpeg\r\nContent-Disposition: attachment; ${parameter}\r\n\r\nx`;
      const { fileName } = latin1(header).attachments[0]!;
      t.is(fileName.replace(/\ufffd$/, '').trim(), letters.trim(), parameter);
    }
    t.is(
      latin1(`Subject: ${cut.toString('latin1')}\r\n\r\n`)
        .envelope.subject.replace(/\ufffd$/, '')
        .trim(),
      letters.trim(),
    );
  }
});
