// Vacation replies in PostgreSQL: the part of the mailbox commit that writes who is answered. Most commits have none.
import { coalesce } from '../../changes/coalesced-changes.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';

/** The senders that `accounts a` has answered, the first that may get another reply first. */
export const ANSWERED_OF_ACCOUNT = `
  select key, round(extract(epoch from until) * 1000)::float8 as until from vacation_answered where account_id = a.id
  order by vacation_answered.until, key`;

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeVacation(sql: Pieces, changes: readonly MailboxChange[]) {
  const answered = [];
  const forgotten = [];
  for (const { accountId: a, changes: list } of changes) {
    const { vacationAnswered, vacationForgotten } = coalesce(list);
    for (const { key, until } of vacationAnswered) answered.push({ a, key, until });
    for (const key of vacationForgotten) forgotten.push({ a, key });
  }
  if (answered.length + forgotten.length === 0) return sql``;
  return sql`
    , vacation_answer as (
      insert into vacation_answered (account_id, key, until)
      select a, key, to_timestamp(until / 1000.0) from json_to_recordset(${JSON.stringify(answered)}::json)
        as x (a uuid, key text, until float8) join passed using (a)
      on conflict (account_id, key) do update set until = excluded.until
    ), vacation_forgotten as (
      delete from vacation_answered t
      using json_to_recordset(${JSON.stringify(forgotten)}::json) as g (a uuid, key text), passed p
      where p.a = g.a and t.account_id = g.a and t.key = g.key
    )`;
}
