// Accepted mail in PostgreSQL. Small messages of many connections share one statement (blobs, chunks and inbound
// rows: one round trip); a large one has a transaction of its own, written chunk by chunk.
import type { BlobContent } from '../blobs.js';
import type { InboundDelivery, InboundEnvelope, InboundStore, PendingInbound } from '../inbound.js';
import { CHUNK_OCTETS, writeBlob } from './blobs.js';
import { type Sql, storeFault } from './client.js';
import { GroupCommit } from './group-commit.js';

/** Larger messages are not held back for a group. */
const SMALL_OCTETS = 256 * 1024;

interface Spooled {
  readonly content: BlobContent;
  readonly envelope: InboundEnvelope;
  readonly deliveries: readonly InboundDelivery[];
}

/** `writerSql`: a pool made `byKey`. */
export function postgresInbound(sql: Sql, writerSql: Sql): InboundStore {
  const group = new GroupCommit<Spooled, undefined>((items) => spoolSmall(writerSql, items), {
    maxItems: 200,
    maxWeight: 2 * 1024 * 1024,
    writers: 2,
    maxWaiting: 64 * 1024 * 1024,
    weigh: (item) => item.content.size + item.deliveries.length * 500,
  });

  async function spool(
    content: BlobContent,
    envelope: InboundEnvelope,
    deliveries: readonly InboundDelivery[],
  ): Promise<void> {
    const item = { content, envelope, deliveries };
    if (content.size <= SMALL_OCTETS) await group.submit(item);
    else await spoolLarge(sql, item);
  }

  async function overdue(shards: readonly number[], minAgeMs: number, limit: number) {
    try {
      const rows = await sql<{ account_id: string; id: string; blob: string; envelope: InboundEnvelope }[]>`
        select i.account_id, i.id, encode(i.blob, 'hex') as blob, i.envelope
        from inbound i join accounts a on a.id = i.account_id
        where a.shard = any(${shards as number[]}::int[]) and i.at < now() - ${minAgeMs} * interval '1 millisecond'
        order by i.at, i.id limit ${limit}`;
      return rows.map(
        (row): PendingInbound => ({ accountId: row.account_id, id: row.id, blob: row.blob, envelope: row.envelope }),
      );
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function dropOrphans(minAgeMs: number): Promise<number> {
    try {
      const { count } = await sql`
        delete from inbound i where i.at < now() - ${minAgeMs} * interval '1 millisecond'
          and not exists (select 1 from accounts a where a.id = i.account_id)`;
      return count;
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { spool, overdue, dropOrphans };
}

/**
 * All bytes travel as one parameter that the statement cuts up: one conversion, whatever the number of messages. As text
 * that is Latin-1 to the letter, since mail is mostly ASCII and a bytea's hexadecimal form is twice as long; a text cannot
 * hold NUL, so bytes that do go the other way.
 */
async function spoolSmall(sql: Sql, items: readonly Spooled[]): Promise<readonly undefined[]> {
  const blobs: { hash: string; size: number; start: number; index: unknown }[] = [];
  const inbound: { account_id: string; id: string; hash: string; envelope: InboundEnvelope }[] = [];
  const pieces: Uint8Array[] = [];
  const seen = new Set<string>();
  let offset = 0;
  for (const { content, envelope, deliveries } of items) {
    for (const delivery of deliveries) {
      inbound.push({ account_id: delivery.accountId, id: delivery.id, hash: content.hash, envelope });
    }
    if (seen.has(content.hash)) continue;
    seen.add(content.hash);
    for await (const piece of content.chunks()) pieces.push(piece);
    blobs.push({ hash: content.hash, size: content.size, start: offset + 1, index: content.index });
    offset += content.size;
  }
  // In order of hash, so that two writes that share blobs cannot wait for each other in a circle.
  blobs.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  const bytes = Buffer.concat(pieces, offset);
  const data = bytes.includes(0) ? sql`${bytes}::bytea` : sql`convert_to(${bytes.toString('latin1')}, 'LATIN1')`;
  await sql`
    with bytes as materialized (
      select ${data} as bytes
    ), r as materialized (
      select decode(hash, 'hex') as hash, size, start, index
      from json_to_recordset(${JSON.stringify(blobs)}::text::json) as x (hash text, size int, start int, index json)
    ), blob as (
      insert into blobs (hash, size, mime_index) select hash, size, index from r
      on conflict (hash) do update set stored_at = now()
    ), chunk as (
      insert into blob_chunks (hash, seq, data)
      select hash, n, substring(bytes from start + n * ${CHUNK_OCTETS}::int for least(${CHUNK_OCTETS}::int, size - n * ${CHUNK_OCTETS}::int))
      from r, bytes, generate_series(0, (size - 1) / ${CHUNK_OCTETS}::int) as n where size > 0
      on conflict do nothing
    )
    insert into inbound (account_id, id, blob, envelope)
    select account_id, id, decode(hash, 'hex'), envelope
    from json_to_recordset(${JSON.stringify(inbound)}::text::json)
      as x (account_id uuid, id uuid, hash text, envelope json)`;
  return new Array(items.length).fill(undefined);
}

async function spoolLarge(sql: Sql, { content, envelope, deliveries }: Spooled): Promise<void> {
  const hash = Buffer.from(content.hash, 'hex');
  try {
    await sql.begin(async (tx) => {
      await writeBlob(tx, content);
      await tx`
        insert into inbound (account_id, id, blob, envelope)
        select "accountId", id, ${hash}, ${JSON.stringify(envelope)}::text::json
        from json_to_recordset(${JSON.stringify(deliveries)}::text::json) as x ("accountId" uuid, id uuid)`;
    });
  } catch (error) {
    throw storeFault(error);
  }
}
