// Blobs in PostgreSQL: one row with the MIME index, and the bytes in chunks of a page. Writing happens with the row
// that refers to the blob (see inbound); this file reads, and collects what nothing refers to any more.
import { pipeline } from 'node:stream/promises';
import type { MessageIndex } from '../../mail/message-index.js';
import type { BlobContent, BlobStore } from '../blobs.js';
import { StoreFault } from '../errors.js';
import { type Sql, storeFault, type Transaction } from './client.js';

/** With its key, a row that just fits a page of 8 KiB. */
export const CHUNK_OCTETS = 8_000;
/** Octets written or read by one statement. */
const STRIDE_OCTETS = 32 * CHUNK_OCTETS;

/**
 * Stores a large blob inside a transaction, some chunks at a time, by COPY in its binary form: bytes travel as they are
 * and nothing of the size of the blob is ever in memory.
 */
export async function writeBlob(sql: Transaction, content: BlobContent): Promise<void> {
  const hash = Buffer.from(content.hash, 'hex');
  // Whoever stored these bytes before has committed its chunks with them, or this waits for it.
  const [row] = await sql<{ fresh: boolean }[]>`
    insert into blobs (hash, size, mime_index)
    values (${hash}, ${content.size}, ${JSON.stringify(content.index)}::text::json)
    on conflict (hash) do update set stored_at = now()
    returning xmax = 0 as fresh`;
  if (row?.fresh !== true) return;
  const copy = await sql`copy blob_chunks (hash, seq, data) from stdin (format binary)`.writable();
  await pipeline(chunkTuples(hash, content.chunks()), copy);
}

/** PostgreSQL's binary COPY form (documentation of COPY, "Binary Format"). */
async function* chunkTuples(
  hash: Buffer,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncIterable<Buffer> {
  yield Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
  let seq = 0;
  for await (const stride of strides(source)) {
    const pieces: Buffer[] = [];
    for (let start = 0; start < stride.length; start += CHUNK_OCTETS) {
      const data = stride.subarray(start, start + CHUNK_OCTETS);
      const head = Buffer.allocUnsafe(2 + 4 + hash.length + 4 + 4 + 4);
      head.writeInt16BE(3, 0);
      head.writeInt32BE(hash.length, 2);
      hash.copy(head, 6);
      const after = 6 + hash.length;
      head.writeInt32BE(4, after);
      head.writeInt32BE(seq++, after + 4);
      head.writeInt32BE(data.length, after + 8);
      pieces.push(head, data);
    }
    yield Buffer.concat(pieces);
  }
  yield Buffer.from([0xff, 0xff]);
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
  async function put(content: BlobContent): Promise<void> {
    try {
      await sql.begin(async (tx) => {
        await writeBlob(tx, content);
        await tx`insert into blob_candidates (hash) values (${Buffer.from(content.hash, 'hex')})`;
      });
    } catch (error) {
      throw storeFault(error);
    }
  }

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

  async function readAll(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    try {
      const rows = await sql<{ hash: string; data: Buffer }[]>`
        select encode(hash, 'hex') as hash, string_agg(data, ''::bytea order by seq) as data from blob_chunks
        where hash = any(array(select decode(h, 'hex') from unnest(${hashes as string[]}::text[]) h)) group by hash`;
      return new Map(rows.map(({ hash, data }) => [hash, data]));
    } catch (error) {
      throw storeFault(error);
    }
  }

  // The row lock on blobs makes storing the same bytes again wait for this delete, and this delete see that storing.
  async function collect(graceMs: number, limit: number): Promise<number> {
    try {
      return await sql.begin(async (tx) => {
        const candidates = await tx<{ hash: string }[]>`
          delete from blob_candidates where ctid = any(array(
            select ctid from blob_candidates where at < now() - ${graceMs} * interval '1 millisecond'
            order by at limit ${limit} for update skip locked))
          returning encode(hash, 'hex') as hash`;
        const hashes = candidates.map((row) => row.hash);
        if (hashes.length === 0) return 0;
        // In the order in which blobs are stored, so that the two cannot wait for each other in a circle.
        await tx`
          select hash from blobs where hash in (select decode(h, 'hex') from unnest(${hashes}::text[]) h)
          order by hash for update`;
        const gone = await tx<{ hash: string }[]>`
          delete from blobs b where b.hash in (select decode(h, 'hex') from unnest(${hashes}::text[]) h)
            and b.stored_at < now() - ${graceMs} * interval '1 millisecond'
            and not exists (select 1 from emails e where e.blob = b.hash)
            and not exists (select 1 from inbound i where i.blob = b.hash)
            and not exists (select 1 from outbound o where o.blob = b.hash)
          returning encode(b.hash, 'hex') as hash`;
        const dropped = gone.map((row) => row.hash);
        await tx`
          delete from blob_chunks where hash in (select decode(h, 'hex') from unnest(${dropped}::text[]) h)`;
        return gone.length;
      });
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { put, index, read, readAll, stream, collect };
}

function missing(hash: Buffer): StoreFault {
  return new StoreFault('store-failed', `blob ${hash.toString('hex')} is not in the store`, { temporary: false });
}
