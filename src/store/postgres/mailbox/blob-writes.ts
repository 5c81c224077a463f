// Writes the bytes of messages into the store: a large blob in pieces within a transaction; many small ones with a part of a
// larger statement (inbound, mailbox-commit), so that the blobs and the rows that refer to them are committed in one round trip.
import { pipeline } from 'node:stream/promises';
import type { BlobContent } from '../../blobs.js';
import type { SqlTransaction } from '../driver/client.js';
import { Octets } from '../driver/octet-parameters.js';
import { type Pieces, pieces, type StatementPiece } from '../driver/statement-pieces.js';

/** A chunk of this size with its key just fits a page of 8 KiB. */
export const CHUNK_OCTETS = 8_000;
const CHUNK = pieces.unsafe(String(CHUNK_OCTETS));
/** One statement writes or reads this many chunks and octets. */
export const STRIDE_CHUNKS = 32;
export const STRIDE_OCTETS = STRIDE_CHUNKS * CHUNK_OCTETS;

/**
 * Stores a large blob in a transaction, a few chunks at a time, by binary COPY: the bytes are not converted, and the memory used
 * does not depend on the size of the blob.
 */
export async function writeBlob(sql: SqlTransaction, content: BlobContent): Promise<void> {
  const hash = Buffer.from(content.hash, 'hex');
  // An earlier writer of these bytes has committed its chunks with them; this statement waits for a writer that has not.
  const [row] = await sql<{ fresh: boolean }[]>`
    insert into blobs (hash, size, mime_index)
    values (${hash}, ${content.size}, ${JSON.stringify(content.index)}::json)
    on conflict (hash) do update set stored_at = now()
    returning xmax = 0 as fresh`;
  if (row?.fresh !== true) return;
  const copy = await sql`copy blob_chunks (hash, seq, data) from stdin (format binary)`.writable();
  await pipeline(chunkTuples(hash, content.chunks()), copy);
}

/** The binary form of COPY (PostgreSQL documentation of COPY, "Binary Format"). */
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

/** Yields buffers of STRIDE_OCTETS; the last may be shorter. */
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

/** Bounds of a group commit of small blobs. */
export const BLOB_GROUP = { maxItems: 200, maxWeight: 2 * 1024 * 1024, maxWaiting: 64 * 1024 * 1024 } as const;

export interface SmallBlob {
  readonly content: BlobContent;
  /** The MIME index as JSON. */
  readonly index: string;
}

/** A blob that a commit stores if one of these accounts passes the fence, or if its shared message is stored. */
export interface BlobOfAccounts extends SmallBlob {
  readonly accountIds: readonly string[];
}

export function smallBlob(content: BlobContent): SmallBlob {
  return { content, index: content.indexJson ?? JSON.stringify(content.index) };
}

export function weightOf({ content, index }: SmallBlob): number {
  return content.size + index.length;
}

interface GatheredBlob {
  readonly hash: string;
  readonly size: number;
  /** Position in the bytes, 1-based. */
  readonly start: number;
  /** The accounts for which it is stored; undefined: stored in any case. */
  readonly accounts: readonly string[] | undefined;
  /** The MIME index as JSON. */
  readonly index: string;
}

/** The bytes of some small blobs, and where each lies in them. */
interface Gathered {
  readonly octets: readonly Uint8Array[];
  readonly blobs: readonly GatheredBlob[];
}

export async function gather(items: readonly (SmallBlob | BlobOfAccounts)[]): Promise<Gathered> {
  const blobs = new Map<string, GatheredBlob>();
  const accounts = accountsOf(items);
  const octets: Uint8Array[] = [];
  let offset = 0;
  for (const { content, index } of items) {
    const { hash, size } = content;
    if (blobs.has(hash)) continue;
    for await (const piece of content.chunks()) octets.push(piece);
    blobs.set(hash, { hash, size, start: offset + 1, accounts: accounts.get(hash), index });
    offset += size;
  }
  // Sort by hash, so that two writes that share blobs cannot deadlock.
  const inOrder = [...blobs.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return { octets, blobs: inOrder };
}

/** The accounts for which a blob is stored, by hash. */
function accountsOf(items: readonly (SmallBlob | BlobOfAccounts)[]): ReadonlyMap<string, readonly string[]> {
  const accounts = new Map<string, string[]>();
  for (const item of items) {
    if (!('accountIds' in item)) continue;
    const { hash } = item.content;
    const known = accounts.get(hash);
    if (known === undefined) accounts.set(hash, [...item.accountIds]);
    else known.push(...item.accountIds);
  }
  return accounts;
}

/** Does the same as `recordsets.ts`, for rows whose indexes are JSON already. */
function blobTable(sql: Pieces, blobs: readonly GatheredBlob[]): StatementPiece {
  const [blob, ...others] = blobs;
  if (blob === undefined || others.length > 0) {
    const rows = list(blobs.map(blobJson));
    return sql`json_to_recordset(${rows}::json) as x (hash text, size int, start int, accounts uuid[], index json)`;
  }
  const { hash, size, start, accounts, index } = blob;
  const ids = accounts === undefined ? null : `{${accounts.join()}}`;
  return sql`(select ${hash}::text as hash, ${size}::int as size, ${start}::int as start, ${ids}::uuid[] as accounts,
        ${index}::json as index) as x`;
}

function blobJson({ hash, size, start, accounts, index }: GatheredBlob): string {
  const of = accounts === undefined ? '' : `,"accounts":${JSON.stringify(accounts)}`;
  return `{"hash":"${hash}","size":${size},"start":${start}${of},"index":${index}}`;
}

/**
 * Common table expressions that store the blobs: `r` has their hashes, the last is `chunk`.
 *
 * All bytes travel as one parameter in the form in which they are stored; the statement cuts it into chunks.
 *
 * `condition`: selects the rows `x` that are stored; they have `accounts`.
 */
export function storedBlobs(
  sql: Pieces,
  { octets, blobs }: Gathered,
  condition: StatementPiece = sql``,
): StatementPiece {
  // The chunks come after the blobs: the blobs wait for a running collection, which removes the old chunks too. An earlier writer
  // of the same bytes has committed their chunks with them.
  return sql`r as materialized (
      select decode(hash, 'hex') as hash, size, start, index
      from ${blobTable(sql, blobs)}
      ${condition}
    ), blob as (
      insert into blobs (hash, size, mime_index) select hash, size, index from r
      on conflict (hash) do update set stored_at = now() returning hash, xmax = 0 as is_fresh
    ), fresh as materialized (
      select array_agg(hash) as hashes from blob where is_fresh
    ), chunk as (
      insert into blob_chunks (hash, seq, data)
      select hash, n, substring(${new Octets(octets)}::bytea
        from start + n * ${CHUNK} for least(${CHUNK}, size - n * ${CHUNK}))
      from r, generate_series(0, (size - 1) / ${CHUNK}) as n
      where size > 0 and hash = any ((select hashes from fresh)::bytea[])
    )`;
}

/** Joins rows that are JSON already to a JSON array. */
export const list = (rows: readonly string[]) => `[${rows.join(',')}]`;
