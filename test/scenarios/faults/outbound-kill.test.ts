// Kills a node (kill -9) at random moments with 200 emails in flight: every acknowledged email ends as it should, every recipient
// gets it, and only those under way at a kill may arrive twice.
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { createAccount, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { type DnsServer, startDnsServer } from '../../../dev/servers/dns-server.js';
import { KILLS } from '../../support/amounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';

const IN_FLIGHT = 200;
const SENDERS = 8;
/** The maximum of a node's connections to other servers, so of transactions that a kill interrupts. */
const TRANSACTIONS = 100;
const DOMAINS = ['plain.test', 'slow.test', 'grey.test'];

interface Arrival {
  readonly subject: string;
  readonly recipient: string;
  /** The number of kills before the sending node started. */
  readonly round: number;
}

interface Recipient {
  readonly address: string;
  readonly type: 'To' | 'Cc' | 'Bcc';
}

interface Shown {
  readonly status: string;
  readonly recipients: readonly { readonly address: string; readonly status: string }[];
}

test('kills with 200 emails in flight lose nothing, and repeat only what was under way', async (t) => {
  t.timeout(600_000);
  let round = 0;
  const arrivals: Arrival[] = [];
  const remotes = await startRemotes(
    () => round,
    (subject, recipient, of) => arrivals.push({ subject, recipient, round: of }),
  );
  t.teardown(() => remotes.close());
  const settings = {
    MANSIO_DATA_DIR: await preparedDirectory('mansio-outbound-kill-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: 'warn',
    MANSIO_OUTBOUND_DNS: remotes.dns.address,
    MANSIO_OUTBOUND_PORT: String(remotes.port),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_OUTBOUND_BACKOFF_BASE_MS: '100',
    MANSIO_OUTBOUND_BACKOFF_CAP_MS: '1000',
    MANSIO_OUTBOUND_POLL_MS: '200',
  };
  let node = await startTestNode(settings);
  const sql = await storeOf(node);
  const senders = await Promise.all([1, 2, 3].map((i) => createAccount(sql, `sender${i}@example.test`)));
  const neighbour = await createAccount(sql, 'neighbour@example.test');
  await sql.end();
  /** Acknowledged emails by id. */
  const sent = new Map<string, { subject: string; sender: TestAccount; recipients: readonly Recipient[] }>();
  let number = 0;

  async function fill(running: TestNode): Promise<void> {
    const room = IN_FLIGHT - (await inFlight(running, senders));
    let left = Math.max(20, room);
    const send = async () => {
      while (left-- > 0) {
        const n = ++number;
        const sender = senders[n % senders.length]!;
        const subject = `outbound ${n}`;
        const recipients = recipientsOf(n);
        const body = { fromAddress: sender.email, subject, textBody: `text ${n}`, recipients };
        const response = await new MailboxClient(running, sender.key).request('POST', '/api/outbound/send', body);
        // A node that has just started may have no time for it yet.
        if (response.status === 503) {
          left++;
          await response.arrayBuffer();
          await new Promise((resolve) => setTimeout(resolve, 50));
          continue;
        }
        if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
        sent.set(((await response.json()) as { id: string }).id, { subject, sender, recipients });
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
  }

  while (round < KILLS.outbound) {
    // In every other round the kill comes while emails are still submitted.
    const filling = fill(node);
    if (round % 2 === 1) await filling;
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 400));
    await node.kill('SIGKILL');
    // Count before the next node starts, which delivers before it is ready.
    round++;
    await Promise.allSettled([filling]);
    node = await startTestNode(settings);
  }
  await until(async () => (await inFlight(node, senders)) === 0);
  // The last start places mail for one second; hosted recipients get the rest afterwards.
  const store = await storeOf(node);
  await until(async () => (await store`select 1 from inbound`).length === 0);
  await store.end();

  // Every acknowledged email ended as it should.
  for (const [id, { subject, sender, recipients }] of sent) {
    const shown = await new MailboxClient(node, sender.key).get<Shown>(`/api/outbound/${id}`);
    const fails = recipients.some(({ address }) => address.startsWith('bad'));
    t.is(shown.status, fails ? 'Failed' : 'Sent', subject);
    for (const { address, status } of shown.recipients) {
      t.is(status, address.startsWith('bad') ? 'Failed' : 'Delivered', `${subject} to ${address}`);
    }
  }
  // Nothing was lost.
  const copies = new Map<string, Arrival[]>();
  for (const arrival of arrivals) {
    const key = `${arrival.subject} ${arrival.recipient}`;
    copies.set(key, [...(copies.get(key) ?? []), arrival]);
  }
  const remote = [...sent.values()].flatMap(({ subject, recipients }) =>
    recipients
      .filter(({ address }) => !/^bad|@example\.test$/.test(address))
      .map(({ address }) => `${subject} ${address}`),
  );
  t.deepEqual(
    remote.filter((key) => !copies.has(key)),
    [],
    'lost',
  );
  // An email that arrived twice was under way at a kill: it came once in that round, and again later.
  const again = new Map<number, number>();
  for (const [key, all] of copies) {
    t.is(new Set(all.map((arrival) => arrival.round)).size, all.length, `${key} came twice in one round`);
    for (const { round: before } of all.slice(0, -1)) again.set(before, (again.get(before) ?? 0) + 1);
  }
  for (const [before, count] of again) {
    t.true(count <= TRANSACTIONS, `${count} came again after kill ${before}`);
  }
  t.log(
    `${sent.size} emails, ${remote.length} remote recipients, ${[...again.values()].reduce((a, b) => a + b, 0)} came twice`,
  );

  // Hosted recipients get a copy once; each failed email has one DSN, and each email one copy in Sent.
  const inside = count((await new MailboxClient(node, neighbour.key).inbox()).map(({ subject }) => subject));
  for (const { subject, recipients } of sent.values()) {
    const wanted = recipients.some(({ address }) => address === neighbour.email) ? 1 : 0;
    t.is(inside.get(subject) ?? 0, wanted, `${subject} inside`);
  }
  for (const sender of senders) {
    const own = [...sent.values()].filter((each) => each.sender === sender);
    const client = new MailboxClient(node, sender.key);
    const failed = own.filter(({ recipients }) => recipients.some(({ address }) => address.startsWith('bad')));
    await until(async () => (await client.inbox()).length >= failed.length);
    const reports = (await client.inbox()).map(({ subject }) => subject);
    t.is(new Set(reports).size, reports.length, 'a failure is reported once');
    const unknown = reports.length - failed.length;
    // These are emails whose acknowledgement was cut off by a kill.
    t.true(unknown >= 0 && unknown <= KILLS.outbound * SENDERS);
    const { totalCount } = await client.get<{ totalCount: number }>('/api/emails/sent');
    t.true(totalCount >= own.length && totalCount <= own.length + KILLS.outbound * SENDERS);
  }
  await node.stop();
});

function recipientsOf(n: number): Recipient[] {
  const recipients: Recipient[] = [{ address: `to${n}@${DOMAINS[n % DOMAINS.length]}`, type: 'To' }];
  if (n % 3 === 0) recipients.push({ address: `cc${n}@${DOMAINS[(n + 1) % DOMAINS.length]}`, type: 'Cc' });
  if (n % 5 === 0) recipients.push({ address: `bad${n}@${DOMAINS[0]}`, type: 'Bcc' });
  if (n % 4 === 0) recipients.push({ address: 'neighbour@example.test', type: 'Cc' });
  return recipients;
}

async function inFlight(node: TestNode, senders: readonly TestAccount[]): Promise<number> {
  let total = 0;
  for (const { key } of senders) {
    const outbox = new MailboxClient(node, key).getPatiently<{ totalCount: number }>('/api/outbound/outbox');
    const { totalCount } = await outbox;
    total += totalCount;
  }
  return total;
}

function count(subjects: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const subject of subjects) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  return counts;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Starts a server per domain on loopback addresses: one is slow, one refuses every recipient the first time. */
async function startRemotes(
  roundNow: () => number,
  arrived: (subject: string, recipient: string, round: number) => void,
): Promise<{ readonly dns: DnsServer; readonly port: number; close(): Promise<void> }> {
  const port = await freePort();
  const known = new Set<string>();
  /** Rounds by connection: a killed node sends nothing on a new one. */
  const rounds = new Map<string, number>();
  const servers = DOMAINS.map((domain, i) => {
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      onConnect({ id }, done) {
        rounds.set(id, roundNow());
        done();
      },
      onRcptTo({ address }, session, done) {
        if (address.startsWith('bad')) return done(refusal(550, '5.1.1 no such user'));
        const key = `${address} ${session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address}`;
        if (domain === 'grey.test' && !known.has(key)) {
          known.add(key);
          return done(refusal(451, '4.7.1 come back later'));
        }
        done();
      },
      onData(stream, session, done) {
        const pieces: Buffer[] = [];
        stream.on('data', (piece: Buffer) => pieces.push(piece));
        stream.on('end', () => {
          const subject = /^Subject: (.*)$/im.exec(Buffer.concat(pieces).toString())?.[1]?.trim() ?? '?';
          setTimeout(
            () => {
              for (const { address } of session.envelope.rcptTo) arrived(subject, address, rounds.get(session.id)!);
              done();
            },
            domain === 'slow.test' ? Math.random() * 200 : 0,
          );
        });
      },
    });
    server.on('error', () => undefined);
    server.listen(port, `127.0.0.${20 + i}`);
    return server;
  });
  await Promise.all(servers.map(({ server }) => (server.listening ? undefined : once(server, 'listening'))));
  const dns = await startDnsServer(
    Object.fromEntries(
      DOMAINS.flatMap((domain, i) => [
        [domain, { MX: [[10, `mx.${domain}`]] as const }],
        [`mx.${domain}`, { A: [`127.0.0.${20 + i}`] }],
      ]),
    ),
  );
  return {
    dns,
    port,
    async close() {
      await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
      await dns.close();
    },
  };
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
