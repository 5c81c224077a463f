// Imports in PostgreSQL: rows of `inbound` with a number, which accepted mail does not have. The account's row is locked while
// rows are added, as in every commit of the mailbox: a message is visible either as a placed email or as a row, so it is never
// added twice.
import { createHash } from 'node:crypto';
import { MOST_FOLDERS_OF_ROLE } from '../../../mail-format/folder-name.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import { isSmall } from '../../blobs.js';
import { StoreFault } from '../../errors.js';
import {
  type ImportedMessage,
  type ImportPosition,
  type ImportStore,
  importId,
  type PendingImport,
} from '../../imports.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';
import { execute, pieces } from '../driver/statement-pieces.js';
import { gather, smallBlob, storedBlobs, writeBlob } from './blob-writes.js';

export function postgresImports(sql: Sql): ImportStore {
  return {
    present: (accountId, folder, hashes) =>
      guarded(() =>
        folder === undefined ? presentAnywhere(sql, accountId, hashes) : presentIn(sql, accountId, folder, hashes),
      ),
    add: (accountId, messages) => guarded(() => add(sql, accountId, messages)),

    async waiting(accountId) {
      const [row] = await guarded(
        () => sql<[{ count: number }]>`
          select count(*)::int as count from inbound where account_id = ${accountId} and import_number is not null`,
      );
      return row.count;
    },

    async waitingUse(accountId) {
      const [row] = await guarded(
        () => sql<[{ bytes: number; messages: number }]>`
          select coalesce(sum((envelope -> 'summary' ->> 'size')::float8), 0)::float8 as bytes, count(*)::int as messages
          from inbound where account_id = ${accountId} and import_number is not null`,
      );
      return row;
    },

    async accounts(shards) {
      const rows = await guarded(
        () => sql<{ id: string }[]>`
          select i.id from (select distinct account_id as id from inbound where import_number is not null) i
            join accounts a using (id)
          where a.shard = any(${shards as number[]}::int[])`,
      );
      return rows.map(({ id }) => id);
    },

    next: (accountId, after, limit) =>
      guarded(
        () => sql<PendingImport[]>`
          select id, import_number::float8 as number, encode(blob, 'hex') as blob, envelope from inbound
          where account_id = ${accountId} and import_number > ${after} order by import_number limit ${limit}`,
      ),

    async position(accountId, source) {
      const [row] = await guarded(
        () => sql<ImportPosition[]>`
          select uid_validity::float8 as "uidValidity", uid::float8 as uid from import_positions
          where account_id = ${accountId} and source = ${digest(source)}`,
      );
      return row;
    },

    async setPosition(accountId, source, { uidValidity, uid }) {
      await guarded(
        () => sql`
          insert into import_positions (account_id, source, uid_validity, uid)
          select id, ${digest(source)}, ${uidValidity}, ${uid} from accounts where id = ${accountId}
          on conflict (account_id, source) do update set uid_validity = excluded.uid_validity, uid = excluded.uid`,
      );
    },
  };
}

async function presentIn(sql: Sql, accountId: string, folder: string, hashes: readonly string[]): Promise<Set<string>> {
  const ids = hashes.map((hash) => importId(accountId, folder, hash));
  const folderId = (await foldersOf(sql, accountId)).idOf(folder) ?? null;
  const rows = await sql<{ hash: string }[]>`
    select encode(e.blob, 'hex') as hash from emails e
      join placements p on p.account_id = e.account_id and p.folder_id = ${folderId} and p.email_id = e.id
    where e.account_id = ${accountId} and e.blob = any(${octets(sql, hashes)})
    union all
    select encode(blob, 'hex') from inbound where account_id = ${accountId} and id = any(${ids}::uuid[])`;
  return new Set(rows.map(({ hash }) => hash));
}

