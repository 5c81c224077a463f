// Tests the words of a message's body, whatever the structure of the message.

import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { openEmailTexts } from '../../../src/node/engine/email-texts.js';
import { ALICE, FakeBlobs } from '../../gateways/http/fakes.js';
import { caseMessage } from '../../mail-format/cases.js';
import test from '../../support/test.js';

const HEAD = 'From: a@b.test\r\nMIME-Version: 1.0\r\n';

test('text, html alone, encoded text, no body, a large body, and no blob', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const textOf = async (message: string) => {
    const raw = Buffer.from(message);
    return (await texts.text(ALICE, blobs.add(raw, indexMessage(raw)))).text;
  };
  t.is((await textOf(`${HEAD}\r\nplain words\r\n`)).trim(), 'plain words');
  const html = await textOf(`${HEAD}Content-Type: text/html\r\n\r\n<style>p{}</style><p>html <b>words</b></p>\r\n`);
  t.is(html.trim(), 'html words');
  const encoded = `${HEAD}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
  t.is((await textOf(`${encoded}${Buffer.from('Grüße').toString('base64')}\r\n`)).trim(), 'Grüße');
  t.is((await textOf(`${HEAD}\r\n`)).trim(), '');
  const large = await textOf(`${HEAD}\r\n${'word '.repeat(400_000)}\r\n`);
  t.true(large.startsWith('word word') && large.length <= 256 * 1024);
  t.deepEqual(await texts.text(ALICE, '0'.repeat(64)), { text: '', extent: 'whole' });
});

test('words of the plain text and of the HTML, each part once', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const raw = caseMessage('html-only-words');
  const stored = { accountId: ALICE, blob: blobs.add(raw, indexMessage(raw)) };
  const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '');
  const both = ['Please use a mail program that shows HTML.', 'Harvest of boysenberries begins on Monday'];
  const trimmed = (text: string) => linesOf(text).map((line) => line.trim());
  t.deepEqual(trimmed((await texts.text(ALICE, stored.blob)).text), both);
  t.deepEqual(trimmed((await texts.longText(ALICE, stored.blob)).text), both);
  t.deepEqual(trimmed(String((await texts.searchable([stored]))[0]!.body)), both);

  const footer = '--b\r\nContent-Type: text/html\r\n\r\n<p>page\r\n--b\r\n\r\nfooter\r\n--b--\r\n';
  const list = Buffer.from(`${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${footer}`);
  const { text } = await texts.text(ALICE, blobs.add(list, indexMessage(list)));
  t.deepEqual(trimmed(text), ['page', 'footer']);
});

test('a long body is cut and says so, and can be had at length', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const stored = (message: string) => {
    const raw = Buffer.from(message);
    return blobs.add(raw, indexMessage(raw));
  };
  const short = stored(`${HEAD}\r\nwords\r\n`);
  t.is((await texts.text(ALICE, short)).extent, 'whole');
  t.is((await texts.longText(ALICE, short)).extent, 'whole');
  for (const size of [300_000, 3_000_000]) {
    const long = stored(`${HEAD}\r\n${'a word '.repeat(size / 7)}needle\r\n`);
    const { text, extent } = await texts.text(ALICE, long);
    t.deepEqual([extent, text.includes('needle')], ['start', false]);
    const whole = await texts.longText(ALICE, long);
    t.deepEqual([whole.extent, whole.text.includes('needle')], ['whole', true]);
  }
  const longer = stored(`${HEAD}\r\n${'a word '.repeat(1_500_000)}\r\n`);
  t.is((await texts.longText(ALICE, longer)).extent, 'start');
});

test('what search finds of a message: To, Cc and the names of attachments beside its body', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const raw = Buffer.from(
    `${HEAD}To: =?utf-8?q?Zo=C3=AB?= <zoe@c.test>, friends: d@e.test;\r\nCc: Carl <carl@f.test>\r\nBcc: x@y.test\r\n` +
      'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nwords\r\n--b\r\nContent-Type: application/pdf\r\n' +
      'Content-Disposition: attachment; filename="Report 2026.pdf"\r\n\r\n%PDF\r\n--b--\r\n',
  );
  const blob = blobs.add(raw, indexMessage(raw));
  const [found] = await texts.searchable([{ accountId: ALICE, blob }]);
  const { recipients, attachments, body } = found!;
  t.deepEqual(
    recipients.split(/\s+/).filter((word) => word !== ''),
    ['Zoë', 'zoe@c.test', 'friends', 'd@e.test', 'Carl', 'carl@f.test'],
  );
  t.is(attachments, 'Report 2026.pdf');
  t.is(String(body).trim(), 'words');
});

test('a body in UTF-8 is found as its octets are, any other as its text', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const found = async (head: string, body: string | Buffer) => {
    const raw = Buffer.concat([Buffer.from(`${HEAD}${head}\r\n`), Buffer.from(body)]);
    const [one] = await texts.searchable([{ accountId: ALICE, blob: blobs.add(raw, indexMessage(raw)) }]);
    return [typeof one!.body, String(one!.body).trim()];
  };
  t.deepEqual(await found('', 'Grüße, Zoë 💌\r\n'), ['object', 'Grüße, Zoë 💌']);
  t.deepEqual(await found('Content-Type: text/plain; charset=utf-8\r\n', 'Zoë 💌'), ['object', 'Zoë 💌']);
  t.deepEqual(await found('', Buffer.from('Grüße', 'latin1')), ['string', 'Grüße']);
  t.deepEqual(await found('Content-Type: text/plain; charset=iso-8859-1\r\n', 'Zoë'), ['string', 'ZoÃ«']);
  t.deepEqual(await found('', 'one\0word'), ['string', 'oneword']);
  t.deepEqual(await found('Content-Type: text/plain; format=flowed\r\n', 'flows \r\non\r\n'), ['string', 'flows on']);
  t.deepEqual(await found('Content-Type: text/html\r\n', '<p>Zoë &amp; Ann</p>'), ['string', 'Zoë & Ann']);
  const two = '--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n';
  t.deepEqual(await found('Content-Type: multipart/mixed; boundary=b\r\n', two), ['string', 'one\ntwo']);
});

test('a short body keeps nothing else of its message in memory', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const attachment = `--b\r\nContent-Type: application/pdf\r\n\r\n${'x'.repeat(60_000)}\r\n`;
  const stored = ['Zoë 💌', 'Zoë 💌 '.repeat(1_000)].map((body) => {
    const head = `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n`;
    const raw = Buffer.from(`${head}${body}\r\n${body.length < 1_000 ? attachment : ''}--b--\r\n`);
    return { accountId: ALICE, blob: blobs.add(raw, indexMessage(raw)) };
  });
  for (const { body } of await texts.searchable(stored)) {
    if (typeof body === 'string') t.fail('a string');
    // A short copy may be in Node.js's pool, which other copies share.
    else t.false(Buffer.from(body.buffer).includes('x'.repeat(1_000)));
  }
});
