// Tests hostile mail: it is indexed within the limits, and the index says which limits were reached.

import type { IndexedPart, MessageIndex } from '../../../src/mail-format/message-index.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../src/mail-format/summary.js';
import test from '../../support/test.js';

const index = (text: string): MessageIndex => {
  const made = indexMessage(Buffer.from(text, 'latin1'));
  // The index must be storable: jsonb accepts neither NUL nor half a surrogate pair.
  const json = JSON.stringify(made);
  if (/\\u0000|\\ud[89a-f]/i.test(json)) throw new Error('not storable');
  return made;
};

function partsOf(part: IndexedPart): number {
  return part.parts.reduce((sum, child) => sum + partsOf(child), 1);
}

function depthOf(part: IndexedPart): number {
  return 1 + Math.max(0, ...part.parts.map(depthOf));
}

test('10,000 parts', (t) => {
  const made = index(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(10_000)}--b--`);
  t.is(partsOf(made.root), 1000);
  t.deepEqual(made.truncated, ['parts']);
  t.is(made.root.bodyEnd, made.size);
  t.is(made.root.parts[998]!.bodyEnd - made.root.parts[998]!.bodyStart, 1);
  t.is(made.preview, 'x');
});

test('1,000 levels of multipart', (t) => {
  let text = '';
  for (let i = 0; i < 1000; i++) text += `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`;
  const made = index(`${text}\r\nend`);
  t.deepEqual(made.truncated, ['depth']);
  t.is(depthOf(made.root), 101);
  t.is(made.attachments.length, 1);
});

test('1,000 levels of messages', (t) => {
  const made = index(`${'Content-Type: message/rfc822\r\n\r\n'.repeat(1000)}\r\nend`);
  t.deepEqual(made.truncated, ['depth']);
  t.is(depthOf(made.root), 101);
  t.is(made.attachments.length, 1);
});

test('1 MB of header in one line, and in many', (t) => {
  for (const big of [`X-Big: ${'a'.repeat(1 << 20)}\r\n`, 'X-Big: aaaaaaa\r\n'.repeat(70_000)]) {
    const made = index(`Subject: x\r\n${big}Content-Type: text/html\r\n\r\n<p>body`);
    t.deepEqual(made.truncated, ['header']);
    t.is(made.envelope.subject, 'x');
    t.is(made.size - made.root.bodyStart, '<p>body'.length);
    t.is(made.preview, '<p>body');
  }
});

test('parts after the header limit are body', (t) => {
  const part = `--b\r\nX: ${'a'.repeat(100_000)}\r\n\r\nx\r\n`;
  const made = index(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(5)}`);
  t.deepEqual(made.truncated, ['header']);
  t.is(made.root.parts.length, 3);
});

test('missing boundaries', (t) => {
  const none = index('Content-Type: multipart/mixed\r\n\r\n--b\r\n\r\nhello');
  t.is(`${none.root.type}/${none.root.subtype} ${none.root.section}`, 'text/plain 1');
  t.is(none.preview, '--b hello');
  const never = index('Content-Type: multipart/mixed; boundary=zz\r\n\r\nhello there\r\n--b\r\n');
  t.deepEqual(never.textSections, ['1']);
  t.is(never.preview, 'hello there --b');
  const unclosed = index('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n');
  t.is(unclosed.root.parts.length, 1);
  t.is(unclosed.root.parts[0]!.bodyEnd, unclosed.size);
  const headerless = index('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n--b\r\nX: y\r\n--b--');
  t.is(headerless.root.parts.length, 2);
  t.deepEqual(
    headerless.root.parts.map((part) => part.bodyEnd - part.bodyStart),
    [0, 0],
  );
});

test('a message part without an empty line before its delimiter', (t) => {
  const made = index('Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n--b--');
  t.is(made.root.parts[0]!.parts.length, 1);
  t.is(index('Content-Type: message/rfc822').root.parts.length, 1);
});

test('a boundary that looks like an encoded word is as it is written', (t) => {
  const boundary = '=?utf-8?Q?x?=';
  const lines = [
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    '',
    'one',
    `--${boundary}--`,
  ];
  const { root } = indexMessage(Buffer.from(lines.join('\r\n')));
  t.is(root.params['boundary'], boundary);
  t.is(root.parts.length, 1);
});

test('a boundary used again inside itself', (t) => {
  const made = index(
    'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n--b\n\ny\n--b--\n',
  );
  t.is(made.root.parts.length, 2);
  t.is(made.root.parts[0]!.parts.length, 1);
});

test('broken base64', (t) => {
  const made = index(
    'Content-Type: image/png; name=x.png\r\nContent-Transfer-Encoding: base64\r\n\r\naGVs*bG8\r\n====\r\nx',
  );
  t.is(made.attachments[0]!.size, 5);
  t.is(index('Content-Transfer-Encoding: base64\r\n\r\n%%%').preview, '');
});

test('unknown charsets and encodings', (t) => {
  t.is(index('Content-Type: text/plain; charset=klingon\r\n\r\n\xe9t\xe9').preview, 'été');
  t.is(index('Subject: =?klingon?Q?=E9?= =?x?B?w6k=?=\r\n\r\n').envelope.subject.length, 2);
  t.is(index('Content-Transfer-Encoding: x-zip\r\n\r\nabc').preview, 'abc');
});

test('100,000 folds in a Subject', (t) => {
  const made = index(`Subject: ${'a\r\n '.repeat(100_000)}\r\nFrom: a@b\r\n\r\nbody`);
  t.true(made.envelope.subject.startsWith('a a a a'));
  t.true(made.envelope.subject.length <= 16 * 1024);
  t.is(made.preview, 'body');
});

test('10,000 nested groups, comments and quotes in an address field', (t) => {
  const groups = index(`To: ${'g:'.repeat(10_000)}a@b${';'.repeat(10_000)}\r\n\r\n`);
  t.is(groups.envelope.to.length, 1000);
  t.deepEqual(groups.truncated, ['addresses']);
  for (const open of ['(', '[', '<', '"', '"\\', 'x<"y" ', 'a,', ';', '@']) {
    const made = index(`To: ${open.repeat(20_000)}\r\nSubject: x\r\n\r\nbody`);
    t.is(made.envelope.subject, 'x');
    t.true(made.envelope.to.length <= 1000);
  }
});

test('limits hold for fields that repeat', (t) => {
  const made = index(`${'To: a@b\r\n'.repeat(5000)}References: ${'<a@b> '.repeat(500)}\r\n\r\n`);
  t.is(made.envelope.to.length, 1000);
  t.is(made.envelope.references.length, 100);
});

test('control characters stay out of what is shown', (t) => {
  const made = index(
    'Subject: =?utf-8?Q?a=0D=0AX=3A=00b=E2=80=A8?=\r\nFrom: =?utf-8?Q?=00n?= <a\0@b>\r\nMessage-ID: <a\0b@c>\r\n' +
      'Content-Type: application/pdf; name="=?utf-8?Q?=2E=2E/..\\\\=00x=E2=80=AEfdp.exe?="\r\n\r\n\0',
  );
  t.is(made.envelope.subject, 'a X:b');
  t.deepEqual(made.envelope.from, [{ name: 'n', address: 'a@b' }]);
  t.is(made.attachments[0]!.fileName, '.._.._xfdp.exe');
  t.is(summarize(made).fromName, 'n');
});
