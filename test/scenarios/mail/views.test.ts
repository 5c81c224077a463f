// Tests views of large messages on a whole node: an account that asks for many gets some, and has to wait for the rest, while
// another account's view is served between them.
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { SmtpSender } from '../../../bench/support/smtp-load.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { type EmailView, type ListedEmail, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const LINE = 'The quick brown fox jumps over the lazy dog; again and again.\r\n';
/** One is decoded at a time, and 16 wait. The last one is shown within the time of a request, even on a slow machine. */
const MANY = 30;

async function connected(to: number): Promise<net.Socket> {
  const socket = net.connect(to, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

test('many views of one account leave another its turn, and those beyond the share are refused at once', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  const sql = await storeOf(node);
  const [busy, other] = [await createAccount(sql, 'busy@example.test'), await createAccount(sql, 'other@example.test')];
  await sql.end();
  const sender = await SmtpSender.open('127.0.0.1', port(node, 'mx'));
  const message = Buffer.from(`From: a@remote.test\r\nSubject: large\r\n\r\n${LINE.repeat(10_000)}.\r\n`);
  t.true(await sender.send('a@remote.test', [busy.email, other.email], message));
  sender.close();
  await placed(node);
  const clients = [new MailboxClient(node, busy.key), new MailboxClient(node, other.key)];
  const [[mine], [theirs]] = (await Promise.all(clients.map((client) => client.inbox()))) as [
    ListedEmail[],
    ListedEmail[],
  ];
  // This view starts the decoding thread, which is slow on a slow machine.
  const { textBody } = await clients[0]!.get<EmailView>(`/api/emails/${mine!.id}`);
  t.true(textBody.startsWith(LINE.trimEnd()));
  const ended: string[] = [];
  const view = async (socket: net.Socket, key: string, id: string, name: string) => {
    const path = `/api/emails/${id}`;
    const headers = { authorization: `Bearer ${key}` };
    const request = http.get({ createConnection: () => socket, path, headers });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let octets = 0;
    for await (const chunk of response) octets += (chunk as Buffer).length;
    ended.push(response.statusCode === 200 ? name : `${response.statusCode}`);
    return { status: response.statusCode, octets, wait: response.headers['retry-after'] };
  };
  // All connections are opened first, so that each refusal comes at once.
  const sockets = await Promise.all(Array.from({ length: MANY + 1 }, () => connected(port(node, 'http'))));
  const [last, ...others] = sockets as [net.Socket, ...net.Socket[]];
  const views = others.map((socket) => view(socket, busy.key, mine!.id, 'busy'));
  // Once one is answered, all have been asked for.
  await Promise.race(views);
  const shown = await view(last, other.key, theirs!.id, 'other');
  t.is(shown.status, 200);
  t.true(shown.octets > 600_000);
  const all = await Promise.all(views);
  const refused = all.filter(({ status }) => status === 503);
  const served = all.filter(({ status }) => status === 200);
  t.is(refused.length + served.length, MANY);
  t.true(refused.length > 0 && served.length > 12);
  t.true(refused.every(({ wait }) => Number(wait) > 0));
  t.true(ended.indexOf('other') < ended.lastIndexOf('busy'), 'another account is not last');
  t.true(ended.lastIndexOf('503') < ended.lastIndexOf('busy'), 'nobody is refused after a wait');
  await node.stop();
});
