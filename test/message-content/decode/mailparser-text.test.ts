// Compares parts as mail programs write them, read by mailparser and by our own decoders: both return the same text, and
// mailparser does not get input that would be slow.

import fc from 'fast-check';
import iconv from 'iconv-lite';
import libqp from 'libqp';
import { type TextPart, textOf } from '../../../src/mail-format/decode/part-text.js';
import { mailparserText } from '../../../src/message-content/decode/mailparser-text.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const lines = (...text: string[]) => text.join('\r\n');
const folded = (octets: Buffer) => octets.toString('base64').replace(/.{76}/g, '$&\r\n');

function part(header: string): TextPart {
  const [type = '', encoding = '7bit'] = header.split(' | ');
  const [media = '', ...params] = type.split('; ');
  const entries = params.map((param) => param.split('=') as [string, string]);
  return { subtype: media.split('/')[1]!, encoding, params: Object.fromEntries(entries) };
}

const LEAVES: readonly (readonly [name: string, header: string, octets: Buffer | string, text: string])[] = [
  [
    'Outlook: HTML in quoted-printable, windows-1252, soft line breaks',
    'text/html; charset=Windows-1252 | quoted-printable',
    lines(
      '<html xmlns:o=3D"urn:schemas-microsoft-com:office:office"><head>',
      '<meta http-equiv=3D"Content-Type" content=3D"text/html; charset=3Dwindows-1=',
      '252"></head><body><p class=3DMsoNormal>Sch=F6n =96 das kostet 5=A0=80<o:p></o:p></p>',
      '</body></html>',
    ),
    '<html xmlns:o="urn:schemas-microsoft-com:office:office"><head>\n<meta http-equiv="Content-Type" content="text/html; ' +
      'charset=windows-1252"></head><body><p class=MsoNormal>Schön – das kostet 5\u00a0€<o:p></o:p></p>\n</body></html>',
  ],
  [
    'Outlook: plain text in base64',
    'text/plain; charset=utf-8 | base64',
    folded(Buffer.from('Grüße aus Köln,\r\n\r\nZoë 💌\r\n'.repeat(9))),
    'Grüße aus Köln,\n\nZoë 💌\n'.repeat(9),
  ],
  [
    'Gmail: quoted-printable, an emoji across a soft line break',
    'text/plain; charset=UTF-8 | quoted-printable',
    lines('Zo=C3=AB =F0=9F=', '=92=8C', '', 'On Sat, Ann wrote:', '> 1 =3D 1 =20', ''),
    'Zoë 💌\n\nOn Sat, Ann wrote:\n> 1 = 1  \n',
  ],
  [
    'Apple Mail: flowed text with quotations and a signature',
    'text/plain; charset=us-ascii; format=flowed; delsp=yes',
    lines(
      'This is one para ',
      'graph of flowed text, ',
      '  with two lines.',
      '',
      '> quot ',
      '> ed',
      '>> text ',
      '>no more',
      '',
      '-- ',
      'Ann',
      '',
    ),
    'This is one paragraph of flowed text, with two lines.\n\n> quoted\n>> text \n> no more\n\n-- \nAnn\n',
  ],
  [
    'Thunderbird: flowed text without DelSp',
    'text/plain; charset=UTF-8; format=flowed | 8bit',
    lines('Grüße, ', 'und noch', 'eine Zeile', ' -- kein Ende'),
    'Grüße, und noch\neine Zeile\n-- kein Ende',
  ],
  [
    'Japanese: ISO-2022-JP',
    'text/plain; charset=ISO-2022-JP',
    lines('\x1b$B$3$s$K$A$O\x1b(B, \x1b$B@$3&\x1b(B!', '\x1b$B-!-j\x1b(B 1', ''),
    'こんにちは, 世界!\n①㈱ 1\n',
  ],
  ['Japanese: half-width katakana', 'text/plain; charset=iso-2022-jp', '\x1b(I123\x1b(B', 'ｱｲｳ'],
  ['Japanese: JIS X 0212', 'text/plain; charset=ISO-2022-JP-1', '\x1b$(D0!\x1b(B \x1b$BF|K\\\x1b(B', '丂 日本'],
  ['Japanese: a line that does not end in ASCII', 'text/plain; charset=iso-2022-jp', '\x1b$BF|K\\\nabc', '日本\nabc'],
  [
    'Japanese: ISO-2022-JP in base64, flowed',
    'text/plain; charset=iso-2022-jp; format=flowed; delsp=yes | base64',
    folded(latin1('\x1b$BF|\x1b(B \r\n\x1b$BK\\\x1b(B\r\n')),
    '日本\n',
  ],
  ['Japanese: Shift_JIS', 'text/plain; charset=Shift_JIS | 8bit', iconv.encode('日本①', 'cp932'), '日本①'],
  ['Chinese: GB 18030', 'text/plain; charset=gb18030 | base64', folded(iconv.encode('你好𠀀', 'gb18030')), '你好𠀀'],
  ['Chinese: gb2312 that is GBK', 'text/plain; charset=gb2312 | 8bit', iconv.encode('鎔', 'gbk'), '鎔'],
  ['Korean: ks_c_5601-1987', 'text/plain; charset=ks_c_5601-1987 | 8bit', iconv.encode('안녕 똠', 'cp949'), '안녕 똠'],
  ['Russian: KOI8-R', 'text/plain; charset=koi8-r | quoted-printable', '=F0=D2=C9=D7=C5=D4', 'Привет'],
  ['a charset that mailparser lacks', 'text/plain; charset=x-mac-cyrillic | 8bit', latin1('\x8f'), 'П'],
  ['UTF-7', 'text/plain; charset=utf-7', 'Hi +2D3cjA-', 'Hi 💌'],
  [
    'UTF-16, flowed',
    'text/plain; charset=utf-16le; format=flowed | base64',
    Buffer.from('a \r\nb', 'utf16le').toString('base64'),
    'a b',
  ],
  ['windows-1252 labelled latin1', 'text/plain; charset=iso-8859-1 | quoted-printable', '=93Caf=E9=94 =80', '“Café” €'],
  ['windows-1252 labelled us-ascii', 'text/plain; charset=us-ascii | 8bit', latin1('Caf\xe9 \x80'), 'Café €'],
  ['windows-1252 without a label', 'text/plain | quoted-printable', 'Caf=E9=\r\n !', 'Café !'],
  ['UTF-8 without a label', 'text/plain | 8bit', 'Zoë 💌\r\n', 'Zoë 💌\n'],
  ['UTF-8 in an unknown charset', 'text/plain; charset=klingon | base64', folded(Buffer.from('Zoë 💌')), 'Zoë 💌'],
  [
    'HTML that names its charset inside',
    'text/html | 8bit',
    latin1('<meta charset=windows-1251>\xcf'),
    '<meta charset=windows-1251>П',
  ],
  [
    'a byte order mark, NUL and a half of a pair',
    'text/plain; charset=utf-8 | base64',
    'ef bb bf 61 00 62 ed a0 80'.replace(/(.*)/, (hex) =>
      Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('base64'),
    ),
    'ab\ufffd\ufffd\ufffd',
  ],
  [
    'broken base64: strange octets, no padding',
    'text/plain; charset=utf-8 | base64',
    'aGVs*bG8g\r\n d29ybGQ',
    'hello world',
  ],
  ['base64 ends at its padding', 'text/plain; charset=utf-8 | base64', 'aGVsbG8=\r\nIHdvcmxk', 'hello'],
  ['broken quoted-printable', 'text/plain; charset=utf-8 | quoted-printable', '100=% =ZZ =c3=a9 a=', '100=% =ZZ é a'],
  ['mixed line ends', 'text/plain; charset=utf-8 | quoted-printable', 'a\nb\r\nc=\nd=\r\ne  \nf', 'a\nb\ncde\nf'],
  ['an unknown encoding', 'text/plain; charset=utf-8 | x-zip', 'as it is', 'as it is'],
  [
    'lines that look like a header and a delimiter',
    'text/plain; charset=utf-8',
    lines('', 'Subject: x', '', '--b', '--b--'),
    '\nSubject: x\n\n--b\n--b--',
  ],
  ['nothing', 'text/plain; charset=utf-8', '', ''],
];

