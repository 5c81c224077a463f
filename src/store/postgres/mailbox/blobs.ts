// Blobs in PostgreSQL: one row with the MIME index, and the bytes in chunks of one page. This file stores blobs that something
// will refer to soon, reads blobs, and collects those without a reference; blob-writes writes the bytes.
import type { MessageIndex, OctetRange } from '../../../mail-format/message-index.js';
import { type BlobContent, type BlobStore, isSmall } from '../../blobs.js';
import type { CommitMeter } from '../../commit-meter.js';
import { StoreFault } from '../../errors.js';
import { type BinaryColumn, inBinary, integerOf } from '../driver/binary-results.js';
import { type Sql, storeFault } from '../driver/client.js';
import { GroupCommit } from '../driver/group-commit.js';
import { execute, pieces } from '../driver/statement-pieces.js';
import {
  BLOB_GROUP,
  CHUNK_OCTETS,
  gather,
  type SmallBlob,
  STRIDE_CHUNKS,
  STRIDE_OCTETS,
  smallBlob,
  storedBlobs,
  weightOf,
  writeBlob,
} from './blob-writes.js';

/** `writerSql`: a `byKey` pool for callers that store many blobs. */
export function postgresBlobs(sql: Sql, writerSql: Sql = sql, meter?: CommitMeter): BlobStore {
  const group = new GroupCommit<SmallBlob, 'stored'>((items) => putSmall(writerSql, items), {
    ...BLOB_GROUP,
    weigh: weightOf,
    meter,
  });

  async function put(content: BlobContent): Promise<void> {
    if (isSmall(content)) await group.submit(smallBlob(content));
    else await putLarge(sql, content);
  }

  return {
    put,
    index: (hash) => readIndex(sql, hash),
    indexes: (hashes) => readIndexes(sql, hashes),
    read: (hash, start, end) => readSlice(sql, hash, start, end),
    readRanges: (hash, ranges, signal) => readRanges(sql, hash, ranges, signal),
    readAll: (hashes) => readAll(sql, hashes),
    stream: (hash, start, end) => stream(sql, hash, start, end),
    collect: (graceMs, limit) => collect(sql, graceMs, limit),
  };
}

async function readIndex(sql: Sql, hash: string): Promise<MessageIndex | undefined> {
  try {
    const rows = await sql<{ mime_index: MessageIndex }[]>`
      select mime_index from blobs where hash = ${Buffer.from(hash, 'hex')}`;
    return rows[0]?.mime_index;
  } catch (error) {
    throw storeFault(error);
  }
}

async function readIndexes(sql: Sql, hashes: readonly string[]): Promise<ReadonlyMap<string, MessageIndex>> {
  try {
    const rows = await sql<{ hash: string; mime_index: MessageIndex }[]>`
      select encode(hash, 'hex') as hash, mime_index from blobs
      where hash = any(array(select decode(h, 'hex') from unnest(${hashes as string[]}::text[]) h))`;
    return new Map(rows.map(({ hash, mime_index }) => [hash, mime_index]));
  } catch (error) {
    throw storeFault(error);
  }
}

/** Reads octets [start, end), at most one stride. */
async function slice(sql: Sql, hash: Buffer, start: number, end: number): Promise<Uint8Array> {
  const first = Math.floor(start / CHUNK_OCTETS);
  const last = Math.floor((end - 1) / CHUNK_OCTETS);
  const rows: readonly BinaryColumn[][] = await sql`
    select data from blob_chunks where ${inBinary(sql)} and hash = ${hash} and seq between ${first} and ${last} order by seq`.raw();
  const data = Buffer.concat(rows.map(([chunk]) => chunk!));
  const from = start - first * CHUNK_OCTETS;
  if (data.length < from + end - start) throw missing(hash);
  return data.subarray(from, from + end - start);
}

async function* stream(sql: Sql, hash: string, start: number, end: number): AsyncIterable<Uint8Array> {
  const key = Buffer.from(hash, 'hex');
  try {
    for (let from = start; from < end; ) {
      const to = Math.min(end, from - (from % CHUNK_OCTETS) + STRIDE_OCTETS);
      yield await slice(sql, key, from, to);
      from = to;
    }
  } catch (error) {
    throw storeFault(error);
  }
}

async function readSlice(sql: Sql, hash: string, start: number, end: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream(sql, hash, start, end)) pieces.push(piece);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

