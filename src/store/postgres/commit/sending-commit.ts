// What a mailbox has sent to, in the mailbox commit: recipients by minute, and the addresses to which it writes for the first time. Most
// commits have none.
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';
import { json } from './commit-parts.js';

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeSending(sql: Pieces, changes: readonly MailboxChange[]) {
  const counted = changes.flatMap(({ accountId: a, sent }) => (sent === undefined ? [] : [{ a, ...sent }]));
  if (counted.length === 0) return sql``;
  return sql`
    , counted as materialized (
      select * from json_to_recordset(${json(counted)}::json)
        as x (a uuid, minute integer, recipients integer, strangers integer, refused integer, forwarded integer, addresses text[])
      join passed using (a)
    ), sent_count as (
      insert into sent_counts as t (account_id, minute, recipients, strangers, refused, forwarded)
      select a, minute, recipients, strangers, refused, forwarded from counted
      on conflict (account_id, minute) do update set recipients = t.recipients + excluded.recipients,
        strangers = t.strangers + excluded.strangers, refused = t.refused + excluded.refused,
        forwarded = t.forwarded + excluded.forwarded
    ), known_recipient as (
      insert into known_recipients (account_id, address)
      select a, address from counted cross join unnest(addresses) as address
      on conflict do nothing
    )`;
}
