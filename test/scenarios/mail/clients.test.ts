// Tests what a whole node does with clients by their address: DNS block lists at RCPT and for Junk, and greylisting of doubtful mail.
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer, type Zone } from '../../../dev/servers/dns-server.js';
import { GREYLIST_DELAY_MS } from '../../../src/store/traces/greylist.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { answers, startScriptedRspamd } from '../../support/peers/scripted-rspamd.js';
import { v1 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

const REFUSED = '192.0.2.9';
const JUNK = '192.0.2.10';
const NAMELESS = '198.51.100.7';
const NAMED = '203.0.113.7';
const OTHER_NAMED = '203.0.112.7';

const NAME: Zone = { PTR: ['mail.peer.test'] };
const ZONES: Record<string, Zone> = {
  '9.2.0.192.bl.test': { A: ['127.0.0.2'] },
  '10.2.0.192.junk.test': { A: ['127.0.0.2'] },
  '9.2.0.192.in-addr.arpa': NAME,
  '10.2.0.192.in-addr.arpa': NAME,
  '7.113.0.203.in-addr.arpa': NAME,
  '7.112.0.203.in-addr.arpa': NAME,
  'big.test': { TXT: ['v=spf1 ip4:203.0.113.0/24 ip4:203.0.112.0/24 -all'] },
};

/** Connects as this address, which the node learns from its balancer. */
async function connectAs(node: TestNode, address: string, gateway: 'mx' | 'submission' = 'mx'): Promise<SmtpClient> {
  const client = await SmtpClient.connect(`127.0.0.1:${port(node, gateway)}`);
  client.write(v1(address));
  await client.reply();
  await client.command('EHLO client.test');
  return client;
}

test('clients in block lists are refused or their mail is junk, and doubtful mail waits for a retry', async (t) => {
  const [dns, rspamd, metricsPort] = [await startDnsServer(ZONES), await startScriptedRspamd(t), await freePort()];
  t.teardown(() => dns.close());
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_DNS: dns.address,
    MANSIO_PROXY_NETWORKS: '127.0.0.1',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    MANSIO_DNSBL: 'bl.test, junk.test=junk',
    MANSIO_GREYLIST: 'doubtful',
    MANSIO_RSPAMD_URL: rspamd.url,
    MANSIO_METRICS_PORT: String(metricsPort),
  });
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const { email, key } = await createAccount(sql, 'anna@example.test', ['app', 'smtp']);
  const mailbox = new MailboxClient(node, key);
  const send = async (address: string, subject: string, from = 'a@peer.test') => {
    const client = await connectAs(node, address);
    const reply = await client.send(from, [email], `From: ${from}\r\nTo: ${email}\r\nSubject: ${subject}\r\n\r\nhello`);
    return `${reply.code} ${reply.text.split(' ')[0]}`;
  };
  const pass = () =>
    sql`update greylist_waiting set first_at = first_at - ${GREYLIST_DELAY_MS} * interval '1 millisecond'`;

  const refused = await connectAs(node, REFUSED);
  await refused.command('MAIL FROM:<a@peer.test>');
  const { code, text } = await refused.command(`RCPT TO:<${email}>`);
  t.is(`${code} ${text}`, '554 5.7.1 The address of this client is in the block list bl.test');
  t.is((await refused.command('RCPT TO:<postmaster@example.test>')).code, 250);

  const program = await connectAs(node, REFUSED, 'submission');
  await program.command(`AUTH PLAIN ${Buffer.from(`\0${email}\0${key}`).toString('base64')}`);
  t.is((await program.send(email, [email], `From: ${email}\r\nSubject: submitted\r\n\r\nhello`)).code, 250);

  t.is(await send(NAMED, 'named'), '250 2.0.0');
  t.is(await send(JUNK, 'listed'), '451 4.7.1');
  t.is(await send(NAMELESS, 'nameless'), '451 4.7.1');
  t.is(await send(NAMELESS, 'nameless'), '451 4.7.1');
  await pass();
  t.is(await send(JUNK, 'listed'), '250 2.0.0');
  t.is(await send(NAMELESS, 'nameless'), '250 2.0.0');
  t.is(await send('198.51.100.8', 'neighbour', 'b@peer.test'), '250 2.0.0');

  rspamd.answer = answers({ action: 'greylist', score: 5 });
  t.is(await send(NAMED, 'authenticated', 'a@big.test'), '451 4.7.1');
  await pass();
  t.is(await send(OTHER_NAMED, 'authenticated', 'a@big.test'), '250 2.0.0');
  t.is(await send(NAMED, 'known domain', 'b@big.test'), '250 2.0.0');

  const subjects = async (folder: string) =>
    (await mailbox.get<EmailList>(`/api/folders/${folder}/emails`)).items.map(({ subject }) => subject).sort();
  const inbox = ['authenticated', 'known domain', 'named', 'nameless', 'neighbour', 'submitted'];
  // A busy node places what it has accepted later.
  await until(async () => (await subjects('inbox')).length >= inbox.length && (await subjects('junk')).length > 0);
  t.deepEqual(await subjects('junk'), ['listed']);
  t.deepEqual(await subjects('inbox'), inbox);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  t.true(metrics.includes('mansio_dnsbl_lookups_total{list="bl.test",outcome="listed"} 1\n'));
  t.true(metrics.includes('mansio_smtp_refused_total{code="5xx",reason="dnsbl"} 1\n'));
  t.true(metrics.includes('mansio_content_checks_total{check="greylist",outcome="defer"} 4\n'));
  t.is((await node.stop()).code, 0);
});
