// Deferred flag writes (decision 0046): a change of the flags of many emails by one record of the log is committed as one row, which
// refers to the ids in the log and is written to the emails later. A deferred write applies to emails with a lower modseq, so any node
// can write it at any time, also repeatedly, and it never undoes a newer change. Of several deferred writes with one seq, the one that
// begins last in the ids is the newest.
import type { DeferredFlagRows } from '../../flag-flushing.js';
import type { EmailPage } from '../../mailboxes.js';
import { type Fragment, guarded, type Sql } from '../driver/client.js';
import type { Pieces } from '../driver/statement-pieces.js';

const ID_OCTETS = 16;
/** At most this many emails are written in one step before keywords are read. */
const MOST_FLUSHED = 5_000;

/** The first `count` ids that a deferred write `o` still has. A look-up by key: a join may read the account's whole log. */
const idsOf = (sql: Sql, count: Fragment) => sql`
  substring((select ids from events where account_id = o.account_id and seq = o.seq)
    from o.first * ${ID_OCTETS} + 1 for ${count} * ${ID_OCTETS})`;

/** All deferred writes of an account, with their ids. */
const deferredOf = (sql: Sql, accountId: string) => sql`
  select o.seq, o.first, o.flags, ${idsOf(sql, sql`o.count`)} as ids from deferred_flag_writes o where o.account_id = ${accountId}`;

/** A deferred write of a record; its ids are in the row of the log. */
export interface DeferredRow {
  /** Account. */
  readonly a: string;
  readonly seq: number;
  /** Position of the first id in the row of the log. */
  readonly first: number;
  readonly count: number;
  readonly flags: number;
  /** All keywords of the emails; undefined when they keep theirs. */
  readonly keywords?: readonly string[] | undefined;
}

/** The part of the commit's statement that writes deferred writes. */
export function writeDeferredFlags(sql: Pieces, rows: readonly DeferredRow[]) {
  if (rows.length === 0) return sql``;
  return sql`
    , deferred as (
      insert into deferred_flag_writes (account_id, seq, first, count, flags, keywords)
      select a, seq, first, count, flags, keywords from json_to_recordset(${JSON.stringify(rows)}::json)
        as x (a uuid, seq bigint, first integer, count integer, flags smallint, keywords text[]) join passed using (a)
    )`;
}

export interface DeferredFlagWrite {
  readonly seq: number;
  readonly flags: number;
  /** 16 octets each. */
  readonly ids: Uint8Array;
}

/**
 * The deferred writes in the order in which they apply. Read them before the emails: a deferred write that is written to the emails
 * meanwhile disappears.
 */
export async function deferredWrites(sql: Sql, accountId: string): Promise<readonly DeferredFlagWrite[]> {
  return guarded(
    () => sql<DeferredFlagWrite[]>`
      select seq::float8 as seq, flags, ids from (${deferredOf(sql, accountId)}) o order by o.seq, o.first desc`,
  );
}

/** Applies the deferred writes to a page of emails, as if they were written. */
export function applyDeferred({ ids, flags, modseqs, count }: EmailPage, writes: readonly DeferredFlagWrite[]): void {
  const rows = viewOf(ids);
  for (const { seq, flags: deferred, ids: theirs } of writes) {
    const wanted = viewOf(theirs);
    let next = 0;
    for (let at = 0; at < wanted.byteLength; at += ID_OCTETS) {
      // Mostly the next wanted id is that of the next row.
      if (compare(rows, next, count, wanted, at) !== 0) next = positionOf(rows, count, wanted, at);
      if (compare(rows, next, count, wanted, at) !== 0) continue;
      if (modseqs[next]! < seq) {
        flags[next] = deferred;
        modseqs[next] = seq;
      }
      next++;
    }
  }
}

/** A common table expression `deferred` with the `id`, `flags` and `seq` of each email of an account that has a deferred write. */
export function deferredFlags(sql: Sql, accountId: string) {
  return sql`
    deferred_write as materialized (
      ${deferredOf(sql, accountId)}
    ), deferred as materialized (
      select distinct on (id) ${idAt(sql, sql`o.ids`)} as id, o.seq, o.flags
      from deferred_write o cross join lateral generate_series(0, length(o.ids) / ${ID_OCTETS} - 1) i
      order by id, o.seq desc, o.first desc
    )`;
}

/**
 * Drops deferred writes whose emails all have a newer one, which also has keywords where they have some: this happens when a client
 * marks a folder as read and as unread again. Returns how many are left.
 */
