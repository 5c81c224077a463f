// Mail that the server sends because mail arrived (decision 0097), in PostgreSQL: the part of the mailbox commit that writes it,
// together with the lessons of the junk filter. Most commits have none.
import { coalesce } from '../../changes/coalesced-changes.js';
import type { DueMail } from '../../mailbox-rows.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';
import { writeJunkLessons } from './junk-lessons-commit.js';

type Detail = Omit<DueMail, 'id' | 'kind' | 'blob'>;

export interface DueMailRow {
  readonly id: string;
  readonly kind: DueMail['kind'];
  readonly blob: string;
  readonly detail: Detail;
}

/** SQL of the rows of `accounts a`, in the order in which their mail arrived. */
export const DUE_MAIL_OF_ACCOUNT = `
  select id, kind, encode(blob, 'hex') as blob, detail from due_automatic_mail where account_id = a.id order by id`;

export const dueMailOf = ({ id, kind, blob, detail }: DueMailRow): DueMail => ({ ...detail, id, kind, blob });

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeDueMail(sql: Pieces, changes: readonly MailboxChange[]) {
  const due = [];
  const ended = [];
  for (const { accountId: a, changes: list } of changes) {
    const { dueMail, dueMailEnded } = coalesce(list);
    for (const { id, kind, blob, ...detail } of dueMail) due.push({ a, id, kind, blob: `\\x${blob}`, detail });
    for (const id of dueMailEnded) ended.push({ a, id });
  }
  const lessons = writeJunkLessons(sql, changes);
  if (due.length + ended.length === 0) return lessons;
  return sql`
    ${lessons}
    , due_mail as (
      insert into due_automatic_mail (account_id, id, kind, blob, detail)
      select a, id, kind, blob, detail from json_to_recordset(${JSON.stringify(due)}::json)
        as x (a uuid, id uuid, kind text, blob bytea, detail json) join passed using (a)
      on conflict (account_id, id) do update set detail = excluded.detail
    ), due_mail_ended as (
      delete from due_automatic_mail t
      using json_to_recordset(${JSON.stringify(ended)}::json) as r (a uuid, id uuid), passed p
      where t.account_id = r.a and t.id = r.id and p.a = r.a
    )`;
}
