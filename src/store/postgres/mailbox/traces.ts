// The way of single messages in PostgreSQL. Nothing is indexed for it: accounts are found through the keys of their threads, or through the
// time that ids have, and logs are searched as text.
import type { RefusedMail } from '../../traces/refused-mail.js';
import type { OnlyNode, TracedAccount, TracedChange, TraceStore } from '../../traces/traces.js';
import { type StoredEntry, withIds } from '../commit/packed-entries.js';
import { guarded, type Sql } from '../driver/client.js';

/** Accounts, and log rows per account, that are looked at. */
const MOST_ACCOUNTS = 100;
const MOST_ROWS = 500;
/** Chunks that hold the trace fields of this server: a chunk is about 8 kB. */
const HEADER_CHUNKS = 4;

export function postgresTraces(sql: Sql): TraceStore {
  return {
    accountsOfMessage: (messageId) => guarded(() => accountsOfMessage(sql, messageId)),
    accountsOfId: (id) => guarded(() => accountsOfId(sql, id)),
    emailsOfTransaction: (id) => guarded(() => emailsOfTransaction(sql, id)),
    accountOfAddress: (address) => guarded(() => accountOfAddress(sql, address)),
    correspondence: (address, limit) => guarded(() => correspondence(sql, address, limit)),
    newest: (accountId, limit) => guarded(() => newest(sql, accountId, limit)),
    changes: (accountId, texts) => guarded(() => changes(sql, accountId, texts)),
    headers: (blobs) => guarded(() => headers(sql, blobs)),
    folders: (accountId) => guarded(() => folders(sql, accountId)),
    refusals: (of, limit) => guarded(() => findRefusals(sql, of, limit)),
    onlyNode: () => guarded(() => onlyNode(sql)),
  };
}

async function accountsOfMessage(sql: Sql, messageId: string): Promise<readonly TracedAccount[]> {
  return sql<TracedAccount[]>`
    select a.id, a.email from accounts a join thread_refs r on r.account_id = a.id and r.message_key = message_key(${messageId})
    order by a.id limit ${MOST_ACCOUNTS}`;
}

/** The last time that has a year of four digits; ids that are no UUID v7 may have later ones. */
const LATEST = Date.UTC(9999, 0);
/** The time that a UUID v7 has. */
const timeOf = (id: string): Date =>
  new Date(Math.min(LATEST, Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)));
const likeAny = (texts: readonly string[]): string[] =>
  texts.map(
    (text) =>
      `%${JSON.stringify(text)
        .slice(1, -1)
        .replace(/[\\%_]/g, '\\$&')}%`,
  );

async function accountsOfId(sql: Sql, id: string): Promise<readonly TracedAccount[]> {
  const at = timeOf(id);
  return sql<TracedAccount[]>`
    with found as materialized (
      select distinct account_id from events
      where at between ${at}::timestamptz - interval '1 minute' and ${at}::timestamptz + interval '10 minutes'
        and entries::text like ${likeAny([id])[0]!}
    )
    select a.id, a.email from found f join accounts a on a.id = f.account_id order by a.id limit ${MOST_ACCOUNTS}`;
}

async function emailsOfTransaction(
  sql: Sql,
  id: string,
): Promise<readonly { readonly account: TracedAccount; readonly emailId: string }[]> {
  const at = timeOf(id);
  const rows = await sql<{ id: string; email: string; emailId: string }[]>`
    with added as materialized (
      select e.account_id, entry->'payload'->'email'->>'id' as email_id, entry->'payload'->'email'->>'blob' as blob
      from events e, json_array_elements(e.entries) entry
      where e.at between ${at}::timestamptz - interval '1 minute' and ${at}::timestamptz + interval '10 minutes'
        and entry->>'type' = 'EmailAdded'
    )
    select a.id, a.email, d.email_id as "emailId" from added d join accounts a on a.id = d.account_id
    where exists (
      select from blob_chunks c where c.hash = decode(d.blob, 'hex') and c.seq = 0
        and position(convert_to(${id}, 'UTF8') in c.data) > 0)
    order by a.id limit ${MOST_ACCOUNTS}`;
  return rows.map(({ emailId, ...account }) => ({ account, emailId }));
}

