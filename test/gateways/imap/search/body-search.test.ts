// Tests BODY and TEXT: which messages are read, what the index decides, and large programs and mailboxes.
import { setImmediate } from 'node:timers/promises';
import { Refused } from '../../../../src/gateways/imap/completion.js';
import type { SearchKey } from '../../../../src/gateways/imap/grammar/search.js';
import test from '../../../support/test.js';
import { type MadeMessage, searchedMailbox } from './searched-messages.js';

const START = Date.UTC(2024, 1, 27);

const plain = (uid: number, body: string, more: Partial<MadeMessage> = {}): MadeMessage => ({
  uid,
  flags: uid % 2,
  isDeleted: false,
  keywords: [],
  modseq: uid,
  receivedAt: START,
  savedAt: START,
  isExpunged: false,
  raw: `From: sender${uid % 7}@example.org\r\nSubject: number ${uid}\r\n\r\n${body}`,
  body,
  ...more,
});

test('bodies are read for what the other keys leave, and the index decides where that is much', async (t) => {
  const messages = Array.from({ length: 1200 }, (_, i) => plain(i + 1, `hello wonderful world ${i}`));
  const { find, counts } = searchedMailbox(messages);
  const infix: SearchKey = { type: 'body', text: 'onderful wor' };
  const few: SearchKey = { type: 'set', set: [[1, 20]], isByUid: true };
  t.is((await find({ type: 'and', keys: [infix, few] })).length, 20);
  t.deepEqual(counts, { bodies: 20, index: 0 });
  t.deepEqual(await find(infix), []);
  t.is((await find({ type: 'body', text: 'Wonderful WOR' })).length, 1200);
  t.deepEqual(await find({ type: 'body', text: 'world 99' }), [100, ...Array.from({ length: 10 }, (_, i) => 991 + i)]);
  t.deepEqual(await find({ type: 'body', text: 'world 99.' }), [100]);
  t.is(counts.bodies, 20);
  t.deepEqual(await find({ type: 'text', text: 'UMBER 77' }), [77, ...Array.from({ length: 10 }, (_, i) => 770 + i)]);
  t.is(counts.bodies, 20);
});

test('a string without a word is read for however many messages there are', async (t) => {
  const messages = Array.from({ length: 700 }, (_, i) => plain(i + 1, i % 100 === 3 ? 'well *** done' : 'well done'));
  const { find, counts } = searchedMailbox(messages);
  t.deepEqual(await find({ type: 'body', text: '***' }), [4, 104, 204, 304, 404, 504, 604]);
  t.deepEqual(counts, { bodies: 700, index: 0 });
});

test('bodies are read when the index cannot answer', async (t) => {
  const messages = Array.from({ length: 1200 }, (_, i) => plain(i + 1, `hello wonderful world ${i}`));
  const { find, counts } = searchedMailbox(messages, { isIndexBehind: true });
  t.deepEqual(await find({ type: 'body', text: 'wonderful world 119' }), [
    120,
    ...Array.from({ length: 10 }, (_, i) => 1191 + i),
  ]);
  t.deepEqual(counts, { bodies: 1200, index: 0 });
});

test('many searches of bodies of one account at once wait for each other, and all find', async (t) => {
  const messages = Array.from({ length: 20 }, (_, i) => plain(i + 1, `hello wonderful world ${i}`));
  const { find } = searchedMailbox(messages);
  const found = await Promise.all(
    Array.from({ length: 100 }, (_, i) => find({ type: 'body', text: `orld ${i % 20}` })),
  );
  for (const [i, uids] of found.entries()) t.true(uids.includes(1 + (i % 20)));
});

