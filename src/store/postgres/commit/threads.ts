// Threads in PostgreSQL: the key of a message id, the emails of a thread, and the joining of threads that an email shows to be
// one. The commit (mailbox-commit) finds the thread of a new email.
import { hash } from 'node:crypto';
import { uuidText } from '../../../mail-format/ids.js';
import { joinedSets } from '../../../mail-format/threads/thread.js';
import type { EmailSummaryRow, ThreadPart, ThreadRows } from '../../mailboxes.js';
import type { Sql } from '../driver/client.js';
import { emailSummaryColumns } from '../mailbox/mailbox-columns.js';

/** Computes the same as `message_key` of the schema: the first 16 octets of the id's SHA-256. */
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

/** Threads that one email shows to be one. */
interface TornThread {
  readonly a: string;
  readonly threads: readonly string[];
}

/** Accounts whose failed joins are known; joins of others are left to the next email that refers to both sides. */
const MOST_ACCOUNTS = 1_000;
/** The sets of one account that are known. */
const MOST_SETS = 1_000;

interface FailedJoins {
  readonly epoch: number;
  readonly sets: readonly (readonly string[])[];
  /** More have failed than are known. */
  readonly isCut: boolean;
}

/**
 * Joins threads that share a set into the one with the lowest id, which is the oldest; the others' ids then lead to it. It is
 * separate from the commit, whose rows it may touch; after a fault, `settle` repeats it, or the next email that refers to both
 * sides.
 */
export class ThreadJoins {
  readonly #sql: Sql;
  readonly #failed = new Map<string, FailedJoins>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * `epochs`: of the commits, by account: a later owner has the threads in memory, so nothing is joined after its claim. Returns
   * false after a fault: the database may still join them.
   */
  async join(sets: readonly TornThread[], epochs: ReadonlyMap<string, number>): Promise<boolean> {
    const left = new Map(joinsOf(sets));
    try {
      // One account at a time: a statement that waits for the lock of one must not hold the lock of another.
      for (const [account, joined] of left) {
        await joinThreadsOf(this.#sql, account, epochs.get(account)!, joined);
        left.delete(account);
      }
      return true;
    } catch {
      // The commit has succeeded; the join is an addition to it.
      for (const account of left.keys()) this.#note(account, epochs.get(account)!, sets);
      return false;
    }
  }

  /**
   * Repeats what has failed for an account, after which a statement that is still under way in the database changes nothing.
   * Returns false when threads may still be joined later.
   */
  async settle(accountId: string): Promise<boolean> {
    const failed = this.#failed.get(accountId);
    if (failed === undefined || failed.isCut) return false;
    try {
      const sets = await this.#asTheyAre(accountId, failed.sets);
      const joined = joinsOf(sets.map((threads) => ({ a: accountId, threads }))).get(accountId) ?? [];
      if (joined.length > 0) await joinThreadsOf(this.#sql, accountId, failed.epoch, joined);
    } catch {
      return false;
    }
    // Another join may have failed meanwhile.
    return this.#failed.get(accountId) === failed && this.#failed.delete(accountId);
  }

  #note(accountId: string, epoch: number, all: readonly TornThread[]): void {
    const before = this.#failed.get(accountId);
    const own = all.flatMap(({ a, threads }) => (a === accountId ? [threads] : []));
    const sets = before?.epoch === epoch ? [...before.sets, ...own] : own;
    const isCut = sets.length > MOST_SETS;
    this.#failed.delete(accountId);
    this.#failed.set(accountId, {
      epoch,
      sets: isCut ? [] : sets,
      isCut: isCut || (before?.epoch === epoch && before.isCut),
    });
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > MOST_ACCOUNTS) this.#failed.delete(oldest!);
  }

  /** The sets with the threads that these have become: other emails may have joined them since. */
  async #asTheyAre(accountId: string, sets: readonly (readonly string[])[]): Promise<readonly (readonly string[])[]> {
    const ids = JSON.stringify([...new Set(sets.flat())]);
    const led = await this.#sql<{ id: string; thread: string }[]>`
      select message_key as id, thread_id as thread from thread_refs
      where account_id = ${accountId} and message_key in (select t::uuid from json_array_elements_text(${ids}::json) t)`;
    const now = new Map(led.map(({ id, thread }) => [id, thread]));
    return sets.map((threads) => threads.map((id) => now.get(id) ?? id));
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

/** Locks the account's row first, as in every commit; a claim waits for the lock. */
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
