// Sends requests in segments, as a real link does, so that their first line is split: a long URL, and the hub's, which contains the
// token; with and without PROXY headers, and with letters of two octets in the replies.
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { port } from '../../../dev/node-accounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { startTestNode } from '../../support/node.js';
import { startProvider } from '../../support/peers/oidc-provider.js';
import test from '../../support/test.js';

const SEGMENT = 1_000;

/** Starts a link that makes the node read each segment alone: the node answers another request before the next segment is sent. */
async function startLink(
  t: ExecutionContext,
  target: number,
): Promise<{ readonly port: number; readonly cut: () => number }> {
  let cut = 0;
  const link = net.createServer({ noDelay: true }, (client) => {
    const server = net.connect({ port: target, host: '127.0.0.1', noDelay: true });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    server.pipe(client);
    let sent = Promise.resolve();
    client.on('data', (octets) => {
      sent = sent
        .then(async () => {
          for (let at = 0; at < octets.length; at += SEGMENT) {
            if (at > 0) {
              cut++;
              await fetch(`http://127.0.0.1:${target}/healthz`);
            }
            server.write(octets.subarray(at, at + SEGMENT));
          }
        })
        .catch(() => void client.destroy());
    });
  });
  t.teardown(() => void link.close());
  link.listen(0, '127.0.0.1');
  await once(link, 'listening');
  return { port: (link.address() as AddressInfo).port, cut: () => cut };
}

for (const [name, networks] of [
  ['the node alone', ''],
  ['behind balancers', '127.0.0.0/8'],
] as const) {
  test(`${name}: a first line in two segments is a request like any other`, async (t) => {
    const provider = await startProvider(t);
    const node = await startTestNode({
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_OIDC_AUTHORITY: provider.authority,
      MANSIO_PROXY_NETWORKS: networks,
    });
    t.teardown(async () => {
      await node.stop();
    });
    const link = await startLink(t, port(node, 'http'));
    const token = await provider.token({ name: 'Zoë', groups: 'x'.repeat(1_500) });
    t.true(token.length > 2_200, `${token.length}`);
    const headers = { Authorization: `Bearer ${token}` };

    for (let length = 1_985; length <= 2_015; length += 5) {
      const path = '/api/emails/search?q=';
      // A search has at most 1,000 characters, each of which may be written with three.
      const room = length - path.length;
      const words = '%61'.repeat(room / 3) + 'a'.repeat(room % 3);
      const response = await fetch(`http://127.0.0.1:${link.port}${path}${words}`, { headers });
      t.is(response.status, 200, `${length}: ${await response.text()}`);
    }
    t.true(link.cut() > 0);

    const before = link.cut();
    const hub = new HubConnectionBuilder()
      .withUrl(`http://127.0.0.1:${link.port}/hubs/email`, { accessTokenFactory: () => token })
      .configureLogging(LogLevel.None)
      .build();
    t.teardown(() => hub.stop());
    const heard = new Promise<{ subject: string }>((resolve) => {
      hub.on('NewEmail', resolve);
    });
    await startHub(hub);
    t.true(link.cut() > before + 2, 'the head of the upgrade came in segments');
    const smtp = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
    await smtp.sendMail({ from: 'z@remote.test', to: 'anna@example.test', subject: 'Zoë', text: 'x' });
    // All letters are in Latin-1: a wider one would change the encoding of the frame.
    t.like(await heard, { subject: 'Zoë' });
  });
}
