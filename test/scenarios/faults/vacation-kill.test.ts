// Kills a node (kill -9) while mail arrives that a vacation answers: every sender whose mail was accepted gets an answer, which is queued
// exactly once, although each writes twice and the kills fall between mail and answer.
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { KILLS } from '../../support/amounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const ADDRESS = '127.0.3.8';
const SENDERS_BEFORE_A_KILL = 8;

test('kills while mail is answered lose no answer, and queue none twice', async (t) => {
  t.timeout(600_000);
  const remotePort = await freePort();
  const remote = await startRemoteSmtp(ADDRESS, remotePort);
  const dns = await startDnsServer({ 'peer.test': { MX: [[10, 'mx.peer.test']] }, 'mx.peer.test': { A: [ADDRESS] } });
  const settings = {
    MANSIO_DATA_DIR: await preparedDirectory('mansio-vacation-kill-'),
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
  await first.end();
  const vacation = { isEnabled: true, textBody: 'I am away.' };
  t.is((await new MailboxClient(node, key).request('PUT', '/api/vacation', vacation)).status, 204);

  const accepted: string[] = [];
  for (let kill = 1; kill <= KILLS.vacation; kill++) {
    await fill(node, email, accepted, kill);
    await node.kill('SIGKILL');
    node = await startTestNode(settings);
  }
  const answered = () => new Set(remote.messages.flatMap(({ recipients }) => recipients));
  await eventually('every answer', () => accepted.every((sender) => answered().has(sender)));
  const sql = await storeOf(node);
  const unsettled = async () => {
    const [row] = await sql<{ count: number }[]>`
      select (select count(*) from inbound) + (select count(*) from due_automatic_mail)
        + (select count(*) from outbound where status <> 'Sent') as count`;
    return Number(row!.count);
  };
  await eventually('the end of everything that is due', async () => (await unsettled()) === 0);
  const rows = await sql<{ address: string; count: number }[]>`
    select address, count(*)::int as count from outbound_recipients where account_id = ${id} group by address`;
  const [remembered] = await sql<{ count: number }[]>`
    select count(*)::int from vacation_answered where account_id = ${id}`;
  await sql.end();
  t.deepEqual(
    rows.filter(({ count }) => count !== 1),
    [],
    'each answer is queued once',
  );
  t.is(remembered!.count, rows.length, 'the commit that queues an answer remembers the sender');
});

/** Sends two messages of each of several senders until the node is about to be killed. */
async function fill(node: TestNode, to: string, accepted: string[], kill: number): Promise<void> {
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const message = (sender: string) => `From: ${sender}\r\nTo: ${to}\r\nSubject: hello\r\n\r\nhello`;
  const most = 1 + Math.floor(Math.random() * SENDERS_BEFORE_A_KILL);
  for (let n = 0; n < most; n++) {
    const sender = `kill-${kill}-${n}@peer.test`;
    for (let i = 0; i < 2; i++) {
      const { code } = await smtp.send(sender, [to], message(sender));
      if (code === 250 && i === 0) accepted.push(sender);
    }
  }
  // The kill meets one more message on its way.
  const doubtful = `kill-${kill}-doubtful@peer.test`;
  void smtp.send(doubtful, [to], message(doubtful)).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
}
