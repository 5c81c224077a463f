// Pages of a folder's emails, sorted by columns that are not in memory: sender, subject, size. Emails with `\Deleted` in the
// folder are left out. Comparison ignores case. Subjects are compared without `Re:` and `Fwd:`, as threads are (RFC 5256 §2.1);
// senders by the name that lists show.
import type { ListCriteria, ListedEmails } from '../../mailboxes.js';
import { deferredFlags } from '../commit/deferred-flags.js';
import type { Sql } from '../driver/client.js';

export async function listedEmails(
  sql: Sql,
  accountId: string,
  folderId: string,
  { page, pageSize, mask, flags, order, isDescending, fromAddress = '' }: ListCriteria,
): Promise<ListedEmails> {
  const keys = {
    date: sql`e.received_at`,
    from: sql`lower(coalesce(nullif(e.from_name, ''), e.from_address))`,
    subject: sql`regexp_replace(lower(e.subject), '^\\s*((re|fwd?|aw|wg)\\s*(\\[\\d+\\])?:\\s*)+', '')`,
    size: sql`e.size`,
  };
  const direction = isDescending ? sql`desc` : sql`asc`;
  const [row] = await sql<ListedEmails[]>`
    with ${deferredFlags(sql, accountId)}, found as materialized (
      select e.id, coalesce(o.flags, e.flags) as flags, e.received_at, ${keys[order]} as key
      from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
        left join deferred o on o.id = e.id and o.seq > e.modseq
      where p.account_id = ${accountId} and p.folder_id = ${folderId} and not p.deleted and coalesce(o.flags, e.flags) & ${mask}::int = ${flags}::int
        and (${fromAddress} = '' or position(lower(${fromAddress}) in lower(e.from_address)) > 0)
    )
    select (select count(*)::int from found) as "totalCount",
      (select count(*)::int from found where flags & 1 = 0) as "unreadCount",
      array(select id from found order by key ${direction}, received_at ${order === 'date' ? direction : sql`desc`},
        id ${order === 'date' ? direction : sql`desc`} limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`;
  return row!;
}
