// The words of a message's body, of whatever shape the message is.
import test from 'ava';
import { openEmailTexts } from '../src/email-texts.js';
import { indexMessage } from '../src/mail/mime-index/indexer.js';
import { FakeBlobs } from './gateways/http/fakes.js';

const HEAD = 'From: a@b.test\r\nMIME-Version: 1.0\r\n';

test('text, html alone, encoded text, no body, a large body, and no blob', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const textOf = (message: string) => {
    const raw = Buffer.from(message);
    return texts.text(blobs.add(raw, indexMessage(raw)));
  };
  t.is((await textOf(`${HEAD}\r\nplain words\r\n`)).trim(), 'plain words');
  const html = await textOf(`${HEAD}Content-Type: text/html\r\n\r\n<style>p{}</style><p>html <b>words</b></p>\r\n`);
  t.is(html.trim(), 'html words');
  const encoded = `${HEAD}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
  t.is((await textOf(`${encoded}${Buffer.from('Grüße').toString('base64')}\r\n`)).trim(), 'Grüße');
  t.is((await textOf(`${HEAD}\r\n`)).trim(), '');
  const large = await textOf(`${HEAD}\r\n${'word '.repeat(400_000)}\r\n`);
  t.true(large.startsWith('word word') && large.length <= 256 * 1024);
  t.is(await texts.text('0'.repeat(64)), '');
});