async function accountOfAddress(sql: Sql, address: string): Promise<TracedAccount | undefined> {
  const [row] = await sql<TracedAccount[]>`
    select a.id, a.email from addresses d join accounts a on a.id = d.account_id where d.address = ${address} and d.verified`;
  return row;
}

async function correspondence(
  sql: Sql,
  address: string,
  limit: number,
): Promise<readonly { readonly account: TracedAccount; readonly id: string }[]> {
  const rows = await sql<{ accountId: string; email: string; id: string }[]>`
    with found as (
      (select account_id, id from emails where lower(from_address) = ${address} order by id desc limit ${limit})
      union all
      (select distinct account_id, outbound_id from outbound_recipients where lower(address) = ${address}
       order by outbound_id desc limit ${limit})
    )
    select a.id as "accountId", a.email, f.id from found f join accounts a on a.id = f.account_id
    order by f.id desc limit ${limit}`;
  return rows.map(({ accountId, email, id }) => ({ account: { id: accountId, email }, id }));
}

async function newest(sql: Sql, accountId: string, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    with found as (
      (select id from emails where account_id = ${accountId} and origin is distinct from 'submitted' and origin is distinct from 'sent'
       order by id desc limit ${limit})
      union all
      (select id from outbound where account_id = ${accountId} and status <> 'Draft' order by created_at desc limit ${limit})
    )
    select id from found order by id desc limit ${limit}`;
  return rows.map(({ id }) => id);
}

async function changes(sql: Sql, accountId: string, texts: readonly string[]): Promise<readonly TracedChange[]> {
  const rows = await sql<{ entries: readonly StoredEntry[]; ids: Uint8Array | null; at: Date }[]>`
    select entries, ids, at from events
    where account_id = ${accountId} and entries::text like any(${likeAny(texts)}::text[]) order by seq limit ${MOST_ROWS}`;
  return rows.flatMap(({ entries, ids, at }) =>
    entries.map((entry) => {
      const { type, payload } = ids === null ? entry : withIds(entry, ids);
      return { type, payload, at: at.getTime() } as TracedChange;
    }),
  );
}

async function headers(sql: Sql, blobs: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const rows = await sql<{ blob: string; data: Uint8Array }[]>`
    select encode(hash, 'hex') as blob, string_agg(data, '' order by seq) as data from blob_chunks
    where hash = any(select decode(b, 'hex') from unnest(${blobs as string[]}::text[]) b) and seq < ${HEADER_CHUNKS}
    group by hash`;
  return new Map(rows.map(({ blob, data }) => [blob, data]));
}

async function folders(sql: Sql, accountId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; name: string }[]>`select id, name from folders where account_id = ${accountId}`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

async function findRefusals(
  sql: Sql,
  of: { readonly transaction?: string; readonly messageId?: string; readonly address?: string },
  limit: number,
): Promise<readonly RefusedMail[]> {
  const [transaction, messageId, address] = [of.transaction ?? null, of.messageId ?? null, of.address ?? null];
  const rows = await sql<(Omit<RefusedMail, 'at'> & { at: Date })[]>`
    select at, node, listener, remote_address as "remoteAddress", sender, recipients, transaction_id as transaction,
      message_id as "messageId", code, reason
    from refusals
    where transaction_id = ${transaction} or message_id = ${messageId} or lower(sender) = ${address}
      or ${address}::text = any(select lower(r) from unnest(recipients) r)
    order by id desc limit ${limit}`;
  return rows.map((row) => ({ ...row, at: row.at.getTime() })).reverse();
}

/** Rows of nodes stay for a day after their end. */
async function onlyNode(sql: Sql): Promise<OnlyNode | undefined> {
  const rows = await sql<{ id: string; since: Date }[]>`
    select id, now() - interval '1 day' as since from nodes limit 2`;
  const [first] = rows;
  return rows.length === 1 && first !== undefined ? { id: first.id, since: first.since.getTime() } : undefined;
}
