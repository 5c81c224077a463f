// The threads of emails, packed like the columns that a mailbox loads (mailbox-loading.ts).
import { uuidText } from '../../../mail-format/ids.js';
import type { ThreadPage } from '../../mailboxes.js';
import { type BinaryColumn, inBinary, own } from '../driver/binary-results.js';
import { guarded, type Sql } from '../driver/client.js';
import { ID_OCTETS } from '../driver/id-set.js';

const PAGE_ROWS = 20_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const NOTHING = new Uint8Array(0);

/** Yields emails by ascending id, without those that begin a thread. */
export async function* threadPages(sql: Sql, accountId: string): AsyncIterable<ThreadPage> {
  for (let after = FIRST_ID; ; ) {
    const rows: readonly BinaryColumn[][] = await guarded(() =>
      sql`
        select string_agg(uuid_send(id), ''::bytea order by id),
          string_agg(uuid_send(thread_id), ''::bytea order by id), ${inBinary(sql)}
        from (select id, thread_id from emails
          where account_id = ${accountId} and id > ${after} and thread_id <> id order by id limit ${PAGE_ROWS}) page`.raw(),
    );
    const page = pageOf(rows[0]!);
    const { length } = page.emailIds;
    if (length > 0) yield page;
    if (length < PAGE_ROWS * ID_OCTETS) return;
    after = uuidText(page.emailIds, length - ID_OCTETS);
  }
}

export async function threadsOf(sql: Sql, accountId: string, emailIds: readonly string[]): Promise<ThreadPage> {
  const rows: readonly BinaryColumn[][] = await sql`
    select string_agg(uuid_send(id), ''::bytea order by id),
      string_agg(uuid_send(thread_id), ''::bytea order by id), ${inBinary(sql)}
    from emails where account_id = ${accountId} and thread_id in (
      select thread_id from emails where account_id = ${accountId} and id = any(${emailIds as string[]}::uuid[]))`.raw();
  return pageOf(rows[0]!);
}

function pageOf([emailIds, threadIds]: readonly BinaryColumn[]): ThreadPage {
  return { emailIds: own(emailIds ?? NOTHING), threadIds: own(threadIds ?? NOTHING) };
}
