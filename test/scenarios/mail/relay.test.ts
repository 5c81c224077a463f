// Tests mail out through a smart host over a whole node: a wrong password makes mail wait and is seen, the right one sends it, and no command
// shows a password.
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { createAccount, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { selfSigned } from '../../../src/node/tls/tls-certificate.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { mansio } from '../../support/command.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';
import type { Shown } from './outbound-remotes.js';

const [WRONG, RIGHT] = ['an-old-secret', 'the-new-secret'];

test('mail waits while a smart host refuses the password, and leaves when it is mended', async (t) => {
  const directory = temporaryDirectory();
  const files = await selfSigned(directory, 'smtp.relay.test', pino({ level: 'silent' }));
  const port = await freePort();
  const relay = await startRemoteSmtp('127.0.1.20', port, {
    tls: { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') },
    wantsLogin: true,
    behaviour: { login: (_user, password) => (password === RIGHT ? undefined : '535 5.7.8 no') },
  });
  const dns = await startDnsServer({ 'smtp.relay.test': { A: ['127.0.1.20'] } });
  t.teardown(async () => {
    await relay.close();
    await dns.close();
  });
  const urlWith = (password: string) => `smtp://joe:${password}@smtp.relay.test:${port}`;
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_BACKOFF_BASE_MS: '300',
    MANSIO_OUTBOUND_BACKOFF_CAP_MS: '600',
    MANSIO_OUTBOUND_MAX_RETRIES: '1000',
    MANSIO_OUTBOUND_POLL_MS: '100',
    MANSIO_RELAY_URL: urlWith(WRONG),
    NODE_EXTRA_CA_CERTS: files.cert,
  });
  const sql = await storeOf(node);
  const user = await createAccount(sql, 'ann@example.test');
  await sql.end();
  const client = new MailboxClient(node, user.key);
  const recipients = [{ address: 'bob@remote.test', type: 'To' }];
  const message = { fromAddress: user.email, recipients, subject: 'Hello', textBody: 'Hello.' };
  const sent = (await (await client.request('POST', '/api/outbound/send', message)).json()) as { readonly id: string };
  const shown = () => client.get<Shown>(`/api/outbound/${sent.id}`);
  const refusal = 'the smart host smtp.relay.test refuses the credentials: 535 5.7.8 no';
  // Between two attempts it is queued.
  await eventually('the refusal to be told', async () => {
    const {
      status,
      recipients: [recipient],
    } = await shown();
    return recipient!.lastError === refusal && status === 'Queued';
  });
  const health = await (await fetch(`http://${node.ready.listeners['http']}/healthz`)).text();
  const relayCheck = JSON.parse(health).checks.find(({ name }: { name: string }) => name === 'relay');
  t.like(relayCheck, { status: 'Degraded', data: { refusing: 1 } });

  const command = async (...args: string[]) => mansio(node.dataDir, [...args, '--json']);
  const unknown = await command('domain', 'relay', 'other.test', 'direct');
  t.deepEqual([unknown.code, unknown.stderr], [1, 'error: not a hosted domain: other.test\n']);
  const bad = await command('domain', 'relay', 'example.test', `http://joe:${RIGHT}@x`);
  t.is(bad.code, 1);
  t.regex(bad.stderr, /^error: not a smart host: it is a URL such as smtps:/);
  const set = await command('domain', 'relay', 'example.test', urlWith(RIGHT));
  const hidden = `smtp://joe:[hidden]@smtp.relay.test:${port}`;
  t.deepEqual(JSON.parse(set.stdout), { name: 'example.test', relay: hidden });
  const show = await command('domain', 'show', 'example.test');
  t.is(JSON.parse(show.stdout).relay, hidden);
  t.true(
    JSON.parse(show.stdout).notes.some((note: string) => note.startsWith('SPF: mail leaves through smtp.relay.test')),
  );
  await eventually('the mail to leave', async () => (await shown()).status === 'Sent');
  t.deepEqual(
    relay.messages.map(({ sender, recipients }) => [sender, ...recipients]),
    [['ann@example.test', 'bob@remote.test']],
  );
  const config = await command('config');
  const timeline = await client.get<readonly { readonly reply: string }[]>(`/api/outbound/${sent.id}/timeline`);
  t.is(timeline[0]!.reply, refusal);
  const everything = JSON.stringify([health, bad, set, show, config, timeline, node.logs]);
  for (const secret of [WRONG, RIGHT]) t.false(everything.includes(secret));
  t.is((await node.stop()).code, 0);
});
