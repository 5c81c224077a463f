// Accepted mail in PostgreSQL. Small messages of many connections share one statement (blobs, chunks and inbound
// rows: one round trip); a large one has a transaction of its own, written chunk by chunk.
import type { BlobContent } from '../blobs.js';
import type { CommitMeter } from '../commit-meter.js';
import { StoreFault } from '../errors.js';
import type { InboundDelivery, InboundEnvelope, InboundStore, PendingInbound } from '../inbound.js';
import { CHUNK_OCTETS, writeBlob } from './blobs.js';
import { type Sql, storeFault } from './client.js';
import { GroupCommit } from './group-commit.js';

/** Larger messages are not held back for a group. */
const SMALL_OCTETS = 256 * 1024;

interface Spooled {
  readonly content: BlobContent;
  readonly deliveries: readonly InboundDelivery[];
  /** As JSON, made once however many deliveries there are. */
  readonly envelope: string;
  readonly index: string;
}

/** `orphaned`: an account is not there (any more); nothing of the message was kept. */
type Outcome = 'spooled' | 'orphaned';

const DELIVERY_OCTETS = 100;

/** `writerSql`: a pool made `byKey`. */
export function postgresInbound(sql: Sql, writerSql: Sql, meter?: CommitMeter): InboundStore {
  const group = new GroupCommit<Spooled, Outcome>((items) => spoolSmall(writerSql, items), {
    maxItems: 200,
    maxWeight: 2 * 1024 * 1024,
    maxWaiting: 64 * 1024 * 1024,
    weigh: ({ content, envelope, index, deliveries }) =>
      content.size + envelope.length + index.length + deliveries.length * DELIVERY_OCTETS,
    meter,
  });

  async function spool(
    content: BlobContent,
    envelope: InboundEnvelope,
    deliveries: readonly InboundDelivery[],
  ): Promise<void> {
    const item = { content, deliveries, envelope: JSON.stringify(envelope), index: JSON.stringify(content.index) };
    const outcome = content.size <= SMALL_OCTETS ? await group.submit(item) : await spoolLarge(sql, item);
    if (outcome === 'orphaned') {
      throw new StoreFault('store-conflict', 'an account of the message was deleted meanwhile', { temporary: true });
    }
  }

  async function overdue(shards: readonly number[], minAgeMs: number, limit: number, except: readonly string[]) {
    try {
      const rows = await sql<{ account_id: string; id: string; blob: string; envelope: InboundEnvelope }[]>`
        select i.account_id, i.id, encode(i.blob, 'hex') as blob, i.envelope
        from inbound i join accounts a on a.id = i.account_id
        where a.shard = any(${shards as number[]}::int[]) and i.at < now() - ${minAgeMs} * interval '1 millisecond'
          and i.account_id <> all(${except as string[]}::uuid[])
        order by i.at, i.id limit ${limit}`;
      return rows.map(
        (row): PendingInbound => ({ accountId: row.account_id, id: row.id, blob: row.blob, envelope: row.envelope }),
      );
    } catch (error) {
      throw storeFault(error);
    }
  }

  return { spool, overdue };
}

/**
 * All bytes travel as one parameter that the statement cuts up: one conversion, whatever the number of messages. As text
 * that is Latin-1 to the letter, since mail is mostly ASCII and a bytea's hexadecimal form is twice as long; a text cannot
 * hold NUL, so bytes that do go the other way.
 */
async function spoolSmall(sql: Sql, items: readonly Spooled[]): Promise<readonly Outcome[]> {
  const blobs = new Map<string, string>();
  const messages: string[] = [];
  const deliveries: { m: number; a: string; id: string }[] = [];
  const pieces: Uint8Array[] = [];
  let offset = 0;
  for (const [m, { content, envelope, index, deliveries: own }] of items.entries()) {
    messages.push(`{"m":${m},"hash":"${content.hash}","envelope":${envelope}}`);
    for (const { accountId, id } of own) deliveries.push({ m, a: accountId, id });
    if (blobs.has(content.hash)) continue;
    for await (const piece of content.chunks()) pieces.push(piece);
    const start = offset + 1;
    blobs.set(content.hash, `{"hash":"${content.hash}","size":${content.size},"start":${start},"index":${index}}`);
    offset += content.size;
  }
  // In order of hash, so that two writes that share blobs cannot wait for each other in a circle.
  const ordered = [...blobs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const bytes = Buffer.concat(pieces, offset);
  const data = bytes.includes(0) ? sql`${bytes}::bytea` : sql`convert_to(${bytes.toString('latin1')}, 'LATIN1')`;
  // The chunks come after the blobs (`stored`): those wait for a collection under way, which takes the old chunks along.
  const orphaned = await sql<{ m: number }[]>`
    with bytes as materialized (
      select ${data} as bytes
    ), r as materialized (
      select decode(hash, 'hex') as hash, size, start, index
      from json_to_recordset(${list(ordered)}::text::json) as x (hash text, size int, start int, index json)
    ), message as materialized (
      select m, decode(hash, 'hex') as blob, envelope
      from json_to_recordset(${list(messages)}::text::json) as x (m int, hash text, envelope json)
    ), delivery as materialized (
      select m, a, id from json_to_recordset(${JSON.stringify(deliveries)}::text::json) as x (m int, a uuid, id uuid)
    ), owner as materialized (
      select id from accounts where id in (select a from delivery) for key share of accounts
    ), orphan as materialized (
      select distinct m from delivery where a not in (select id from owner)
    ), blob as (
      insert into blobs (hash, size, mime_index) select hash, size, index from r
      on conflict (hash) do update set stored_at = now() returning hash
    ), stored as (
      select count(*) from blob
    ), chunk as (
      insert into blob_chunks (hash, seq, data)
      select hash, n, substring(bytes
        from start + n * ${CHUNK_OCTETS}::int for least(${CHUNK_OCTETS}::int, size - n * ${CHUNK_OCTETS}::int))
      from stored, r, bytes, generate_series(0, (size - 1) / ${CHUNK_OCTETS}::int) as n where size > 0
      on conflict do nothing
    ), unwanted as (
      insert into blob_candidates (hash) select blob from message where m in (select m from orphan)
    ), accepted as (
      insert into inbound (account_id, id, blob, envelope)
      select d.a, d.id, x.blob, x.envelope
      from delivery d join message x using (m) where d.m not in (select m from orphan)
    )
    select m from orphan`;
  const lost = new Set(orphaned.map(({ m }) => m));
  return items.map((_, m) => (lost.has(m) ? 'orphaned' : 'spooled'));
}

const list = (rows: readonly string[]) => `[${rows.join(',')}]`;

class Orphaned extends Error {}

async function spoolLarge(sql: Sql, { content, envelope, deliveries }: Spooled): Promise<Outcome> {
  const hash = Buffer.from(content.hash, 'hex');
  try {
    await sql.begin(async (tx) => {
      const { count } = await tx`
        insert into inbound (account_id, id, blob, envelope)
        select a.id, x.id, ${hash}, ${envelope}::text::json
        from json_to_recordset(${JSON.stringify(deliveries)}::text::json) as x ("accountId" uuid, id uuid)
          join accounts a on a.id = x."accountId"
        for key share of a`;
      if (count < deliveries.length) throw new Orphaned();
      await writeBlob(tx, content);
    });
    return 'spooled';
  } catch (error) {
    if (error instanceof Orphaned) return 'orphaned';
    throw storeFault(error);
  }
}
