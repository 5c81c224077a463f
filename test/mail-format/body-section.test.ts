// Tests sections of messages: the exact octets of every part, header and text, and nothing for one that does not exist.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import {
  embeddedMessage,
  FieldNames,
  headerFields,
  partOfRange,
  type SectionName,
  sectionRange,
} from '../../src/mail-format/body-section.js';
import type { IndexedPart } from '../../src/mail-format/message-index.js';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';
import { readPartBounds, writePartBounds } from '../../src/mail-format/writing/part-bounds.js';
import test from '../support/test.js';
import { mimeTree, type Tree, writtenTree } from './mime-tree.js';

const crlf = (text: string) => text.replaceAll('\n', '\r\n');

/** Parses names like `1.2.HEADER`; '' is the message. */
function named(name: string): SectionName {
  const [, numbers = '', text = ''] = /^((?:\d+(?:\.|$))*)(.*)$/.exec(name)!;
  return {
    part: numbers.split('.').filter(Boolean).map(Number),
    text: text === '' ? null : (text as SectionName['text']),
  };
}

function reader(t: ExecutionContext, message: string): (name: string) => string | undefined {
  const octets = Buffer.from(message, 'latin1');
  const { root } = indexMessage(octets);
  return (name) => {
    const range = sectionRange(root, named(name));
    // The stored bounds of the parts are enough.
    t.deepEqual(sectionRange(readPartBounds(writePartBounds(root)), named(name)), range);
    return range && octets.toString('latin1', range.start, range.end);
  };
}

const SINGLE = crlf('From: a@b.test\nSubject: one\n\nfirst\nsecond\n');

test('a message without parts: part 1 is its text', (t) => {
  const section = reader(t, SINGLE);
  t.is(section(''), SINGLE);
  t.is(section('HEADER'), crlf('From: a@b.test\nSubject: one\n\n'));
  t.is(section('TEXT'), crlf('first\nsecond\n'));
  t.is(section('1'), section('TEXT'));
  t.is(section('1.MIME'), section('HEADER'));
  for (const name of ['2', '1.1', '1.HEADER', '1.TEXT', '0', 'MIME']) t.is(section(name), undefined, name);
});

const NESTED = crlf(`From: a@b.test
Content-Type: multipart/mixed; boundary=out

preamble
--out
Content-Type: multipart/alternative; boundary=in

--in

plain
--in
Content-Type: text/html

<p>html</p>

--in--
--out
Content-Type: message/rfc822

Subject: embedded
Content-Type: multipart/mixed; boundary=deep

--deep
X-Part: yes

deep text
--deep
Content-Type: message/rfc822

Subject: deepest

the end
--deep--
--out
Content-Type: application/octet-stream

--out--
epilogue
`);

test('parts of nested multiparts and of messages within messages', (t) => {
  const section = reader(t, NESTED);
  t.is(section(''), NESTED);
  t.is(`${section('HEADER')}${section('TEXT')}`, NESTED);
  t.is(section('1.MIME'), crlf('Content-Type: multipart/alternative; boundary=in\n\n'));
  t.true(section('1')!.startsWith('--in\r\n'));
  t.is(section('1.1'), 'plain');
  t.is(section('1.1.MIME'), '\r\n');
  t.is(section('1.2'), crlf('<p>html</p>\n'));
  t.is(section('2'), `${section('2.HEADER')}${section('2.TEXT')}`);
  t.is(section('2.HEADER'), crlf('Subject: embedded\nContent-Type: multipart/mixed; boundary=deep\n\n'));
  t.is(section('2.MIME'), crlf('Content-Type: message/rfc822\n\n'));
  t.is(section('2.1'), 'deep text');
  t.is(section('2.1.MIME'), crlf('X-Part: yes\n\n'));
  t.is(section('2.2.HEADER'), crlf('Subject: deepest\n\n'));
  t.is(section('2.2.1'), 'the end');
  t.is(section('2.2.TEXT'), 'the end');
  t.is(section('2.2.1.MIME'), section('2.2.HEADER'));
  t.is(section('3'), '');
  for (const name of ['4', '1.3', '1.HEADER', '1.1.1', '2.3', '2.2.2', '2.2.1.1', '3.TEXT']) {
    t.is(section(name), undefined, name);
  }
});

test('a message that is itself an embedded message', (t) => {
  const section = reader(t, crlf('Content-Type: message/rfc822\n\nSubject: inner\n\ntext\n'));
  t.is(section('1'), crlf('Subject: inner\n\ntext\n'));
  t.is(section('1.HEADER'), crlf('Subject: inner\n\n'));
  t.is(section('1.1'), crlf('text\n'));
  t.is(section('1.TEXT'), crlf('text\n'));
  t.is(section('1.1.MIME'), section('1.HEADER'));
});

