// Kills nodes of a cluster of three (kill -9) while mail arrives that vacations answer and accounts forward, and while emails are deleted:
// every sender whose mail was accepted gets one answer of each account, each accepted message is forwarded once, with one copy or none, and
// the use of each quota is what counting the emails gives.
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { type RemoteMessage, startRemoteSmtp } from '../../../dev/servers/remote-smtp.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresQuotas } from '../../../src/store/postgres/accounts/quotas.js';
import { KILLS } from '../../support/amounts.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { testWith } from '../../support/test-with.js';
import { startCluster, type TestCluster } from '../cluster/support/cluster.js';
import { eventually } from '../cluster/support/eventually.js';

const ADDRESS = '127.0.3.9';
const LANES = 3;
const SENDERS_BETWEEN_KILLS = 10;
const QUOTA_BYTES = 50_000_000;
/** The accounts that forward, by their index, and where to. */
const WITH_COPY = 2;
const WITHOUT_COPY = 3;
const targetOf = (index: number) => `user${index}@far.test`;

testWith('nats-server')('kills lose and repeat no answer and no forward, and no quota drifts', async (t) => {
  t.timeout(600_000);
  const port = await freePort();
  const remote = await startRemoteSmtp(ADDRESS, port);
  t.teardown(() => remote.close());
  const dns = await startDnsServer({
    'peer.test': { MX: [[10, 'mx.peer.test']] },
    'far.test': { MX: [[10, 'mx.peer.test']] },
    'mx.peer.test': { A: [ADDRESS] },
  });
  t.teardown(() => dns.close());
  const cluster = await startCluster(t, {
    accounts: 4,
    settings: {
      // Forwards have the limits of their account: no message of the load may be beyond one.
      MANSIO_SEND_LIMIT_HOUR: '100000',
      MANSIO_SEND_LIMIT_DAY: '100000',
      MANSIO_OUTBOUND_DNS: dns.address,
      MANSIO_OUTBOUND_PORT: String(port),
      MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
      MANSIO_OUTBOUND_BACKOFF_BASE_MS: '100',
      MANSIO_OUTBOUND_POLL_MS: '200',
    },
  });
  const { accounts, nodes, sql } = cluster;
  await cluster.settled();
  for (const { id, key } of accounts) {
    const vacation = { isEnabled: true, textBody: 'I am away.' };
    t.is((await ask(cluster, key, 'PUT', '/api/vacation', vacation))?.status, 204);
    await postgresQuotas(sql).setAccount(id, { bytes: QUOTA_BYTES });
  }
  for (const index of [WITH_COPY, WITHOUT_COPY]) {
    const { id, key } = accounts[index]!;
    await postgresDirectory(sql, 256).addAddress(id, targetOf(index), true);
    const forwarding = { isEnabled: true, address: targetOf(index), keepCopy: index === WITH_COPY };
    t.is((await ask(cluster, key, 'PUT', '/api/forwarding', forwarding))?.status, 204);
  }

  const load = startLoad(cluster);
  t.teardown(() => load.stop());
  const { accepted } = load;
  for (let kill = 0; kill < KILLS.clusterPeople; kill++) {
    const before = accepted.size;
    await eventually('mail to be accepted', () => accepted.size >= before + SENDERS_BETWEEN_KILLS);
    const victim = nodes[kill % nodes.length]!;
    await delay(Math.random() * 100);
    await victim.kill();
    const atKill = accepted.size;
    await eventually('mail to go on', () => accepted.size > atKill);
    await victim.start();
  }
  await load.stop();
  await cluster.settled();

  const expected = [...accepted].flatMap((sender) => accounts.map(({ email }) => `${email} ${sender}`));
  const arrived = () =>
    new Set(
      remote.messages.map(({ recipients, text }) => `${/^From: .*?([\w.]+@[\w.]+)/m.exec(text)?.[1]} ${recipients[0]}`),
    );
  await eventually('every answer', () => {
    const answers = arrived();
    return expected.every((answer) => answers.has(answer));
  });
  await eventually('the end of everything that is due', async () => {
    const [row] = await sql<{ count: number }[]>`
      select ((select count(*) from due_automatic_mail) + (select count(*) from inbound)
        + (select count(*) from outbound where status <> 'Sent'))::int as count`;
    return row!.count === 0;
  });
  const repeated = await sql`
    select a.email, r.address, count(*)::int from outbound_recipients r join accounts a on a.id = r.account_id
    where r.address not like '%@far.test' group by 1, 2 having count(*) > 1`;
  t.deepEqual([...repeated], [], 'each answer is queued once');
  t.true(load.deleted > 0);
  await forwardsAreExact(t, cluster, [...load.subjects], remote.messages);
  await quotasAreExact(t, cluster);
});

/**
 * Compares what is queued for the target with the accepted subjects and with the copies. A message whose reply a kill has cut off may have
 * been accepted: it is forwarded once, or not there at all.
 */
