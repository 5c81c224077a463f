// Tests that every part in BODYSTRUCTURE can be fetched: nested parts as deep as the index goes, and messages in base64.

import type { IndexedPart } from '../../../../src/mail-format/message-index.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import test from '../../../support/test.js';
import { ALICE, startImap } from '../gateway.js';

const sectionsOf = (part: IndexedPart): IndexedPart[] => [part, ...part.parts.flatMap(sectionsOf)];

/** Nests `kinds` from the outside in: `m` is a multipart with a text before its part, `f` a forwarded message. */
function nested(kinds: string): string {
  let text = 'Content-Type: text/plain\r\n\r\ninnermost';
  for (const [i, kind] of [...kinds].reverse().entries()) {
    const parts = `--b${i}\r\n\r\nlevel ${i}\r\n--b${i}\r\n${text}\r\n--b${i}--`;
    text =
      kind === 'f'
        ? `Content-Type: message/rfc822\r\n\r\nSubject: ${i}\r\n${text}`
        : `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n${parts}`;
  }
  return `From: a@b.test\r\n${text}`;
}

for (const [name, kinds] of [
  ['multiparts', 'm'.repeat(60)],
  ['forwards', 'f'.repeat(60)],
  ['both', 'mmf'.repeat(33)],
  ['more levels than the index has', 'm'.repeat(120)],
  ['more forwards than the index has', 'f'.repeat(120)],
] as const) {
  test(`parts of ${name}`, async (t) => {
    const gateway = await startImap(t);
    const message = nested(kinds);
    await gateway.deliver(ALICE, message);
    const client = await gateway.open();
    await client.command('SELECT INBOX');
    const { root } = indexMessage(Buffer.from(message));
    const parts = sectionsOf(root).filter(({ section }) => section !== '');
    t.true(parts.some(({ section }) => section.split('.').length > 50));
    for (const { section, bodyStart, bodyEnd } of parts) {
      const body = message.slice(bodyStart, bodyEnd);
      const { untagged, tagged } = await client.command(`FETCH 1 BODY.PEEK[${section}]`);
      t.deepEqual(untagged, [`1 FETCH (BODY[${section}] {${body.length}}\r\n${body})`], tagged);
    }
    const deeper = Array.from({ length: 103 }, () => '1').join('.');
    t.regex((await client.command(`FETCH 1 BODY.PEEK[${deeper}]`)).tagged, /BAD/);
  });
}

const INNER = 'From: Ann <ann@remote.test>\r\nSubject: inner\r\n\r\nzebra\r\n';
const BASE64 = Buffer.from(INNER).toString('base64');
const FORWARD = [
  'From: a@b.test',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  '',
  'see below',
  '--b',
  'Content-Type: message/rfc822',
  'Content-Transfer-Encoding: base64',
  '',
  BASE64,
  '--b--',
  '',
].join('\r\n');

test('a message in base64 is shown as a message, and its parts as what is fetched', async (t) => {
  const gateway = await startImap(t);
  await gateway.deliver(ALICE, FORWARD);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  const fetched = async (items: string) => (await client.command(`FETCH 1 (${items})`)).untagged.join();
  const ann = '(("Ann" NIL "ann" "remote.test"))';
  const text = `("text" "plain" ("charset" "us-ascii") NIL NIL "base64" ${BASE64.length} 0)`;
  t.true(
    (await fetched('BODY')).includes(
      `("message" "rfc822" NIL NIL NIL "base64" ${BASE64.length} (NIL "inner" ${ann} ${ann} ${ann} NIL NIL NIL NIL NIL) ${text} 0)`,
    ),
  );
  for (const section of ['2', '2.1', '2.TEXT']) {
    t.is(await fetched(`BODY.PEEK[${section}]`), `1 FETCH (BODY[${section}] {${BASE64.length}}\r\n${BASE64})`);
  }
  for (const section of ['2', '2.1']) {
    t.is(await fetched(`BINARY.PEEK[${section}]`), `1 FETCH (BINARY[${section}] {${INNER.length}}\r\n${INNER})`);
    t.is(await fetched(`BINARY.SIZE[${section}]`), `1 FETCH (BINARY.SIZE[${section}] ${INNER.length})`);
  }
  t.is(await fetched('BODY.PEEK[2.HEADER]'), '1 FETCH (BODY[2.HEADER] {0}\r\n)');
  t.deepEqual((await client.command('SEARCH BODY zebra')).untagged, ['SEARCH 1']);
  // The attachment has the subject as its name.
  t.like(indexMessage(Buffer.from(FORWARD)).attachments[0], {
    fileName: 'inner.eml',
    contentType: 'message/rfc822',
    size: INNER.length,
  });
});

test('a message in quoted-printable, and many of them within the limits of the index', (t) => {
  const part = (encoding: string, octets: string) =>
    `--b\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${octets}\r\n`;
  const index = indexMessage(
    Buffer.from(
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${part('quoted-printable', 'Subject: =\r\n=66olded\r\n\r\nx')}` +
        `${part('base64', BASE64).repeat(2_000)}--b--`,
    ),
  );
  t.is(index.attachments[0]!.fileName, 'folded.eml');
  t.true(sectionsOf(index.root).length <= 1000);
});

test('destinations of repeated fields are one list', async (t) => {
  const gateway = await startImap(t);
  const header =
    'From: a@b.test\r\nTo: "open <one@b.test>\r\nTo: two@b.test, g: three@b.test;\r\nCc:\r\nCc: c@b.test\r\nTo: d@b.test\r\n';
  await gateway.deliver(ALICE, `${header}\r\nx`);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  const { untagged } = await client.command('FETCH 1 ENVELOPE');
  t.true(
    untagged[0]!.includes(
      '((NIL NIL "open <one@b.test>" "MISSING_DOMAIN")(NIL NIL "two" "b.test")(NIL NIL "g" NIL)(NIL NIL "three" "b.test")' +
        '(NIL NIL NIL NIL)(NIL NIL "d" "b.test")) ((NIL NIL "c" "b.test")) NIL',
    ),
    untagged[0],
  );
});
