// New emails in the mailbox commit: their rows and their threads. The store finds the thread of an email by the message ids that
// the email has or refers to.
import type { AddedEmail } from '../../changes/coalesced-changes.js';
import { emailColumns } from '../mailbox/mailbox-columns.js';
import { PASSED, type Part, type TablePart } from './commit-parts.js';
import { messageKey } from './threads.js';

/** `threadIds` become keys of `thread_refs`; the first key that the store has gives the email its thread. */
export function emailRow(a: string, email: AddedEmail) {
  return { a, ...email, threadIds: email.threadIds.map(messageKey) };
}

const storedEmail = emailColumns.stored({ threadId: 'coalesce(threads[1], "threadId")' });

const ADDED = `x (a uuid, "threadIds" uuid[], ${emailColumns.recordset})`;

/**
 * Looks up each key separately: a plain join, planned while the table was small, reads every id of the account. Most emails have
 * one key, for which nothing has to be sorted.
 */
export const addEmails: TablePart = (sql, rows, table) => sql`
    , added as materialized (
      select x.*, case when cardinality(x."threadIds") = 1
        then (select array[thread_id] from thread_refs r where r.account_id = x.a and r.message_key = x."threadIds"[1])
        else (select array_agg(distinct t.thread_id) from unnest(x."threadIds") k cross join lateral (
          select thread_id from thread_refs r where r.account_id = x.a and r.message_key = k limit 1) t)
        end as threads
      from ${table(rows, ADDED)}
      where a = any (${sql.unsafe(PASSED)})
    ), email_added as (
      insert into emails (account_id, ${sql.unsafe(emailColumns.names)}) select a, ${sql.unsafe(storedEmail)}
      from added
    ), thread_ref as (
      insert into thread_refs (account_id, message_key, thread_id)
      select a, unnest("threadIds"), coalesce(threads[1], "threadId") from added
      on conflict do nothing
    )`;

/** Existing threads to which new emails refer. */
export const foundThreads: Part = (sql) => sql`
    union all select a, null, threads from added where threads is not null`;
