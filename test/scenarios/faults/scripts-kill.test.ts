// Kills a node (kill -9) while a script sends mail on with an edited header, answers it, refuses it, and finds duplicates: each effect of a
// message whose acceptance was told is there once, and no effect of any message is there twice.
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
const ADDRESS = '127.0.3.11';
const ROUNDS_BEFORE_A_KILL = 4;
const SCRIPT = `require ["copy", "vacation", "reject", "duplicate", "editheader", "variables"];
if header :matches "subject" "on *" {
  deleteheader "Subject"; addheader "Subject" "edited \${1}"; redirect :copy "${TARGET}"; stop;
}
if header :contains "subject" "away" { vacation "I am away."; stop; }
if header :contains "subject" "no" { reject "No."; stop; }
if duplicate { discard; }
`;

/** What each kind of message leaves: an email by its subject, and outbound emails by their recipient. */
const EFFECTS: Readonly<Record<string, (name: string) => readonly string[]>> = {
  on: (name) => [`kept edited ${name}`, `sent ${TARGET} edited ${name}`],
  away: (name) => [`kept away ${name}`, `sent away-${name}@peer.test`],
  no: (name) => [`sent no-${name}@peer.test`],
  twice: (name) => [`kept twice ${name}`],
};

test('kills while a script acts on mail lose no effect, and none happens twice', async (t) => {
  t.timeout(600_000);
  const remotePort = await freePort();
  const remote = await startRemoteSmtp(ADDRESS, remotePort);
  const dns = await startDnsServer({
    'far.test': { MX: [[10, 'mx.far.test']] },
    'peer.test': { MX: [[10, 'mx.far.test']] },
    'mx.far.test': { A: [ADDRESS] },
  });
  const settings = {
    MANSIO_DATA_DIR: await preparedDirectory('mansio-scripts-kill-'),
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
  const client = new MailboxClient(node, key);
  t.is((await client.request('PUT', '/api/sieve/main', { content: SCRIPT, isActive: true })).status, 204);

  const accepted: string[] = [];
  for (let kill = 1; kill <= KILLS.scripts; kill++) {
    await fill(node, email, accepted, kill);
    await node.kill('SIGKILL');
    node = await startTestNode(settings);
  }
  const sql = await storeOf(node);
  const unsettled = async () => {
    const [row] = await sql<{ count: number }[]>`
      select (select count(*) from inbound) + (select count(*) from due_automatic_mail)
        + (select count(*) from outbound where status <> 'Sent') as count`;
    return Number(row!.count);
  };
  await eventually('the end of everything that is due', async () => (await unsettled()) === 0);
  const rows = await sql<{ effect: string; count: number }[]>`
    select effect, count(*)::int as count from (
      select 'kept ' || subject as effect from emails where account_id = ${id}
      union all
      select 'sent ' || r.address || case when r.address = ${TARGET} then ' ' || o.subject else '' end
      from outbound_recipients r join outbound o on o.account_id = r.account_id and o.id = r.outbound_id
      where r.account_id = ${id}) effects group by effect`;
  await sql.end();
  t.deepEqual(
    rows.filter(({ count }) => count !== 1),
    [],
    'each effect happens once',
  );
  const found = new Set(rows.map(({ effect }) => effect));
  const expected = new Set(accepted);
  t.true(expected.size > 0);
  t.deepEqual(
    [...expected].filter((effect) => !found.has(effect)),
    [],
  );
  t.deepEqual(
    [...found].filter((effect) => !expected.has(effect) && !effect.includes('doubtful')),
    [],
    'nothing else happens',
  );
});

/** Sends messages of each kind until the node is about to be killed; adds the effects of those that were accepted. */
async function fill(node: TestNode, to: string, accepted: string[], kill: number): Promise<void> {
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const send = (kind: string, name: string) => {
    const from = `${kind}-${name}@peer.test`;
    const id = `Message-ID: <${kind}-${name}@peer.test>`;
    return smtp.send(from, [to], `From: ${from}\r\nTo: ${to}\r\nSubject: ${kind} ${name}\r\n${id}\r\n\r\nhello`);
  };
  const kinds = Object.keys(EFFECTS);
  const most = 1 + Math.floor(Math.random() * ROUNDS_BEFORE_A_KILL);
  for (let n = 0; n < most; n++) {
    for (const kind of [...kinds, 'twice']) {
      const name = `${kill}-${n}`;
      const { code } = await send(kind, name);
      if (code === 250) accepted.push(...EFFECTS[kind]!(name));
    }
  }
  // The kill meets one more message on its way.
  void send(kinds[kill % kinds.length]!, `${kill}-doubtful`).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
}
