// The messages of a folder in PostgreSQL: placement and email, and on request the start of the blob and its index.
import { uuidTime } from '../../../mail-format/ids.js';
import {
  type FolderBlobStore,
  type FolderMessageNeeds,
  type FolderMessageRow,
  type FolderMessageStore,
  MOST_HEADER_OCTETS,
} from '../../folder-messages.js';
import { type BinaryColumn, inBinary } from '../driver/binary-results.js';
import { guarded, type Sql } from '../driver/client.js';
import { CHUNK_OCTETS } from './blob-writes.js';

/** `savedAt`: null when it equals the time in the email's id. */
type Row = Omit<FolderMessageRow, 'savedAt'> & { readonly savedAt: number | null };

const UID_OCTETS = 8;
const HASH_OCTETS = 32;

/** `sql`: a `byKey` pool, because every row is found by its key. */
export function postgresFolderMessages(sql: Sql): FolderMessageStore & FolderBlobStore {
  const header = () => sql`
    , coalesce((select substring(string_agg(data, ''::bytea order by seq) for h.octets) from blob_chunks c
      where c.hash = e.blob and c.seq <= (h.octets - 1) / ${CHUNK_OCTETS}::int), ''::bytea) as header`;
  const index = () => sql`, b.mime_index::text as "indexJson"`;
  const blob = () => sql`
    join blobs b on b.hash = e.blob
    cross join lateral (
      select least((b.mime_index -> 'root' ->> 'bodyStart')::bigint, ${MOST_HEADER_OCTETS})::int as octets) h`;

  async function rows(
    accountId: string,
    folderId: string,
    uids: readonly number[],
    needs: FolderMessageNeeds,
  ): Promise<readonly FolderMessageRow[]> {
    const found = await guarded(
      () => sql<Row[]>`
        select p.uid::float8 as uid, e.id as "emailId", e.thread_id as "threadId", encode(e.blob, 'hex') as blob,
          e.size::float8 as size, (extract(epoch from e.received_at) * 1000)::float8 as "receivedAt",
          (extract(epoch from p.saved_at) * 1000)::float8 as "savedAt", e.preview
          ${needs.header ? header() : sql``} ${needs.index ? index() : sql``}
        from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
        ${needs.header || needs.index ? blob() : sql``}
        where p.account_id = ${accountId} and p.folder_id = ${folderId} and p.uid = any(${uids as number[]}::bigint[])
        order by p.uid`,
    );
    return found.map((row) => ({ ...row, savedAt: row.savedAt ?? uuidTime(row.emailId) }));
  }

  async function blobs(
    accountId: string,
    folderId: string,
    fromUid: number,
    toUid: number,
  ): Promise<ReadonlyMap<number, string>> {
    const rows: readonly BinaryColumn[][] = await guarded(() =>
      sql`
        select string_agg(int8send(p.uid) || e.blob, ''::bytea), ${inBinary(sql)}
        from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
        where p.account_id = ${accountId} and p.folder_id = ${folderId} and p.uid between ${fromUid} and ${toUid}`.raw(),
    );
    const found = new Map<number, string>();
    const packed = rows[0]?.[0];
    if (!packed) return found;
    for (let at = 0; at < packed.length; at += UID_OCTETS + HASH_OCTETS) {
      const hash = packed.toString('hex', at + UID_OCTETS, at + UID_OCTETS + HASH_OCTETS);
      found.set(Number(packed.readBigInt64BE(at)), hash);
    }
    return found;
  }

  return { rows, blobs };
}