for (const [name, header, octets, text] of LEAVES) {
  test(name, async (t) => {
    const bytes = Buffer.from(octets);
    t.is(await mailparserText(part(header), bytes), text);
    t.is(textOf(part(header), bytes), text);
  });
}

test('any text in any encoding: mailparser reads what our own decoders read, and what was written', async (t) => {
  const unit = fc.constantFrom(
    'a',
    'é',
    '€',
    'П',
    '日',
    '💌',
    ' ',
    '=',
    '.',
    '-- ',
    '> ',
    '\r\n',
    ' \r\n',
    '\t',
    '<b>',
    '&',
  );
  const text = fc.array(unit, { maxLength: 300 }).map((units) => units.join('').trimEnd());
  const whole = ['utf-8', 'gb18030', 'utf-16le', 'utf-32le', 'utf-7', undefined];
  const charsets = [...whole, 'shift_jis', 'euc-jp', 'big5', 'windows-1252', 'koi8-r'];
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.constantFrom(...charsets),
      fc.constantFrom('base64', 'quoted-printable', '8bit'),
      fc.constantFrom('plain', 'html'),
      fc.constantFrom({}, { format: 'flowed' }, { format: 'flowed', delsp: 'yes' }),
      async (written, charset, encoding, subtype, format) => {
        const octets = charset === undefined ? Buffer.from(written) : iconv.encode(written, charset);
        const bytes = Buffer.from(
          encoding === 'base64'
            ? folded(octets)
            : encoding === 'quoted-printable'
              ? libqp.wrap(libqp.encode(octets))
              : octets,
        );
        const params = { ...format, ...(charset !== undefined && { charset }) };
        const leaf = { subtype, encoding, params };
        const read = await mailparserText(leaf, bytes);
        const isFlowed = subtype === 'plain' && 'format' in format;
        const ours = textOf(leaf, bytes);
        t.is(read, ours);
        if (!isFlowed && whole.includes(charset)) t.is(ours, written.replaceAll('\r\n', '\n'));
      },
    ),
    { numRuns: runs(500) },
  );
});

