// Tests the list of an email's remote images.
import test from '../../../../support/test.js';
import { ALICE } from '../../fakes.js';
import { IMAGE_URLS, startGateway } from '../../gateway.js';
import { addRawMail } from '../../mail-fixture.js';

const ID = '018f0000-0000-7000-8000-0000000000ac';

test('each remote image has a signed URL of the account, at both paths', async (t) => {
  const gateway = await startGateway(t);
  const message = `From: shop@remote.test\r\nSubject: Offers\r\nContent-Type: text/html\r\n\r\n
    <img src="http://img.remote.test/a.png?x=1&amp;y=2"><img src="cid:logo"><p style="background:url(//img.remote.test/b.gif)">`;
  addRawMail(gateway.mailboxes, gateway.blobs, ALICE, { id: ID }, Buffer.from(message));
  for (const base of ['/api/emails', '/api/external/emails']) {
    const reply = await gateway.fetch(`${base}/${ID}/images`, { method: 'POST' });
    t.is(reply.status, 200);
    const images = (await reply.json()) as Record<string, string>;
    t.deepEqual(Object.keys(images), ['http://img.remote.test/a.png?x=1&y=2', 'https://img.remote.test/b.gif']);
    for (const [url, proxied] of Object.entries(images)) {
      const query = Object.fromEntries(new URL(proxied, gateway.url).searchParams);
      t.deepEqual(IMAGE_URLS.verified(query), { url, accountId: ALICE });
      t.is((await gateway.fetch(proxied, { key: null })).status, 200);
    }
  }
});
