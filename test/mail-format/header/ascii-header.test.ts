// Tests raw 8-bit headers that are rewritten in 7 bits: readers show the same.

import { asciiHeader } from '../../../src/mail-format/header/ascii-header.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import test from '../../support/test.js';

const ascii = (header: string | Buffer, charset?: string) =>
  asciiHeader(Buffer.from(header as string), charset)?.toString('latin1');

test('texts, names and parameters stay what they are for readers', (t) => {
  const long = 'ąęćłńóśźż '.repeat(30).trim();
  const header = [
    `Subject: plain grün und blau, ${long}`,
    'From: Zoë Müller <zoe@example.test>',
    'To: "Größe, \\"A\\"" <a@example.test>, Łódź\r\n Miasto<b@example.test>, c@example.test (Jürgen)',
    'Content-Type: text/plain; charset=utf-8; name="Übung 1.txt"',
    'Content-Disposition: attachment; filename=Größe.txt; size=3',
    'Content-Description: Größe',
    'Message-ID: <1@example.test>',
    '\r\n',
  ].join('\r\n');
  const text = ascii(header)!;
  t.regex(text, /^[\r\n\t -~]*$/);
  for (const line of text.split('\r\n')) t.true(line.length <= 120, line);
  const before = indexMessage(Buffer.from(header));
  const after = indexMessage(Buffer.from(text, 'latin1'));
  const shown = ({ envelope, root: { params, dispositionParams, description } }: typeof before) => ({
    ...envelope,
    params,
    dispositionParams,
    description,
  });
  t.deepEqual(shown(after), shown(before));
  t.is(after.envelope.to[1]!.name, 'Łódź Miasto');
});

test('octets that are no UTF-8 are labelled with the charset of the part, or with none', (t) => {
  const header = Buffer.from('Subject: gr\xfcn\r\n', 'latin1');
  t.is(ascii(header, 'ISO-8859-1'), 'Subject: =?iso-8859-1?B?Z3L8bg==?=\r\n');
  t.is(ascii(header), 'Subject: =?unknown-8bit?B?Z3L8bg==?=\r\n');
  t.is(ascii(header, 'utf-8'), 'Subject: =?unknown-8bit?B?Z3L8bg==?=\r\n');
});

test('addresses and boundaries cannot be written otherwise; ids lose what is illegal', (t) => {
  t.is(ascii('To: Zoë <grün@example.test>\r\n'), undefined);
  t.is(ascii('To: grün@example.test\r\n'), undefined);
  t.is(ascii('Content-Type: multipart/mixed; boundary="ü"\r\n'), undefined);
  t.is(ascii('References: <ü@x.test>\r\n'), 'References: <??@x.test>\r\n');
});
