// Checks what must be true after any fault: all acknowledged mail is there, once, as it was sent; nothing bounced; counters, UIDs and the
// event log agree with the rows.
import type { ExecutionContext } from 'ava';
import type { ClusterNode } from '../../../../dev/local-node.js';
import type { TestAccount } from '../../../../dev/node-accounts.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import { MailboxClient } from '../../../support/clients/mailbox-client.js';
import { eventually } from './eventually.js';
import type { Load } from './load.js';
import { compareSettled, storedCopies } from './stored-copies.js';

/** In ms. Mail whose delivery was interrupted is found and placed within this time. */
const PLACED_MS = 60_000;

export interface Verified {
  readonly load: Load;
  readonly sql: Sql;
  readonly accounts: readonly TestAccount[];
  /** The node that is asked. */
  readonly node: Pick<ClusterNode, 'process'>;
}

export async function verify(t: ExecutionContext, { load, sql, accounts, node }: Verified): Promise<void> {
  const { mail, calls } = load;
  t.true(mail.accepted.size > 0, 'no message was accepted');
  t.deepEqual(mail.refused, [], 'mail was refused for good');
  t.deepEqual(calls.failed, [], 'REST calls failed');
  await allPlaced(sql);

  // Leases of a second expire on a busy machine, and the node refuses for a moment what it is asked.
  const compared = () => compareSettled(mail, () => storedCopies(node.process, accounts), PLACED_MS);
  const findings = await eventually('mail to be read', compared);
  t.deepEqual(findings.lost, [], 'acknowledged mail is lost');
  t.deepEqual(findings.doubled, [], 'mail is there twice');
  t.deepEqual(findings.astray, [], 'mail is where nobody sent it');
  t.deepEqual(findings.partly, [], 'mail without an acknowledgement is there for some of its accounts only');
  t.deepEqual(findings.broken, [], 'mail differs from what was sent');
  const unread = await eventually('inboxes to be read', () => unreadAgain(node, accounts, calls.read));
  t.deepEqual(unread, [], 'read emails are unread again');
  t.deepEqual(await brokenFolders(sql), [], 'counters or UIDs differ from the rows');
  t.deepEqual(await brokenUids(sql), [], 'UIDs went back or repeat');
  t.deepEqual(await brokenLogs(sql), [], 'changes without an event');
  t.deepEqual(await brokenUse(sql), [], 'what accounts use differs from their emails');
  const bodiless = await sql`select 1 from emails e where not exists (select 1 from blobs b where b.hash = e.blob)`;
  t.is(bodiless.length, 0, 'emails without their bytes');
}

async function unreadAgain(
  { process }: Verified['node'],
  accounts: readonly TestAccount[],
  read: ReadonlySet<string>,
): Promise<string[]> {
  const unread: string[] = [];
  for (const { email, key } of accounts) {
    for (const { id, subject, isRead } of await new MailboxClient(process, key).inbox())
      if (read.has(id) && !isRead) unread.push(`${email}: ${subject}`);
  }
  return unread;
}

async function allPlaced(sql: Sql): Promise<void> {
  for (const deadline = Date.now() + PLACED_MS; ; ) {
    const [row] = await sql<[{ waiting: number }]>`select count(*)::int as waiting from inbound`;
    if (row.waiting === 0) return;
    if (Date.now() > deadline) throw new Error(`${row.waiting} accepted messages are not placed`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Accounts whose last commit a node of this version made. */
async function brokenUse(sql: Sql): Promise<unknown[]> {
  const rows = await sql`
    select a.email, a.used_bytes, a.used_messages, sum(e.size) as bytes, count(e.id) as messages
    from accounts a left join emails e on e.account_id = a.id
    where a.used_modseq = a.modseq group by a.id
    having a.used_bytes <> coalesce(sum(e.size), 0) or a.used_messages <> count(e.id)`;
  return [...rows];
}

async function brokenFolders(sql: Sql): Promise<unknown[]> {
  return [
    ...(await sql`
      select f.account_id, f.role, f.total, count(p.uid)::int as placed, f.unread,
        (count(e.id) filter (where e.flags & 1 = 0))::int as unseen, f.uidnext, max(p.uid) as highest
      from folders f left join placements p on p.account_id = f.account_id and p.folder_id = f.id
        left join emails e on e.account_id = p.account_id and e.id = p.email_id
      group by f.account_id, f.id
      having f.total <> count(p.uid) or f.unread <> count(e.id) filter (where e.flags & 1 = 0)
        or f.uidnext <= coalesce(max(p.uid), 0)`),
  ];
}

/** A placement keeps the change number that created it, so in order of UID these numbers never fall. */
async function brokenUids(sql: Sql): Promise<unknown[]> {
  return [
    ...(await sql`
      select account_id, folder_id, uid, modseq, before from (
        select account_id, folder_id, uid, modseq,
          lag(modseq) over (partition by account_id, folder_id order by uid) as before
        from placements
      ) as p where modseq < before
      union all
      select p.account_id, p.folder_id, p.uid, p.modseq, x.modseq from placements p
        join expunged x using (account_id, folder_id, uid)`),
  ];
}

/** The log of an account ends at its change number, and every step is there. */
async function brokenLogs(sql: Sql): Promise<unknown[]> {
  return [
    ...(await sql`
      select a.id, a.modseq, count(e.seq)::int as changes, max(e.seq) as last from accounts a
        join events e on e.account_id = a.id
      group by a.id having max(e.seq) <> a.modseq or count(e.seq) <> max(e.seq) - min(e.seq) + 1`),
  ];
}
