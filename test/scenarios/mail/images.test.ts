// Tests remote images of mail on a whole node: listed, loaded through the proxy, and refused from private addresses by default.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { SmtpSender } from '../../../bench/support/smtp-load.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

async function imageServer(t: ExecutionContext) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(200, { 'content-type': 'text/html' }).end(GIF);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pixel.gif?who=ann` };
}

/** Starts a node with one email that shows the image, and returns what the proxy answers for it. */
async function proxied(t: ExecutionContext, settings: Readonly<Record<string, string>>) {
  const server = await imageServer(t);
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', ...settings });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const account = await createAccount(sql, 'ann@example.test');
  await sql.end();
  const sender = await SmtpSender.open('127.0.0.1', port(node, 'mx'));
  const html = `From: a@remote.test\r\nContent-Type: text/html\r\n\r\n<img src="${server.url}">\r\n.\r\n`;
  t.true(await sender.send('a@remote.test', [account.email], html));
  sender.close();
  await placed(node);
  const client = new MailboxClient(node, account.key);
  const [email] = await client.inbox();
  const listed = await client.request('POST', `/api/emails/${email!.id}/images`);
  const images = (await listed.json()) as Record<string, string>;
  t.deepEqual(Object.keys(images), [server.url]);
  const reply = await fetch(`http://127.0.0.1:${port(node, 'http')}${images[server.url]}`, {
    headers: { cookie: 'secret=1', referer: 'https://mail.example.test/inbox' },
  });
  return { reply, server };
}

test('an image of a mail comes through the node, which tells its server nothing of the reader', async (t) => {
  const { reply, server } = await proxied(t, { MANSIO_IMAGES_ALLOW_PRIVATE: 'true' });
  t.is(reply.status, 200);
  t.is(reply.headers.get('content-type'), 'image/gif');
  t.deepEqual(Buffer.from(await reply.arrayBuffer()), GIF);
  t.is(server.asked.length, 1);
  t.like(server.asked[0]!.headers, { cookie: undefined, referer: undefined, 'user-agent': 'Mansio' });
});

test('an image on a private address is refused', async (t) => {
  const { reply, server } = await proxied(t, {});
  t.is(reply.status, 403);
  t.is(server.asked.length, 0);
});
