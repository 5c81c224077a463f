// Threads in PostgreSQL: the key of a message id, the emails of a thread, and the joining of threads that an email has
// shown to be one. Finding the thread of a new email is part of the commit (mailbox-commit).
import { hash } from 'node:crypto';
import { uuidText } from '../../mail/ids.js';
import { joinedSets } from '../../mail/thread.js';
import type { EmailSummaryRow, ThreadPart, ThreadRows } from '../mailboxes.js';
import type { Sql } from './client.js';
import { emailSummaryColumns } from './mailbox-columns.js';

/** What `message_key` of the schema is: the first 16 octets of the id's SHA-256. */
export function messageKey(messageId: string): string {
  return uuidText(hash('sha256', messageId, 'buffer'));
}

export async function threadRows(sql: Sql, accountId: string, threadId: string, part: ThreadPart): Promise<ThreadRows> {
  const ofThread = sql`
    from emails where account_id = ${accountId} and thread_id = coalesce(
      (select thread_id from thread_refs where account_id = ${accountId} and message_key = ${threadId}), ${threadId})`;
  const slice =
    'newest' in part
      ? sql`order by received_at desc, id desc limit ${part.newest}`
      : sql`order by received_at, id limit ${part.pageSize} offset ${(part.page - 1) * part.pageSize}`;
  const found = await sql<EmailSummaryRow[]>`select ${sql.unsafe(emailSummaryColumns.selected)} ${ofThread} ${slice}`;
  const rows = 'newest' in part ? found.toReversed() : [...found];
  if ('newest' in part && rows.length < part.newest) return { rows, total: rows.length };
  const [count] = await sql<{ total: number }[]>`select count(*)::int as total ${ofThread}`;
  return { rows, total: count!.total };
}

/** Threads that one email has shown to be one. */
interface TornThread {
  readonly a: string;
  readonly threads: readonly string[];
}

/**
 * Threads that share a set become the one with the lowest id, which is the oldest; the others' ids lead to it. Apart from
 * the commit, whose rows it may touch: what a fault leaves undone, the next email that refers to both sides repeats. `epochs`: of the
 * commits, by account. A later owner keeps in memory which threads there are, so nothing is joined after its claim. False after a
 * fault: the database may still join them.
 */
export async function joinThreads(
  sql: Sql,
  sets: readonly TornThread[],
  epochs: ReadonlyMap<string, number>,
): Promise<boolean> {
  try {
    // An account at a time: who waits for the lock of one must not hold the lock of another.
    for (const [account, joined] of joinsOf(sets)) await joinThreadsOf(sql, account, epochs.get(account)!, joined);
    return true;
  } catch {
    // The commit has succeeded; the join is an addition to it.
    return false;
  }
}

interface Join {
  readonly from: string;
  readonly into: string;
}

function joinsOf(sets: readonly TornThread[]): ReadonlyMap<string, readonly Join[]> {
  const groups = joinedSets(sets.map(({ a, threads }) => threads.map((thread) => `${a}/${thread}`)));
  const members = new Map<number, { a: string; threads: Set<string> }>();
  sets.forEach(({ a, threads }, i) => {
    const known = members.get(groups[i]!);
    if (known === undefined) members.set(groups[i]!, { a, threads: new Set(threads) });
    else for (const thread of threads) known.threads.add(thread);
  });
  const joins = new Map<string, Join[]>();
  for (const { a, threads } of members.values()) {
    const [into, ...others] = [...threads].sort();
    joins.set(a, [...(joins.get(a) ?? []), ...others.map((from) => ({ from, into: into! }))]);
  }
  return joins;
}

/** The lock on the account's row comes first, as in every commit, and a claim waits for it. */
async function joinThreadsOf(sql: Sql, accountId: string, epoch: number, joined: readonly Join[]): Promise<void> {
  await sql`
    with owned as materialized (
      select id from accounts where id = ${accountId} and epoch = ${epoch} for share
    ), joined as materialized (
      select o.id as a, x."from", x."into"
      from owned o, json_to_recordset(${JSON.stringify(joined)}::json) as x ("from" uuid, "into" uuid)
    ), email as (
      update emails t set thread_id = j."into" from joined j where t.account_id = j.a and t.thread_id = j."from"
    ), ref as (
      update thread_refs t set thread_id = j."into" from joined j where t.account_id = j.a and t.thread_id = j."from"
    )
    insert into thread_refs (account_id, message_key, thread_id)
    select a, "from", "into" from joined on conflict (account_id, message_key) do update set thread_id = excluded.thread_id`;
}
