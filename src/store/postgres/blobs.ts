// Blobs in PostgreSQL: one row with the MIME index, and the bytes in chunks of a page. Writing happens with the row
// that refers to the blob (see inbound); this file reads, and collects what nothing refers to any more.
import type { MessageIndex } from '../../mail/message-index.js';
import type { BlobContent, BlobStore } from '../blobs.js';
import { StoreFault } from '../errors.js';
import { type Sql, storeFault, type Transaction } from './client.js';

/** With its key, a row that just fits a page of 8 KiB. */
export const CHUNK_OCTETS = 8_000;
/** Octets written or read by one statement. */
const STRIDE_OCTETS = 32 * CHUNK_OCTETS;

/** Stores a large blob inside a transaction, some chunks at a time. */
export async function writeBlob(sql: Transaction, content: BlobContent): Promise<void> {
  const hash = Buffer.from(content.hash, 'hex');
  await sql`
    insert into blobs (hash, size, mime_index)
    values (${hash}, ${content.size}, ${JSON.stringify(content.index)}::text::json)
    on conflict (hash) do update set stored_at = now()`;
  let start = 0;
  for await (const data of strides(content.chunks())) {
    await sql`
      insert into blob_chunks (hash, seq, data)
      select ${hash}, ${start / CHUNK_OCTETS}::int + n,
        substring(${data}::bytea from n * ${CHUNK_OCTETS}::int + 1 for ${CHUNK_OCTETS}::int)
      from generate_series(0, ${Math.ceil(data.length / CHUNK_OCTETS) - 1}::int) as n
      on conflict do nothing`;
    start += data.length;
  }
}

/** Buffers of STRIDE_OCTETS but for the last. */
async function* strides(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<Buffer> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    let rest = piece;
    while (size + rest.length >= STRIDE_OCTETS) {
      const head = rest.subarray(0, STRIDE_OCTETS - size);
      yield Buffer.concat([...held, head]);
      rest = rest.subarray(head.length);
      held = [];
      size = 0;
    }
    if (rest.length > 0) {
      held.push(rest);
      size += rest.length;
    }
  }
  if (size > 0) yield Buffer.concat(held);
}

export function postgresBlobs(sql: Sql): BlobStore {
  async function index(hash: string): Promise<MessageIndex | undefined> {
    try {
      const rows = await sql<{ mime_index: MessageIndex }[]>`
        select mime_index from blobs where hash = ${Buffer.from(hash, 'hex')}`;
      return rows[0]?.mime_index;
    } catch (error) {
      throw storeFault(error);
    }
  }

  /** Octets [start, end), at most a stride. */
  async function slice(hash: Buffer, start: number, end: number): Promise<Uint8Array> {
    const first = Math.floor(start / CHUNK_OCTETS);
    const last = Math.floor((end - 1) / CHUNK_OCTETS);
    const rows = await sql<{ data: Uint8Array }[]>`
      select data from blob_chunks where hash = ${hash} and seq between ${first} and ${last} order by seq`;
    const data = rows.length === 1 ? rows[0]!.data : Buffer.concat(rows.map((row) => row.data));
    const from = start - first * CHUNK_OCTETS;
    if (data.length < from + end - start) throw missing(hash);
    return data.subarray(from, from + end - start);
  }

  async function* stream(hash: string, start: number, end: number): AsyncIterable<Uint8Array> {
    const key = Buffer.from(hash, 'hex');
    try {
      for (let from = start; from < end; ) {
        const to = Math.min(end, from - (from % CHUNK_OCTETS) + STRIDE_OCTETS);
        yield await slice(key, from, to);
        from = to;
      }
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function read(hash: string, start: number, end: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of stream(hash, start, end)) pieces.push(piece);
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  // The row lock on blobs makes storing the same bytes again wait for this delete, and this delete see that storing.
  async function collect(graceMs: number, limit: number): Promise<number> {
    try {
      return await sql.begin(async (tx) => {
        const candidates = await tx<{ hash: Uint8Array }[]>`
          delete from blob_candidates where ctid = any(array(
            select ctid from blob_candidates where at < now() - ${graceMs} * interval '1 millisecond'
            order by at limit ${limit} for update skip locked))
          returning hash`;
        const hashes = candidates.map((row) => row.hash);
        if (hashes.length === 0) return 0;
        const gone = await tx<{ hash: Uint8Array }[]>`
          delete from blobs b where b.hash = any(${hashes}::bytea[])
            and b.stored_at < now() - ${graceMs} * interval '1 millisecond'
            and not exists (select 1 from emails e where e.blob = b.hash)
            and not exists (select 1 from inbound i where i.blob = b.hash)
          returning b.hash`;
        await tx`delete from blob_chunks where hash = any(${gone.map((row) => row.hash)}::bytea[])`;
        return gone.length;
      });
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { index, read, stream, collect };
}

function missing(hash: Buffer): StoreFault {
  return new StoreFault('store-failed', `blob ${hash.toString('hex')} is not in the store`, { temporary: false });
}