async function readRanges(
  sql: Sql,
  hash: string,
  ranges: readonly OctetRange[],
  signal?: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const key = Buffer.from(hash, 'hex');
  const parts = ranges.map(({ start, end }) => new Uint8Array(end - start));
  const seqs = chunksOf(ranges);
  let first = 0;
  try {
    for (let at = 0; at < seqs.length; at += STRIDE_CHUNKS) {
      signal?.throwIfAborted();
      const wanted = seqs.slice(at, at + STRIDE_CHUNKS);
      const rows: readonly BinaryColumn[][] = await sql`
        select seq, data from blob_chunks
        where ${inBinary(sql)} and hash = ${key} and seq = any(${wanted}::int[]) order by seq`.raw();
      if (rows.length < wanted.length) throw missing(key);
      for (const [seq, chunk] of rows) {
        const data = chunk!;
        const start = integerOf(seq!)! * CHUNK_OCTETS;
        const end = start + data.length;
        while (first < ranges.length && ranges[first]!.end <= start) first++;
        for (let i = first; i < ranges.length && ranges[i]!.start < end; i++) {
          const range = ranges[i]!;
          const from = Math.max(range.start, start);
          const to = Math.min(range.end, end);
          if (to > from) parts[i]!.set(data.subarray(from - start, to - start), from - range.start);
        }
      }
    }
  } catch (error) {
    throw signal?.aborted === true ? error : storeFault(error);
  }
  return parts;
}

async function readAll(sql: Sql, hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    const rows: readonly BinaryColumn[][] = await sql`
      select hash, data from unnest(${hashes as string[]}::text[]) h
      cross join lateral decode(h, 'hex') hash
      cross join lateral (
        select string_agg(c.data, ''::bytea order by seq) as data from blob_chunks c where c.hash = hash.hash
      ) whole
      where ${inBinary(sql)} and data is not null`.raw();
    return new Map(rows.map(([hash, data]) => [hash!.toString('hex'), data!]));
  } catch (error) {
    throw storeFault(error);
  }
}

// The row lock on blobs makes a write of the same bytes wait for this delete, and lets this delete see an earlier write.
async function collect(sql: Sql, graceMs: number, limit: number): Promise<number> {
  try {
    return await sql.begin(async (tx) => {
      const candidates = await tx<{ hash: string }[]>`
        delete from blob_candidates where ctid = any(array(
          select ctid from blob_candidates c where at < now() - ${graceMs} * interval '1 millisecond'
            -- Stored again, perhaps for a message that has arrived already: it stays a candidate.
            and not exists (
              select 1 from blobs b where b.hash = c.hash and b.stored_at >= now() - ${graceMs} * interval '1 millisecond')
          order by at limit ${limit} for update skip locked))
        returning encode(hash, 'hex') as hash`;
      const hashes = candidates.map((row) => row.hash);
      if (hashes.length === 0) return 0;
      // Lock in the order in which blobs are stored, so that the two cannot deadlock.
      await tx`
        select hash from blobs where hash in (select decode(h, 'hex') from unnest(${hashes}::text[]) h)
        order by hash for update`;
      const gone = await tx<{ hash: string }[]>`
        delete from blobs b where b.hash in (select decode(h, 'hex') from unnest(${hashes}::text[]) h)
          and b.stored_at < now() - ${graceMs} * interval '1 millisecond'
          and not exists (select 1 from emails e where e.blob = b.hash)
          and not exists (select 1 from inbound i where i.blob = b.hash)
          and not exists (select 1 from outbound o where o.blob = b.hash)
          and not exists (select 1 from due_automatic_mail d where d.blob = b.hash)
        returning encode(b.hash, 'hex') as hash`;
      const dropped = gone.map((row) => row.hash);
      await tx`
        delete from blob_chunks where hash in (select decode(h, 'hex') from unnest(${dropped}::text[]) h)`;
      return hashes.length;
    });
  } catch (error) {
    throw storeFault(error);
  }
}

// Nothing refers to these blobs yet, so they are candidates for collection from the start. Their commit waits for the disk and for
// synchronous standbys: the row that refers to them may be committed later by another database, after a crash or a fail-over, which has
// nothing that was not waited for.

async function putSmall(sql: Sql, items: readonly SmallBlob[]): Promise<readonly 'stored'[]> {
  const statement = pieces`
    with ${storedBlobs(pieces, await gather(items))}
    insert into blob_candidates (hash) select hash from r`;
  await execute(sql, statement);
  return items.map(() => 'stored');
}

async function putLarge(sql: Sql, content: BlobContent): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await writeBlob(tx, content);
      await tx`insert into blob_candidates (hash) values (${Buffer.from(content.hash, 'hex')})`;
    });
  } catch (error) {
    throw storeFault(error);
  }
}

/** Numbers of the chunks that contain the ranges, ascending. */
function chunksOf(ranges: readonly OctetRange[]): number[] {
  const seqs: number[] = [];
  for (const { start, end } of ranges) {
    for (let seq = Math.floor(start / CHUNK_OCTETS); seq * CHUNK_OCTETS < end; seq++) {
      if (end > start && seqs.at(-1) !== seq) seqs.push(seq);
    }
  }
  return seqs;
}

function missing(hash: Buffer): StoreFault {
  return new StoreFault('store-failed', `blob ${hash.toString('hex')} is not in the store`, { temporary: false });
}
