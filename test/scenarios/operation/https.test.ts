// Tests HTTPS of a whole node: REST and the hub with the certificates of the mail ports, which change without a restart.
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import pino from 'pino';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { selfSigned } from '../../../src/node/tls/tls-certificate.js';
import { startHub } from '../../support/clients/hub-start.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

// The certificates of this test are self-signed.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';

const pairFor = (host: string) => selfSigned(temporaryDirectory('mansio-pair-'), host, pino({ level: 'silent' }));

async function nameAt(portNumber: number): Promise<string> {
  const socket = connect({ port: portNumber, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

test('REST and hub over TLS alone; a changed certificate reaches HTTPS and mail ports, and the hub goes on', async (t) => {
  const directory = temporaryDirectory('mansio-https-');
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  const use = async (host: string) => {
    const pair = await pairFor(host);
    copyFileSync(pair.key, files.key);
    copyFileSync(pair.cert, files.cert);
  };
  await use('old.example.test');
  const node = await startTestNode({
    MANSIO_HTTP_PORT: 'off',
    MANSIO_HTTPS_PORT: '0',
    MANSIO_HOSTNAME: 'mail.example.test',
    MANSIO_TLS_CERT: files.cert,
    MANSIO_TLS_KEY: files.key,
  });
  t.false('http' in node.ready.listeners);
  const sql = await storeOf(node);
  const { key } = await createAccount(sql, 'alice@example.test');
  await sql.end();
  const https = port(node, 'https');
  const url = `https://127.0.0.1:${https}`;

  const list = await fetch(`${url}/api/emails`, { headers: { authorization: `Bearer ${key}` } });
  t.is(list.status, 200);
  t.is(list.headers.get('strict-transport-security'), 'max-age=31536000');
  t.is((await fetch(`${url}/api/emails`)).status, 401);
  t.is(((await (await fetch(`${url}/healthz`)).json()) as { status: string }).status, 'Healthy');

  const signedIn = await fetch(`${url}/api/sessions`, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  const cookie = signedIn.headers.get('set-cookie')!;
  t.regex(cookie, /^__Host-mansio=[^;]+; .*Secure/);
  t.is((await fetch(`${url}/api/emails`, { headers: { cookie: cookie.split(';')[0]! } })).status, 200);

  const hub = new HubConnectionBuilder()
    .withUrl(`${url}/hubs/email`, { accessTokenFactory: () => key })
    .configureLogging(LogLevel.None)
    .build();
  hub.on('UnreadCountChanged', () => {});
  const arrived = new Promise((resolve) => hub.on('NewEmail', resolve));
  await startHub(hub);

  t.is(await nameAt(https), 'old.example.test');
  await use('new.example.test');
  await eventually('the new certificate', async () => (await nameAt(https)) === 'new.example.test');
  t.is(await nameAt(port(node, 'imaps')), 'new.example.test');

  const sent = await fetch(`${url}/api/outbound/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      fromAddress: 'alice@example.test',
      subject: 'Over TLS',
      textBody: 'Hello.',
      recipients: [{ address: 'alice@example.test', type: 'To' }],
    }),
  });
  t.true(sent.ok, await sent.text());
  await arrived;
  await hub.stop();
  t.is((await node.stop()).code, 0);
});