test('TEXT finds MIME header fields of parts, such as names of attachments, which BODY does not', async (t) => {
  const raw = [
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    'the text',
    '--b',
    'Content-Type: application/pdf; name="=?utf-8?q?Z=C3=BCrich.pdf?="',
    'Content-Disposition: attachment; filename="invoice 7.pdf"',
    '',
    'octets',
    '--b',
    'Content-Type: message/rfc822',
    'Content-Description: forwarded',
    '',
    'Subject: inner',
    '',
    'inner text',
    '--b--',
  ].join('\r\n');
  const { find, counts } = searchedMailbox([plain(1, 'the text'), plain(2, '', { raw })]);
  for (const text of ['INVOICE 7.PDF', 'zürich', 'forwarded', 'Subject: inner', 'application/pdf']) {
    t.deepEqual(await find({ type: 'text', text }), [2], text);
  }
  for (const text of ['invoice', 'zürich', 'forwarded', 'octets'])
    t.deepEqual(await find({ type: 'body', text }), [], text);
  t.deepEqual(await find({ type: 'text', text: 'octets' }), []);
  const before = counts.bodies;
  const bodyFirst: SearchKey = { type: 'not', key: { type: 'body', text: 'invoice' } };
  t.deepEqual(await find({ type: 'and', keys: [bodyFirst, { type: 'text', text: 'invoice' }] }), [2]);
  t.is(counts.bodies - before, 3, 'the header fields of the second message are read besides');
});

test('TEXT finds encoded words of the header as they read, and not as they are written', async (t) => {
  const raw = 'Subject: =?utf-8?B?VXNhYmxlIE3DvG5jaGVu?=\r\nX-Trace: VXNh\r\n\r\nx';
  const { find } = searchedMailbox([
    plain(1, 'x', { raw: raw.replace('X-Trace: VXNh\r\n', '') }),
    plain(2, 'x', { raw }),
  ]);
  for (const text of ['usable münchen', 'Subject: Usable'])
    t.deepEqual(await find({ type: 'text', text }), [1, 2], text);
  t.deepEqual(await find({ type: 'text', text: 'vxnh' }), [2]);
  t.deepEqual(await find({ type: 'text', text: 'utf-8' }), []);
});

test('a large message is searched in its text parts, and only these are read', async (t) => {
  const attachment = 'QUJD'.repeat(100_000);
  const raw = [
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'needle in a line',
    '--b',
    'Content-Type: application/pdf',
    'Content-Transfer-Encoding: base64',
    '',
    attachment,
    '--b',
    'Content-Type: message/rfc822',
    '',
    'Subject: =?utf-8?q?inner_s=C3=BCbject?=',
    '',
    'inner text',
    '--b--',
  ].join('\r\n');
  const { find } = searchedMailbox([plain(1, '', { raw })]);
  for (const text of ['needle', 'INNER TEXT', 'inner sübject'])
    t.deepEqual(await find({ type: 'body', text }), [1], text);
  for (const text of ['ABCABC', 'QUJD', 'inner needle']) t.deepEqual(await find({ type: 'body', text }), [], text);
});

test('programs of many keys and texts are bounded', async (t) => {
  const messages = Array.from({ length: 200 }, (_, i) => plain(i + 1, 'text'));
  const { find } = searchedMailbox(messages);
  const keys = Array.from(
    { length: 2000 },
    (_, i): SearchKey => ({ type: 'header', name: 'subject', text: `number ${i % 9}` }),
  );
  t.is((await find({ type: 'and', keys })).length, 0);
  const deep = keys.reduce<SearchKey>((left, right) => ({ type: 'or', left, right }), {
    type: 'not',
    key: { type: 'all' },
  });
  t.is((await find(deep)).length, 189);
  const manyTexts = Array.from({ length: 51 }, (_, i): SearchKey => ({ type: 'body', text: `text ${i}` }));
  await t.throwsAsync(async () => find({ type: 'and', keys: manyTexts }), { instanceOf: Refused });
});

test('a search of many messages lets others run', async (t) => {
  const messages = Array.from({ length: 4000 }, (_, i) => plain(i + 1, 'text'));
  const { find } = searchedMailbox(messages);
  let isDone = false;
  let turns = 0;
  const others = (async () => {
    while (!isDone) {
      turns++;
      await setImmediate();
    }
  })();
  await find({ type: 'header', name: 'x-none', text: 'x' });
  isDone = true;
  await others;
  t.true(turns > 4, `${turns} turns`);
});
