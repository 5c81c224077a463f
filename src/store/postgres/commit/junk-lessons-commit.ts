// What accounts teach the junk filter (decision 0106), in PostgreSQL: the part of the mailbox commit that writes that lessons are due. Most
// commits have none.
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';

/** Returns the last part of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeJunkLessons(sql: Pieces, changes: readonly MailboxChange[]) {
  const due = changes.flatMap(({ accountId: a, lessons = [] }) =>
    // The last judgment of an email counts: a statement writes a row once.
    [...new Map(lessons.map(({ emailId, isJunk }) => [emailId, isJunk]))].map(([id, j]) => ({ a, id, j })),
  );
  if (due.length === 0) return sql``;
  return sql`
    , junk_lesson as (
      insert into due_junk_lessons (account_id, email_id, is_junk)
      select a, id, j from json_to_recordset(${JSON.stringify(due)}::json) as x (a uuid, id uuid, j boolean)
      join passed using (a)
      on conflict (account_id, email_id) do update set is_junk = excluded.is_junk
    )`;
}
