// Accepted mail in PostgreSQL. Small messages of many connections share one statement (blobs, chunks and inbound rows in one
// round trip); a large one has its own transaction, written chunk by chunk.
import { type BlobContent, isSmall } from '../../blobs.js';
import type { CommitMeter } from '../../commit-meter.js';
import { StoreFault } from '../../errors.js';
import {
  detailOf,
  type InboundDelivery,
  type InboundEnvelope,
  type InboundStore,
  type PendingInbound,
} from '../../inbound.js';
import { guarded, type Sql, storeFault } from '../driver/client.js';
import { type CommitDeadline, NO_DEADLINE, untilDeadline } from '../driver/commit-deadline.js';
import { GroupCommit } from '../driver/group-commit.js';
import { execute, pieces } from '../driver/statement-pieces.js';
import {
  BLOB_GROUP,
  gather,
  list,
  type SmallBlob,
  smallBlob,
  storedBlobs,
  weightOf,
  writeBlob,
} from './blob-writes.js';

interface Spooled extends SmallBlob {
  readonly deliveries: readonly InboundDelivery[];
  /** The envelope as JSON, made once however many deliveries there are. */
  readonly envelope: string;
}

/** `orphaned`: an account does not exist, or the statement came too late; nothing of the message was kept. */
type Outcome = 'spooled' | 'orphaned';

const DELIVERY_OCTETS = 100;

/** `writerSql`: a `byKey` pool. */
export function postgresInbound(
  sql: Sql,
  writerSql: Sql,
  meter?: CommitMeter,
  deadline: CommitDeadline = NO_DEADLINE,
): InboundStore {
  const group = new GroupCommit<Spooled, Outcome>((items) => spoolSmall(writerSql, items, deadline), {
    ...BLOB_GROUP,
    weigh: (item) => weightOf(item) + item.envelope.length + item.deliveries.length * DELIVERY_OCTETS,
    meter,
  });

  async function spool(
    content: BlobContent,
    envelope: InboundEnvelope,
    deliveries: readonly InboundDelivery[],
  ): Promise<void> {
    const item = { deliveries, envelope: JSON.stringify(envelope), ...smallBlob(content) };
    const outcome = isSmall(content) ? await group.submit(item) : await spoolLarge(sql, item);
    if (outcome === 'orphaned') {
      throw new StoreFault(
        'store-conflict',
        'an account of the message was deleted meanwhile, or the database was late',
        {
          temporary: true,
        },
      );
    }
  }

  async function overdue(shards: readonly number[], minAgeMs: number, limit: number, except: readonly string[]) {
    try {
      const rows = await sql<OverdueRow[]>`
        select i.account_id, i.id, encode(i.blob, 'hex') as blob, i.envelope, i.is_tried, i.delivery
        from inbound i join accounts a on a.id = i.account_id
        where a.shard = any(${shards as number[]}::int[]) and i.import_number is null and i.at < now() - ${minAgeMs} * interval '1 millisecond'
          and i.account_id <> all(${except as string[]}::uuid[])
        order by i.at, i.id limit ${limit}`;
      return rows.map(pendingOf);
    } catch (error) {
      throw storeFault(error);
    }
  }

  async function end({ accountId, id }: InboundDelivery) {
    await guarded(
      () => sql`
        with gone as (delete from inbound where account_id = ${accountId} and id = ${id} returning blob)
        insert into blob_candidates (hash) select blob from gone`,
    );
  }

  return { spool, overdue, end };
}

type DeliveryDetail = Pick<InboundDelivery, 'recipient' | 'onward'>;

interface OverdueRow {
  readonly account_id: string;
  readonly id: string;
  readonly blob: string;
  readonly envelope: InboundEnvelope;
  readonly is_tried: boolean;
  readonly delivery: DeliveryDetail | null;
}

function pendingOf({ account_id: accountId, is_tried: isTried, delivery, ...row }: OverdueRow): PendingInbound {
  return { accountId, ...row, ...(isTried && { isTried }), ...delivery };
}

async function spoolSmall(sql: Sql, items: readonly Spooled[], deadline: CommitDeadline): Promise<readonly Outcome[]> {
  const messages: string[] = [];
  const deliveries: object[] = [];
  for (const [m, { content, envelope, deliveries: own }] of items.entries()) {
    messages.push(`{"m":${m},"hash":"${content.hash}","envelope":${envelope}}`);
    for (const delivery of own) {
      const { accountId: a, id, isTried = false } = delivery;
      deliveries.push({ m, a, id, isTried, delivery: detailOf(delivery) });
    }
  }
  const contents = await gather(items);
  const statement = pieces`
    with ${storedBlobs(pieces, contents)}, message as materialized (
      select m, decode(hash, 'hex') as blob, envelope
      from json_to_recordset(${list(messages)}::json) as x (m int, hash text, envelope json)
    ), delivery as materialized (
      select m, a, id, "isTried", delivery
      from json_to_recordset(${JSON.stringify(deliveries)}::json) as x (m int, a uuid, id uuid, "isTried" boolean, delivery json)
    ), owner as materialized (
      select id from accounts where id in (select a from delivery) ${untilDeadline(pieces, deadline())}
      for key share of accounts
    ), orphan as materialized (
      select distinct m from delivery where a not in (select id from owner)
    ), unwanted as (
      insert into blob_candidates (hash) select blob from message where m in (select m from orphan)
    ), accepted as (
      insert into inbound (account_id, id, blob, envelope, is_tried, delivery)
      select d.a, d.id, x.blob, x.envelope, d."isTried", d.delivery
      from delivery d join message x using (m) where d.m not in (select m from orphan)
      -- The commit of a mailbox may have added the rows of tried deliveries.
      on conflict do nothing
    )
    select m from orphan`;
  const orphaned = await execute<{ m: number }[]>(sql, statement);
  const lost = new Set(orphaned.map(({ m }) => m));
  return items.map((_, m) => (lost.has(m) ? 'orphaned' : 'spooled'));
}

class Orphaned extends Error {}

async function spoolLarge(sql: Sql, { content, envelope, deliveries }: Spooled): Promise<Outcome> {
  const hash = Buffer.from(content.hash, 'hex');
  const rows = deliveries.map((delivery) => ({ ...delivery, delivery: detailOf(delivery) }));
  try {
    await sql.begin(async (tx) => {
      const { count } = await tx`
        insert into inbound (account_id, id, blob, envelope, delivery)
        select a.id, x.id, ${hash}, ${envelope}::json, x.delivery
        from json_to_recordset(${JSON.stringify(rows)}::json) as x ("accountId" uuid, id uuid, delivery json)
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