async function forwardsAreExact(
  t: Parameters<typeof startCluster>[0],
  cluster: TestCluster,
  accepted: readonly string[],
  atRemote: readonly RemoteMessage[],
): Promise<void> {
  const { sql, accounts } = cluster;
  for (const index of [WITH_COPY, WITHOUT_COPY]) {
    const { id, email } = accounts[index]!;
    const queued = await sql<{ subject: string }[]>`
      select o.subject from outbound o join outbound_recipients r on r.account_id = o.account_id and r.outbound_id = o.id
      where o.account_id = ${id} and r.address = ${targetOf(index)} order by 1`;
    const copies = await sql<{ subject: string }[]>`select subject from emails where account_id = ${id} order by 1`;
    const subjects = queued.map(({ subject }) => subject);
    t.is(new Set(subjects).size, subjects.length, `each message for ${email} is forwarded once`);
    const missing = accepted.filter((subject) => !subjects.includes(subject));
    t.deepEqual(missing, [], `each accepted message for ${email} is forwarded`);
    const arrived = atRemote.filter(({ recipients }) => recipients.includes(targetOf(index)));
    const subjectsThere = new Set(arrived.map(({ text }) => /^Subject: (.*?)\r?$/m.exec(text)?.[1]));
    t.deepEqual([...subjectsThere].toSorted(), subjects.toSorted(), `what the target got for ${email}`);
    const kept = copies.map(({ subject }) => subject);
    t.deepEqual(kept, index === WITH_COPY ? subjects : [], `the copies of ${email}`);
  }
}

/** Compares the use that each row has, and the one that a node tells, with a count of the emails. */
async function quotasAreExact(t: Parameters<typeof startCluster>[0], cluster: TestCluster): Promise<void> {
  const counted = await cluster.sql<
    { id: string; bytes: number; messages: number; rowBytes: number; rowMessages: number }[]
  >`
    select a.id, coalesce(sum(e.size), 0)::int as bytes, count(e.id)::int as messages,
      a.used_bytes::int as "rowBytes", a.used_messages::int as "rowMessages"
    from accounts a left join emails e on e.account_id = a.id
    where a.used_modseq = a.modseq group by a.id`;
  t.is(counted.length, cluster.accounts.length, 'every row has the use of its last commit');
  for (const { id, bytes, messages, rowBytes, rowMessages } of counted) {
    t.deepEqual({ rowBytes, rowMessages }, { rowBytes: bytes, rowMessages: messages });
    const { key } = cluster.accounts.find((account) => account.id === id)!;
    const response = await ask(cluster, key, 'GET', '/api/quota');
    t.like(await response?.json(), { bytes: { used: bytes, limit: QUOTA_BYTES }, messages: { used: messages } });
  }
}

/** Undefined when no running node answers. */
async function ask(
  { nodes }: Pick<TestCluster, 'nodes'>,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response | undefined> {
  for (const node of nodes.filter(({ running }) => running)) {
    const response = await fetch(node.http + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    if (response !== undefined && response.status < 500) return response;
  }
  return undefined;
}

/**
 * Sends mail of one sender after the other to all accounts, over all nodes, and deletes some of it where nothing is forwarded. Each attempt
 * to send has a subject of its own, `subjects` are those of the accepted ones.
 */
function startLoad(cluster: TestCluster) {
  const accepted = new Set<string>();
  const subjects = new Set<string>();
  let deleted = 0;
  let isOver = false;
  const mail = async (lane: number) => {
    for (let n = 0; !isOver; n++) {
      const sender = `lane-${lane}-${n}@peer.test`;
      for (let turn = lane + n; !isOver && !accepted.has(sender); turn++) {
        const node = cluster.nodes[turn % cluster.nodes.length]!;
        const subject = `hello ${sender} ${turn}`;
        const isAccepted = node.running && (await sendOnce(node.mx, sender, subject, cluster));
        if (isAccepted) {
          accepted.add(sender);
          subjects.add(subject);
        } else await delay(50);
      }
    }
  };
  const cleaning = async () => {
    for (let n = 0; !isOver; n++) {
      const { key } = cluster.accounts[n % WITH_COPY]!;
      const listed = await ask(cluster, key, 'GET', '/api/emails?page=1&pageSize=1');
      const { items = [] } = ((await listed?.json().catch(() => undefined)) ?? {}) as { items?: { id: string }[] };
      const answer = items[0] && (await ask(cluster, key, 'DELETE', `/api/emails/${items[0].id}`));
      if (answer?.ok === true) deleted++;
      await delay(20);
    }
  };
  const work = Promise.all([cleaning(), ...Array.from({ length: LANES }, (_, lane) => mail(lane))]);
  return {
    accepted,
    subjects,
    get deleted() {
      return deleted;
    },
    async stop() {
      isOver = true;
      await work;
    },
  };
}

/** Whether the node has accepted the message; what it has not acknowledged is sent again, by the same sender. */
async function sendOnce(
  mx: string,
  sender: string,
  subject: string,
  { accounts }: Pick<TestCluster, 'accounts'>,
): Promise<boolean> {
  try {
    const smtp = await SmtpClient.greeted(mx);
    try {
      const to = accounts.map(({ email }) => email);
      const text = `From: ${sender}\r\nTo: ${to.join(', ')}\r\nSubject: ${subject}\r\n\r\nhello`;
      for (const command of [`MAIL FROM:<${sender}>`, ...to.map((address) => `RCPT TO:<${address}>`)])
        if ((await smtp.command(command)).code !== 250) return false;
      await smtp.command('DATA');
      smtp.write(`${text}\r\n.\r\n`);
      return (await smtp.reply()).code === 250;
    } finally {
      smtp.destroy();
    }
  } catch {
    return false;
  }
}