async function dropCovered(sql: Sql, accountId: string): Promise<number> {
  const [row] = await guarded(
    () => sql<[{ left: number }]>`
      with deferred as materialized (
        select o.seq, o.first, o.keywords is null as keeps, max(o.seq) over same as newest,
          max(o.seq) filter (where o.keywords is not null) over same as named
        from deferred_flag_writes o where o.account_id = ${accountId}
        window same as (partition by ${idsOf(sql, sql`o.count`)})
      ), dropped as (
        delete from deferred_flag_writes t using deferred o
        where t.account_id = ${accountId} and t.seq = o.seq and t.first = o.first and o.seq < o.newest and (o.keeps or o.seq < o.named)
        returning 1
      )
      select (select count(*) from deferred)::int - (select count(*) from dropped)::int as left`,
  );
  return row.left;
}

/**
 * Writes flags to at most `most` emails of an account's oldest deferred write; returns whether there was one. It locks the account's row
 * first, like every commit, so the two never wait for each other's emails.
 */
async function writeDeferred(sql: Sql, accountId: string, most: number): Promise<boolean> {
  const rows = await guarded(
    () => sql`
      with due as materialized (
        select o.seq, o.first, o.flags, o.keywords,
          ${idsOf(sql, sql`least(o.count, ${most})`)} as ids
        from deferred_flag_writes o
        where o.account_id = ${accountId} order by o.seq, o.first desc limit 1
      ), account as materialized (
        select id from accounts where id = ${accountId} for no key update
      ), email as materialized (
        select a.id as account_id, ${idAt(sql, sql`d.ids`)} as id, d.flags, d.keywords, d.seq
        from account a, due d, generate_series(0, length(d.ids) / ${ID_OCTETS} - 1) i
      ), written as (
        update emails t set flags = e.flags, keywords = coalesce(e.keywords, t.keywords), modseq = e.seq from email e
        where t.account_id = e.account_id and t.id = e.id and t.modseq < e.seq
      ), shorter as (
        update deferred_flag_writes t set first = t.first + ${most}, count = t.count - ${most} from account a, due d
        where t.account_id = a.id and t.seq = d.seq and t.first = d.first and t.count > ${most}
      ), done as (
        delete from deferred_flag_writes t using account a, due d
        where t.account_id = a.id and t.seq = d.seq and t.first = d.first and t.count <= ${most}
      )
      select from account, due`,
  );
  return rows.length > 0;
}

/**
 * Writes the deferred writes of an account until none has keywords, so that the emails have their current keywords. The caller owns the
 * account, so no new deferred writes appear.
 */
export async function flushKeywords(sql: Sql, accountId: string): Promise<void> {
  for (;;) {
    const [row] = await guarded(
      () => sql<[{ deferred: boolean }]>`
        select exists (select from deferred_flag_writes where account_id = ${accountId} and keywords is not null) as deferred`,
    );
    if (!row.deferred || !(await writeDeferred(sql, accountId, MOST_FLUSHED))) return;
  }
}

/** Accounts with deferred writes of changes older than `ageMs`: the node that owed them has ended. */
async function accountsBehind(sql: Sql, ageMs: number, limit: number): Promise<readonly string[]> {
  const rows = await guarded(
    () => sql<{ id: string }[]>`
      select distinct o.account_id as id
      from deferred_flag_writes o join events e on e.account_id = o.account_id and e.seq = o.seq
      where e.at < now() - ${ageMs} * interval '1 millisecond' limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/** `sql`: a `byKey` pool. */
export function postgresDeferredFlags(sql: Sql): DeferredFlagRows {
  return {
    dropCovered: (accountId) => dropCovered(sql, accountId),
    write: (accountId, most) => writeDeferred(sql, accountId, most),
    behind: (ageMs, limit) => accountsBehind(sql, ageMs, limit),
  };
}

const idAt = (sql: Sql, ids: Fragment) =>
  sql`encode(substring(${ids} from i * ${ID_OCTETS} + 1 for ${ID_OCTETS}), 'hex')::uuid`;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);

/**
 * Returns a negative number when the id at `position` of the rows comes before the wanted one, and a positive one when there is
 * no such row.
 */
function compare(rows: DataView, position: number, count: number, wanted: DataView, at: number): number {
  if (position >= count) return 1;
  for (let i = 0; i < ID_OCTETS; i += 4) {
    const difference = rows.getUint32(position * ID_OCTETS + i) - wanted.getUint32(at + i);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Position of the first row that does not come before the wanted id. It returns at once for ids beyond the page. */
function positionOf(rows: DataView, count: number, wanted: DataView, at: number): number {
  if (compare(rows, 0, count, wanted, at) > 0) return 0;
  if (compare(rows, count - 1, count, wanted, at) < 0) return count;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(rows, middle, count, wanted, at) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