test('a long text: no character is lost between the pieces that mailparser reads', async (t) => {
  const written = 'Zoë 💌 日本 𠀀\r\n'.repeat(12_000);
  for (const charset of ['utf-8', 'gb18030', 'utf-16le', 'utf-7', 'shift_jis', 'iso-8859-1'])
    for (const encoding of ['base64', 'quoted-printable', '8bit']) {
      const octets = iconv.encode(written, charset);
      const encoded = {
        base64: () => folded(octets),
        'quoted-printable': () => libqp.encode(octets),
        '8bit': () => octets,
      };
      const bytes = Buffer.from(encoded[encoding as keyof typeof encoded]());
      const leaf = { subtype: 'plain', encoding, params: { charset } };
      const read = await mailparserText(leaf, bytes);
      t.true(read === textOf(leaf, bytes), `${charset} ${encoding}`);
    }
});

test('any octets: mailparser never fails, and reads nothing that the store refuses', async (t) => {
  const piece = fc.oneof(
    fc.constantFrom(
      '=',
      '=\r\n',
      '=C3',
      '\x1b$B',
      '\x1b(B',
      '+AAA-',
      '\0',
      '\r',
      '\n',
      ' ',
      'aGVs',
      '==',
      '<meta charset="utf-16">',
    ),
    fc.uint8Array({ maxLength: 8 }).map((octets) => Buffer.from(octets).toString('latin1')),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece).map((pieces) => latin1(pieces.join(''))),
      fc.constantFrom('utf-8', 'utf-16', 'utf-7', 'iso-2022-jp', 'big5', 'x"; format=flowed', 'binary', 'hex', ''),
      fc.constantFrom('base64', 'quoted-printable', '8bit'),
      fc.constantFrom('plain', 'html'),
      async (bytes, charset, encoding, subtype) => {
        const text = await mailparserText({ subtype, encoding, params: { charset } }, bytes);
        t.notRegex(text!, /\0|\p{Cs}/u);
      },
    ),
    { numRuns: runs(1000) },
  );
});

test('what mailparser would be slow with is left to our own decoders', async (t) => {
  const quoted = part('text/plain; charset=utf-8 | quoted-printable');
  const read = async (leaf: TextPart, text: string) => mailparserText(leaf, Buffer.from(text));
  for (const start of [0, 1, 75, 76, 77, 1000]) {
    const before = 'x'.repeat(start);
    t.is(await read(quoted, `${before}${' \t'.repeat(38)}y`), `${before}${' \t'.repeat(38)}y`);
    t.is(await read(quoted, `${before}${' '.repeat(77)}y`), undefined);
    t.is(await read(quoted, `${before}${' '.repeat(77)}`), undefined);
  }
  t.is(textOf(quoted, Buffer.from(`${' '.repeat(64_000)}x`)), `${' '.repeat(64_000)}x`);
  const plain = part('text/plain; charset=utf-8');
  t.is(await read(plain, `${' '.repeat(64_000)}x`), `${' '.repeat(64_000)}x`);
  t.is((await read(plain, 'a'.repeat(1024 * 1024)))?.length, 1024 * 1024);
  t.is(await read(plain, 'a'.repeat(1024 * 1024 + 1)), undefined);
});