async function presentAnywhere(sql: Sql, accountId: string, hashes: readonly string[]): Promise<Set<string>> {
  const blobs = octets(sql, hashes);
  const rows = await sql<{ hash: string }[]>`
    select encode(blob, 'hex') as hash from emails where account_id = ${accountId} and blob = any(${blobs})
    union select encode(blob, 'hex') from inbound where account_id = ${accountId} and blob = any(${blobs})`;
  return new Set(rows.map(({ hash }) => hash));
}

async function add(sql: Sql, accountId: string, messages: readonly ImportedMessage[]): Promise<number> {
  const small = messages.filter(({ content }) => isSmall(content));
  let added = small.length === 0 ? 0 : await addSmall(sql, accountId, small);
  for (const message of messages) if (!isSmall(message.content)) added += await addLarge(sql, accountId, message);
  return added;
}

// Write the bytes first: the account is not locked meanwhile, and arriving mail does not wait.

function addSmall(sql: Sql, accountId: string, messages: readonly ImportedMessage[]): Promise<number> {
  const blobs = messages.map(({ content }) => smallBlob(content));
  return sql.begin(async (tx) => {
    await execute(tx, pieces`with ${storedBlobs(pieces, await gather(blobs))} select from fresh`);
    return addRows(tx, accountId, messages);
  });
}

function addLarge(sql: Sql, accountId: string, message: ImportedMessage): Promise<number> {
  return sql.begin(async (tx) => {
    await writeBlob(tx, message.content);
    return addRows(tx, accountId, [message]);
  });
}

/** Adds rows of messages that the folder does not have; returns how many. */
async function addRows(tx: SqlTransaction, accountId: string, messages: readonly ImportedMessage[]): Promise<number> {
  const folders = await lockedFolders(tx, accountId);
  const rows = messages.map(({ content, envelope }, n) => ({
    n,
    id: importId(accountId, envelope.folder, content.hash),
    hash: content.hash,
    folder: folders.idOf(envelope.folder),
    envelope,
  }));
  const { count } = await tx`
    with message as materialized (
      select n, id, decode(hash, 'hex') as blob, folder, envelope
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as x (n int, id uuid, hash text, folder uuid, envelope json)
    ), there as materialized (
      select m.id from message m
        join emails e on e.account_id = ${accountId} and e.blob = m.blob
        join placements p on p.account_id = e.account_id and p.folder_id = m.folder and p.email_id = e.id
    )
    insert into inbound (account_id, id, blob, envelope, import_number)
    select ${accountId}, id, blob, envelope, nextval('import_numbers')
    from (select * from message where id not in (select id from there) order by n) m
    on conflict (account_id, id) do nothing`;
  return count;
}

/** Locks the account, so that the next statement sees the result of all earlier commits. */
async function lockedFolders(tx: SqlTransaction, accountId: string): Promise<Folders> {
  const [account] = await tx`select id from accounts where id = ${accountId} and not unclaimed for no key update`;
  if (account === undefined) {
    throw new StoreFault('store-conflict', 'the account was deleted meanwhile', { temporary: false });
  }
  return foldersOf(tx, accountId);
}

interface Folders {
  /** Id of the folder for mail of this path; undefined when the folder does not exist yet. */
  idOf(path: string): string | undefined;
}

async function foldersOf(sql: Sql | SqlTransaction, accountId: string): Promise<Folders> {
  const rows = await (sql as Sql)<{ id: string; name: string; role: string }[]>`
    select id, name, role from folders where account_id = ${accountId}`;
  const ids = new Map(rows.map(({ id, name }) => [caseFolded(name), id]));
  // An account at its limit of folders puts the mail of further folders into Archive (actors/mailbox/commands/imported-mail).
  const isFull = rows.filter(({ role }) => role === 'folder').length >= MOST_FOLDERS_OF_ROLE;
  const instead = isFull ? rows.find(({ role }) => role === 'archive')?.id : undefined;
  return { idOf: (path) => ids.get(caseFolded(path)) ?? instead };
}

const octets = (sql: Sql, hashes: readonly string[]) =>
  sql`array(select decode(h, 'hex') from unnest(${hashes as string[]}::text[]) h)`;

const digest = (source: string): Buffer => createHash('sha256').update(source).digest();
