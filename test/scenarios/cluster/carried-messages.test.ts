// Tests messages for a mailbox of another node: one commit of the owner stores and places each, whichever way it comes. When the owner
// commits too late, or dies after its commit, the message is there once.
import { TesterClient } from '../../../dev/imap-tester/tester-client.js';
import type { ClusterNode } from '../../../dev/local-node.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
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
    t.timeout(180_000);
    const cluster = await startCluster(t, {
      nodes: 2,
      accounts: 1,
      leaseTtlMs: 2_000,
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

    // The mailbox is in memory: a first message could wait longer for it than a gateway does.
    t.is(await witness.list(other), 200);
    t.is(await witness.send(other, 'received'), 250);
    t.deepEqual(await emails('received'), [['inbox', true]]);

    const [host, port] = other.imap.split(':') as [string, string];
    const imap = await TesterClient.open({ host, port: Number(port) });
    t.teardown(() => imap.destroy());
    await imap.ok(`LOGIN "${email}" "${key}"`);
    await imap.ok('APPEND Archive ', Buffer.from(`${BODY}appended\r\n\r\nx`));
    t.deepEqual(await emails('appended'), [['archive', true]]);

    const send = (subject: string) => sendByRest(other, witness, subject);
    t.is(await send('sent'), 200);
    t.deepEqual(await emails('sent'), [['sent', true]]);
    t.is(await submit(other, witness, 'submitted'), 250);
    t.deepEqual(await emails('submitted'), [['sent', true]]);
    t.deepEqual(await noted(), []);

    // The owner is late: the gateway stores the message as well, and it is placed once.
    await sql`update slow set is_slow = true`;
    t.is(await witness.send(other, 'slow'), 250);
    await eventually('the row to end', async () => (await waiting()) === 0);
    t.deepEqual(await rolesOf('slow'), ['inbox']);
    t.deepEqual(await noted(), [true]);
    await imap.ok('APPEND Archive ', Buffer.from(`${BODY}slow append\r\n\r\nx`));
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
