// Kills a node (kill -9) while mail arrives that is forwarded without a copy: each accepted message is queued for its target exactly once,
// the target gets it, and nothing is left in the inbox or due. A transaction that a kill interrupts may be repeated (RFC 5321 §4.5.4.1).
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { KILLS } from '../../support/amounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const TARGET = 'me@far.test';
const ADDRESS = '127.0.3.7';
const MESSAGES_BEFORE_A_KILL = 12;

test('kills while mail is forwarded lose none, and queue none twice', async (t) => {
  t.timeout(600_000);
  const remotePort = await freePort();
  const remote = await startRemoteSmtp(ADDRESS, remotePort);
  const dns = await startDnsServer({ 'far.test': { MX: [[10, 'mx.far.test']] }, 'mx.far.test': { A: [ADDRESS] } });
  const settings = {
    MANSIO_DATA_DIR: await preparedDirectory('mansio-forwarding-kill-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: 'warn',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(remotePort),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_OUTBOUND_BACKOFF_BASE_MS: '100',
    MANSIO_OUTBOUND_POLL_MS: '200',
  };
  let node = await startTestNode(settings);
  t.teardown(async () => {
    await node.stop();
    await remote.close();
    await dns.close();
  });
  const first = await storeOf(node);
  const { id, email, key } = await createAccount(first, 'ann@example.test');
  await postgresDirectory(first, 256).addAddress(id, TARGET, true);
  await first.end();
  const forwarding = { isEnabled: true, address: TARGET, keepCopy: false };
  const put = await new MailboxClient(node, key).request('PUT', '/api/forwarding', forwarding);
  t.is(put.status, 204, await put.text());

  const accepted: string[] = [];
  let doubtful = 0;
  for (let kill = 1; kill <= KILLS.forwarding; kill++) {
    doubtful += await fill(node, email, accepted, kill);
    await node.kill('SIGKILL');
    node = await startTestNode(settings);
  }
  const subjectsAtRemote = () => remote.messages.map(({ text }) => /^Subject: (.*?)\r?$/m.exec(text)?.[1] ?? '');
  await eventually('every accepted message', () => accepted.every((subject) => subjectsAtRemote().includes(subject)));
  const sql = await storeOf(node);
  const unsettled = async () => {
    const [row] = await sql<{ count: number }[]>`
      select (select count(*) from inbound) + (select count(*) from due_automatic_mail)
        + (select count(*) from outbound where status <> 'Sent') as count`;
    return Number(row!.count);
  };
  await eventually('the end of every forward', async () => (await unsettled()) === 0);
  const rows = await sql<{ subject: string; count: number }[]>`
    select subject, count(*)::int as count from outbound where account_id = ${id} group by subject`;
  const [emails] = await sql<{ count: number }[]>`select count(*)::int from emails where account_id = ${id}`;
  await sql.end();
  t.true(
    rows.every(({ count }) => count === 1),
    'each is queued once',
  );
  const queued = rows.map(({ subject }) => subject);
  t.deepEqual(
    accepted.filter((subject) => !queued.includes(subject)),
    [],
  );
  t.true(queued.length <= accepted.length + doubtful, 'nothing else is queued');
  t.is(emails!.count, 0, 'no copy is left');
});

/** Sends messages until the node is about to be killed; returns the number of those whose reply is unknown. */
async function fill(node: TestNode, to: string, accepted: string[], kill: number): Promise<number> {
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const most = 1 + Math.floor(Math.random() * MESSAGES_BEFORE_A_KILL);
  for (let n = 0; n < most; n++) {
    const subject = `kill ${kill} message ${n}`;
    const { code } = await smtp.send('a@peer.test', [to], `From: a@peer.test\r\nSubject: ${subject}\r\n\r\nhello`);
    if (code === 250) accepted.push(subject);
  }
  // The kill meets one more message on its way.
  void smtp
    .send('a@peer.test', [to], `From: a@peer.test\r\nSubject: kill ${kill} doubtful\r\n\r\nhello`)
    .catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
  return 1;
}