test('a part that is not closed, a multipart without parts, lines that end in LF, and no header at all', (t) => {
  t.is(reader(t, 'Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo\n')('2'), 'two\n');
  t.is(reader(t, crlf('Content-Type: multipart/mixed; boundary=b\n\nno parts\n'))('1'), crlf('no parts\n'));
  t.is(reader(t, '\r\nonly text')('HEADER'), '\r\n');
  t.is(reader(t, 'Subject: only a header\r\n')('TEXT'), '');
  t.is(reader(t, '')(''), '');
});

test('partials: as far as the section goes, and nothing beyond its end', (t) => {
  const range = { start: 10, end: 20 };
  t.deepEqual(partOfRange(range, 0, 5), { start: 10, end: 15 });
  t.deepEqual(partOfRange(range, 5, 100), { start: 15, end: 20 });
  t.deepEqual(partOfRange(range, 10, 1), { start: 20, end: 20 });
  t.deepEqual(partOfRange(range, 4_294_967_295, 4_294_967_295), { start: 20, end: 20 });
});

test('HEADER.FIELDS: order, folds and case of the header, its empty line, and no field of the body', (t) => {
  const header = Buffer.from(crlf('From mbox line\nTO: x\n\ty\nFrom: a\nsubject : s\nto: z\nX-To: w\n\n'), 'latin1');
  const fields = (areNamed: boolean, ...names: string[]) => headerFields(header, new FieldNames(names), areNamed);
  t.is(fields(true, 'to', 'subject'), crlf('TO: x\n\ty\nsubject : s\nto: z\n\n'));
  t.is(fields(false, 'to', 'subject'), crlf('From mbox line\nFrom: a\nX-To: w\n\n'));
  t.is(fields(true, 'absent'), '\r\n');
  t.is(fields(true), '\r\n');
  t.is(headerFields(Buffer.from('A: b\nTo: c'), new FieldNames(['to']), true), 'To: c');
  t.is(headerFields(Buffer.from('To: \xe9\n\n', 'latin1'), new FieldNames(['to']), true), 'To: \xe9\n\n');
});

test('HEADER.FIELDS and HEADER.FIELDS.NOT share out the header', (t) => {
  const line = fc.constantFrom('A: 1\r\n', 'b : 2\n', 'C:\r\n\tfold\r\n', ' lost fold\r\n', 'no field\r\n', ':\r\n');
  fc.assert(
    fc.property(fc.array(line), fc.subarray(['a', 'b', 'c', '']), (lines, names) => {
      const header = Buffer.from(`${lines.join('')}\r\n`);
      const named = headerFields(header, new FieldNames(names), true);
      const others = headerFields(header, new FieldNames(names), false);
      return named.length + others.length === header.length + 2 && named.endsWith('\r\n') && others.endsWith('\r\n');
    }),
  );
  t.pass();
});

/** Assembles the part from its sections; the delimiters come from between them. */
function assembled(root: IndexedPart, section: (name: string) => string, message: string): string {
  const body = (part: IndexedPart, prefix: string, name: string): string => {
    if (part.type === 'multipart') {
      let text = '';
      let at = part.bodyStart;
      for (const [i, child] of part.parts.entries()) {
        const numbered = `${prefix}${i + 1}`;
        text += message.slice(at, child.headerStart) + section(`${numbered}.MIME`);
        text += body(child, `${numbered}.`, numbered);
        at = child.bodyEnd;
      }
      return text + message.slice(at, part.bodyEnd);
    }
    const embedded = embeddedMessage(part);
    if (embedded === undefined) return section(name);
    const inner = embedded.type === 'multipart' ? '' : `${name}.1`;
    return section(`${name}.HEADER`) + body(embedded, `${name}.`, inner);
  };
  return section('HEADER') + body(root, '', '1');
}

test('the sections of a generated message put together are the message', (t) => {
  fc.assert(
    fc.property(mimeTree, fc.boolean(), (tree: Tree, hasCrlf) => {
      const written = writtenTree(tree);
      const message = hasCrlf ? crlf(written) : written;
      const { root } = indexMessage(Buffer.from(message, 'latin1'));
      const section = reader(t, message);
      t.is(
        assembled(root, (name) => section(name) ?? t.fail(name) ?? '', message),
        message,
      );
      t.is(section('HEADER')! + section('TEXT')!, message);
    }),
  );
});
