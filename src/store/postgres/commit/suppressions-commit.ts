// Suppressed addresses in PostgreSQL: the part of the mailbox commit that writes them, and the reading. Most commits have none.
import { coalesce } from '../../changes/coalesced-changes.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';

const MS = (column: string) => `round(extract(epoch from ${column}) * 1000)::float8`;

/** The select list and the table; rows have the members of `Suppression`. */
export const SUPPRESSIONS = `select address, reason, ${MS('since')} as since, ${MS('until')} as until from suppressions`;

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeSuppressions(sql: Pieces, changes: readonly MailboxChange[]) {
  const added = [];
  const gone = [];
  for (const { accountId: a, changes: list } of changes) {
    const { suppressions, suppressionsRemoved } = coalesce(list);
    for (const { address, reason, since, until } of suppressions) added.push({ a, address, reason, since, until });
    for (const address of suppressionsRemoved) gone.push({ a, address });
  }
  if (added.length + gone.length === 0) return sql``;
  return sql`
    , suppression as (
      insert into suppressions (account_id, address, reason, since, until)
      select a, address, reason, to_timestamp(since / 1000.0), to_timestamp(until / 1000.0)
      from json_to_recordset(${JSON.stringify(added)}::json)
        as x (a uuid, address text, reason text, since float8, until float8) join passed using (a)
      on conflict (account_id, address) do update
        set reason = excluded.reason, since = excluded.since, until = excluded.until
    ), suppression_removed as (
      delete from suppressions t
      using json_to_recordset(${JSON.stringify(gone)}::json) as g (a uuid, address text), passed p
      where p.a = g.a and t.account_id = g.a and t.address = g.address
    )`;
}
