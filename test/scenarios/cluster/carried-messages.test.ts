// Tests messages for a mailbox of another node: one commit of the owner stores and places each, whichever way it comes. When the owner
// commits too late, or dies after its commit, the message is there once.
import { randomUUID } from 'node:crypto';
import { TesterClient } from '../../../dev/imap-tester/tester-client.js';
import type { ClusterNode } from '../../../dev/local-node.js';
import { createAccount, type TestAccount } from '../../../dev/node-accounts.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { testWith } from '../../support/test-with.js';
import { startCluster, type TestCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';
import { Witness } from './support/witness.js';

/** Notes every inbound row, and lets commits take longer than a gateway waits while they are slow. */
const NOTES = `
  create table noted (is_tried boolean not null, at timestamptz default clock_timestamp());
  create function note() returns trigger language plpgsql as $$
  begin insert into noted (is_tried) values (new.is_tried); return new; end $$;
  create trigger note after insert on inbound for each row execute function note();
  create table slow (is_slow boolean not null);
  insert into slow values (false);
  create function delay() returns trigger language plpgsql as $$
  begin if (select is_slow from slow) then perform pg_sleep(2.5); end if; return new; end $$;
  create trigger delay before update of modseq on accounts for each row execute function delay()`;

const BODY = 'From: zoe@example.test\r\nSubject: ';

testWith('nats-server')(
  'a message for a mailbox of another node is stored and placed by one commit, once',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, {
      nodes: 2,
      accounts: 1,
      leaseTtlMs: PATIENT_TTL_MS,
      settings: { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true', MANSIO_LOG_LEVEL: 'warn' },
    });
    await cluster.settled();
    const { sql } = cluster;
    await sql.unsafe(NOTES);
    const witness = await Witness.create(sql, 'witness', ['app', 'smtp']);
    const { email, key, id } = witness.account;
    const owner = await cluster.ownerOf(witness.account);
    const other = cluster.nodes.find((node) => node !== owner)!;
    const noted = async () => (await sql`select is_tried from noted order by at`).map((row) => row['is_tried']);
    const emails = async (subject: string) => {
      const rows = await sql`
      select e.xmin = b.xmin as together, f.role from emails e join blobs b on b.hash = e.blob
        join placements p on p.account_id = e.account_id and p.email_id = e.id
        join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where e.account_id = ${id} and e.subject = ${subject}`;
      return rows.map(({ together, role }) => [role, together]);
    };
    const rolesOf = async (subject: string) => (await emails(subject)).map(([role]) => role);
    const waiting = async () => (await sql`select 1 from inbound`).length;

    // On a busy machine a message may take longer than a gateway waits: then it is stored first, and placed later.
    const placedAs = (subject: string) =>
      eventually(`${subject} to be placed`, async () => {
        const placed = await emails(subject);
        return placed.length > 0 ? placed : undefined;
      });
    const storedTogether = (role: string, send: (subject: string) => Promise<unknown>) =>
      eventually(`one commit to store and place a message in ${role}`, async () => {
        const subject = randomUUID();
        await send(subject);
        const placed = (await placedAs(subject))!;
        t.deepEqual(
          placed.map(([placedIn]) => placedIn),
          [role],
        );
        return placed[0]![1];
      });
    await storedTogether('inbox', async (subject) => t.is(await witness.send(other, subject), 250));

    const [host, port] = other.imap.split(':') as [string, string];
    const imap = await TesterClient.open({ host, port: Number(port) });
    t.teardown(() => imap.destroy());
    await imap.ok(`LOGIN "${email}" "${key}"`);
    const append = (subject: string) => imap.ok('APPEND Archive ', Buffer.from(`${BODY}${subject}\r\n\r\nx`));
    await storedTogether('archive', append);
    const send = (subject: string) => sendByRest(other, witness, subject);
    await storedTogether('sent', async (subject) => t.is(await send(subject), 200));
    await storedTogether('sent', async (subject) => t.is(await submit(other, witness, subject), 250));

    // A message for two mailboxes of the owner is stored and placed by one commit too.
    const also = await alsoOf(cluster, owner);
    await eventually('one commit for two mailboxes', async () => {
      const subject = randomUUID();
      t.is(await witness.send(other, subject, [also]), 250);
      const rows = await eventually('both to be placed', async () => {
        const found = await sql`select xmin::text, account_id from emails where subject = ${subject}`;
        return found.length >= 2 ? found : undefined;
      });
      t.deepEqual(rows!.map((row) => row['account_id']).sort(), [id, also.id].sort());
      return rows![0]!['xmin'] === rows![1]!['xmin'];
    });
    await sql`delete from noted`;

    // The owner is late: the gateway stores the message as well, and it is placed once.
    await sql`update slow set is_slow = true`;
    t.is(await witness.send(other, 'slow'), 250);
    await eventually('the row to end', async () => (await waiting()) === 0);
    t.deepEqual(await rolesOf('slow'), ['inbox']);
    t.deepEqual(await noted(), [true]);
    await append('slow append');
    t.deepEqual(await rolesOf('slow append'), ['archive']);
    t.is(await send('slow send'), 200);
    t.deepEqual(await rolesOf('slow send'), ['sent']);
    t.is((await sql`select 1 from outbound where subject = 'slow send'`).length, 1);

    // The owner dies during its commit, when the gateway has stored the message too.
    const sending = witness.send(other, 'slow and last');
    await eventually('the row', async () => (await noted()).length === 2);
    await owner.kill();
    await sql`update slow set is_slow = false`;
    t.is(await sending, 250);
    await eventually('the row to end', async () => (await waiting()) === 0);
    t.deepEqual(await rolesOf('slow and last'), ['inbox']);
    t.deepEqual(await noted(), [true, true]);
    await eventually('the next owner', async () => (await cluster.ownerOf(witness.account)) === other);
  },
);

/** Creates accounts until the node owns one of them. */
async function alsoOf(cluster: TestCluster, node: ClusterNode): Promise<TestAccount> {
  for (let i = 0; ; i++) {
    const account = await createAccount(cluster.sql, `also${i}@example.test`);
    if ((await cluster.ownerOf(account)) === node) return account;
  }
}

async function sendByRest({ http }: ClusterNode, { account: { email, key } }: Witness, subject: string) {
  const recipients = [{ address: 'a@remote.test', type: 'To' }];
  const { status } = await fetch(`${http}/api/outbound/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ fromAddress: email, subject, textBody: 'x', recipients }),
  });
  return status;
}

async function submit(node: ClusterNode, { account: { email, key } }: Witness, subject: string): Promise<number> {
  const client = await SmtpClient.greeted(node.process.ready.listeners['submission']!);
  try {
    const login = Buffer.from(`\0${email}\0${key}`).toString('base64');
    for (const line of [`AUTH PLAIN ${login}`, `MAIL FROM:<${email}>`, 'RCPT TO:<a@remote.test>', 'DATA']) {
      const { code } = await client.command(line);
      if (code >= 400) return code;
    }
    return (await client.command(`From: ${email}\r\nSubject: ${subject}\r\n\r\nx\r\n.`)).code;
  } finally {
    client.destroy();
  }
}
