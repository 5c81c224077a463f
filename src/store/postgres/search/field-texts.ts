// The texts of single header fields: the index knows words of the header as a whole, so a search of one field reads the emails that have them.
import type { IndexedAddress } from '../../../mail-format/message-index.js';
import { type SearchField, textOfMailboxes } from '../../../mail-format/words/search-text.js';
import type { Sql } from '../driver/client.js';

export function fieldTexts(
  sql: Sql,
  accountId: string,
  field: SearchField,
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return field === 'to' || field === 'cc'
    ? recipientTexts(sql, accountId, field, emailIds)
    : columnTexts(sql, accountId, field, emailIds);
}

async function columnTexts(
  sql: Sql,
  accountId: string,
  field: 'from' | 'subject',
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const column = field === 'from' ? sql`from_name || ' ' || from_address` : sql`subject`;
  const rows = await sql<{ id: string; text: string }[]>`
    select id, ${column} as text from emails where account_id = ${accountId} and id = any(${emailIds as string[]}::uuid[])`;
  return new Map(rows.map(({ id, text }) => [id, text]));
}

async function recipientTexts(
  sql: Sql,
  accountId: string,
  field: 'to' | 'cc',
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; mailboxes: readonly IndexedAddress[] }[]>`
    select e.id, b.mime_index->'envelope'->${field}::text as mailboxes from emails e join blobs b on b.hash = e.blob
    where e.account_id = ${accountId} and e.id = any(${emailIds as string[]}::uuid[])`;
  return new Map(rows.map(({ id, mailboxes }) => [id, textOfMailboxes(mailboxes)]));
}
