// Kills a node (kill -9) at random moments under load: each message that SMTP acknowledged is there afterwards, once, and so is
// every change that REST acknowledged.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SmtpSender } from '../../../bench/support/smtp-load.js';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { KILLS } from '../../support/amounts.js';
import { type EmailList, type ListedEmail, MailboxClient } from '../../support/clients/mailbox-client.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const SENDERS = 8;

/** Holds what was acknowledged to the clients. */
interface Acknowledged {
  /** Subject → accounts that must have it. */
  readonly accepted: Map<string, readonly TestAccount[]>;
  readonly read: Set<string>;
  readonly removed: Set<string>;
  /** Messages without an answer: they may be there, at most once. */
  readonly open: Set<string>;
  /** Subjects of emails whose removal was requested, with any outcome. */
  readonly removing: Set<string>;
}

test('kills under load lose and double nothing', async (t) => {
  t.timeout(600_000);
  const settings = {
    MANSIO_DATA_DIR: await preparedDirectory('mansio-kill-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: 'warn',
  };
  let node = await startTestNode(settings);
  const sql = await storeOf(node);
  const accounts = await Promise.all([1, 2, 3].map((i) => createAccount(sql, `user${i}@example.test`)));
  await sql.end();
  const done: Acknowledged = {
    accepted: new Map(),
    read: new Set(),
    removed: new Set(),
    open: new Set(),
    removing: new Set(),
  };
  for (let kill = 1; kill <= KILLS.incoming; kill++) {
    const before = done.accepted.size;
    await loadUntilKilled(node, accounts, done, kill);
    t.true(done.accepted.size > before, `nothing was accepted before kill ${kill}`);
    node = await startTestNode(settings);
  }
  // The start places mail for one second; the rest is placed afterwards.
  const store = await storeOf(node);
  await eventually('accepted mail to be placed', async () => (await store`select 1 from inbound`).length === 0);
  await store.end();
  for (const account of accounts) {
    const emails = await new MailboxClient(node, account.key).inbox();
    const counts = new Map<string, number>();
    for (const { subject } of emails) counts.set(subject, (counts.get(subject) ?? 0) + 1);
    const doubled = [...counts].filter(([, count]) => count > 1);
    t.deepEqual(doubled, [], 'doubled');
    const present = new Set(emails.map(({ id }) => id));
    t.deepEqual(
      [...done.removed].filter((id) => present.has(id)),
      [],
      'removed emails that are back',
    );
    const lost = [...done.accepted].filter(
      ([subject, to]) =>
        to.includes(account) && !counts.has(subject) && !done.open.has(subject) && !done.removing.has(subject),
    );
    t.deepEqual(
      lost.map(([subject]) => subject),
      [],
      'lost',
    );
    t.deepEqual(unreadAgain(emails, done), [], 'read emails that are unread again');
  }
  await checkStore(node, t);
  await node.stop();
});

function unreadAgain(emails: readonly ListedEmail[], done: Acknowledged): string[] {
  return emails.filter(({ id, isRead }) => done.read.has(id) && !isRead).map(({ id }) => id);
}

/** Runs senders, readers and removers; kills the node at a random moment after the first acceptances. */
async function loadUntilKilled(
  node: TestNode,
  accounts: readonly TestAccount[],
  done: Acknowledged,
  round: number,
): Promise<void> {
  let number = 0;
  let first = () => {};
  const accepting = new Promise<void>((resolve) => {
    first = resolve;
  });

  async function send(): Promise<void> {
    const sender = await SmtpSender.open('127.0.0.1', port(node, 'mx'));
    for (;;) {
      const subject = `round ${round} message ${++number}`;
      const to = number % 3 === 0 ? accounts : [accounts[number % accounts.length]!];
      done.open.add(subject);
      const message = `From: a@remote.test\r\nSubject: ${subject}\r\n\r\n${'text\r\n'.repeat(200)}.\r\n`;
      const accepted = await sender.send(
        'a@remote.test',
        to.map(({ email }) => email),
        message,
      );
      done.open.delete(subject);
      if (!accepted) continue;
      done.accepted.set(subject, to);
      if (number > SENDERS) first();
    }
  }

  async function change(): Promise<void> {
    const account = accounts[round % accounts.length]!;
    const client = new MailboxClient(node, account.key);
    for (;;) {
      const { items } = await client.getPatiently<EmailList>('/api/emails?pageSize=10');
      for (const [i, { id, subject }] of items.entries()) {
        if (i % 5 === 4) {
          done.removing.add(subject);
          const { status } = await client.request('DELETE', `/api/emails/${id}`);
          if (status === 204) done.removed.add(id);
        } else if ((await client.request('PATCH', `/api/emails/${id}`, { isRead: true })).status === 204) {
          done.read.add(id);
        }
      }
    }
  }

  const work = [...Array.from({ length: SENDERS }, send), change()];
  await Promise.race([accepting, Promise.all(work)]);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
  // The database crashes too, in every fourth round.
  if (round % 4 === 0) process.kill(await postmaster(node), 'SIGKILL');
  await node.kill('SIGKILL');
  // Each worker ends with a broken connection.
  await Promise.allSettled(work);
}

async function postmaster(node: TestNode): Promise<number> {
  const [pid] = (await readFile(join(node.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  return Number(pid);
}

/** Checks that counters, UIDs, what accounts use and the log agree with the rows after all the crashes. */
async function checkStore(
  node: TestNode,
  t: { deepEqual(a: unknown, b: unknown, message?: string): void },
): Promise<void> {
  const sql = await storeOf(node);
  const wrong = await sql`
    select f.account_id, f.role, f.total, count(p.uid)::int as placed, f.unread,
      (count(e.id) filter (where e.flags & 1 = 0))::int as unseen
    from folders f left join placements p on p.account_id = f.account_id and p.folder_id = f.id
      left join emails e on e.account_id = p.account_id and e.id = p.email_id
    group by f.account_id, f.id
    having f.total <> count(p.uid) or f.unread <> count(e.id) filter (where e.flags & 1 = 0)
      or f.uidnext <= coalesce(max(p.uid), 0)`;
  t.deepEqual([...wrong], [], 'counters differ from rows');
  const drifted = await sql`
    select a.email, a.used_bytes, a.used_messages from accounts a left join emails e on e.account_id = a.id group by a.id
    having a.used_modseq is distinct from a.modseq or a.used_bytes <> coalesce(sum(e.size), 0)
      or a.used_messages <> count(e.id)`;
  t.deepEqual([...drifted], [], 'what accounts use differs from their emails');
  const [rest] = await sql`
    select (select count(*)::int from inbound) as inbound,
      (select count(*)::int from emails e where not exists (select 1 from blobs b where b.hash = e.blob)) as bodiless`;
  t.deepEqual({ ...rest }, { inbound: 0, bodiless: 0 });
  await sql.end();
}
