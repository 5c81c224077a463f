// Overlays of flags (decision 0046): what one record of the log says of many emails is committed as one row, which names the ids
// in the row of the log, and is written to the emails later. An overlay holds for emails whose own modseq is lower, so it can be
// written at any time, by any node, more than once, and never undoes a newer change. Of one seq the overlay that begins last in
// the ids is the newest.
import type { FlagOverlayRows } from '../flag-settling.js';
import type { EmailPage } from '../mailboxes.js';
import { type Fragment, guarded, type Sql } from './client.js';
import { idsOfRange, type OverlayRow } from './flag-ranges.js';
import type { Pieces } from './statement-pieces.js';

const ID_OCTETS = 16;
/** Emails that are written at once before keywords are read. */
const MOST_SETTLED = 5_000;

/** Of the ids that an overlay `o` still has the first `count`. A look-up by key: as a join it may read the account's log. */
const idsOf = (sql: Sql, count: Fragment) => sql`
  substring((select ids from events where account_id = o.account_id and seq = o.seq)
    from o.first * ${ID_OCTETS} + 1 for ${count} * ${ID_OCTETS})`;

/** All of an account, with their ids. */
const rangesAndOverlays = (sql: Sql, accountId: string) => sql`
  select o.seq, o.first, o.flags, ${idsOf(sql, sql`o.count`)} as ids from flag_overlays o where o.account_id = ${accountId}
  union all
  select r.seq, r.first, r.flags, ${idsOfRange(sql)} from flag_ranges r where r.account_id = ${accountId}`;

/** A part of the commit's statement. */
export function writeOverlays(sql: Pieces, rows: readonly OverlayRow[]) {
  if (rows.length === 0) return sql``;
  return sql`
    , overlaid as (
      insert into flag_overlays (account_id, seq, first, count, flags, keywords)
      select a, seq, first, count, flags, keywords from json_to_recordset(${JSON.stringify(rows)}::json)
        as x (a uuid, seq bigint, first integer, count integer, flags smallint, keywords text[]) join passed using (a)
    )`;
}

export interface FlagOverlay {
  readonly seq: number;
  readonly flags: number;
  /** 16 octets each. */
  readonly ids: Uint8Array;
}

/** In the order in which they are to be applied. Read before the emails, for an overlay that is written to them meanwhile is gone. */
export async function flagOverlays(sql: Sql, accountId: string): Promise<readonly FlagOverlay[]> {
  return guarded(
    () => sql<FlagOverlay[]>`
      select seq::float8 as seq, flags, ids from (
        ${rangesAndOverlays(sql, accountId)}
      ) o order by o.seq, o.first desc`,
  );
}

/** Changes a page of emails to what it will be when the overlays have been written to the emails. */
export function overlay({ ids, flags, modseqs, count }: EmailPage, overlays: readonly FlagOverlay[]): void {
  const rows = viewOf(ids);
  for (const { seq, flags: overlaid, ids: theirs } of overlays) {
    const wanted = viewOf(theirs);
    let next = 0;
    for (let at = 0; at < wanted.byteLength; at += ID_OCTETS) {
      // Mostly they follow each other in both.
      if (compare(rows, next, count, wanted, at) !== 0) next = positionOf(rows, count, wanted, at);
      if (compare(rows, next, count, wanted, at) !== 0) continue;
      if (modseqs[next]! < seq) {
        flags[next] = overlaid;
        modseqs[next] = seq;
      }
      next++;
    }
  }
}

/** Flags of emails `e` of an account where an overlay holds: `ids`, `flags` and `seq`, once an email. For a `with`. */
export function overlaidFlags(sql: Sql, accountId: string) {
  return sql`
    overlay as materialized (
      ${rangesAndOverlays(sql, accountId)}
    ), overlaid as materialized (
      select distinct on (id) ${idAt(sql, sql`o.ids`)} as id, o.seq, o.flags
      from overlay o cross join lateral generate_series(0, length(o.ids) / ${ID_OCTETS} - 1) i
      order by id, o.seq desc, o.first desc
    )`;
}

/**
 * Drops overlays of an account whose emails are all those of a newer one, which also has keywords where they have: who marks a
 * folder as read and as unread again.
 * Returns how many are left.
 */
async function dropCovered(sql: Sql, accountId: string): Promise<number> {
  const [row] = await guarded(
    () => sql<[{ left: number }]>`
      with overlay as materialized (
        select o.seq, o.first, o.keywords is null as keeps, max(o.seq) over same as newest,
          max(o.seq) filter (where o.keywords is not null) over same as named
        from flag_overlays o where o.account_id = ${accountId}
        window same as (partition by ${idsOf(sql, sql`o.count`)})
      ), dropped as (
        delete from flag_overlays t using overlay o
        where t.account_id = ${accountId} and t.seq = o.seq and t.first = o.first and o.seq < o.newest and (o.keeps or o.seq < o.named)
        returning 1
      )
      select (select count(*) from overlay)::int - (select count(*) from dropped)::int as left`,
  );
  return row.left;
}

/**
 * Writes flags to at most so many emails of an account's oldest overlay; returns whether overlays were left before. The lock on
 * the account's row comes first, as in every commit, so the two never wait for each other's emails.
 */
async function writeOverlaid(sql: Sql, accountId: string, most: number): Promise<boolean> {
  const rows = await guarded(
    () => sql`
      with due as materialized (
        select o.seq, o.first, o.flags, o.keywords,
          ${idsOf(sql, sql`least(o.count, ${most})`)} as ids
        from flag_overlays o
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
        update flag_overlays t set first = t.first + ${most}, count = t.count - ${most} from account a, due d
        where t.account_id = a.id and t.seq = d.seq and t.first = d.first and t.count > ${most}
      ), done as (
        delete from flag_overlays t using account a, due d
        where t.account_id = a.id and t.seq = d.seq and t.first = d.first and t.count <= ${most}
      )
      select from account, due`,
  );
  return rows.length > 0;
}

/**
 * Writes the overlays of an account as long as some have keywords: whoever reads keywords finds those of the emails. Who asks owns
 * the account, so there are no new ones.
 */
export async function settleKeywords(sql: Sql, accountId: string): Promise<void> {
  for (;;) {
    const [row] = await guarded(
      () => sql<[{ ranged: boolean; overlaid: boolean }]>`
        select exists (select from flag_ranges where account_id = ${accountId} and keywords is not null) as ranged,
          exists (select from flag_overlays where account_id = ${accountId} and keywords is not null) as overlaid`,
    );
    if (row.ranged) await expand(sql, accountId);
    else if (!row.overlaid || !(await writeOverlaid(sql, accountId, MOST_SETTLED))) return;
  }
}

/** Accounts with overlays of changes that are older than so many ms: whoever was to write them has ended. */
async function accountsBehind(sql: Sql, ageMs: number, limit: number): Promise<readonly string[]> {
  const rows = await guarded(
    () => sql<{ id: string }[]>`
      select distinct o.account_id as id
      from (select account_id, seq from flag_overlays union all select account_id, seq from flag_ranges) o
        join events e on e.account_id = o.account_id and e.seq = o.seq
      where e.at < now() - ${ageMs} * interval '1 millisecond' limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/** Makes overlays of the account's ranges. */
async function expand(sql: Sql, accountId: string): Promise<void> {
  await guarded(() => sql`select expand_flag_ranges(${accountId})`);
}

/** `sql`: a pool made `byKey`. */
export function postgresFlagOverlays(sql: Sql): FlagOverlayRows {
  return {
    async dropCovered(accountId) {
      await expand(sql, accountId);
      return dropCovered(sql, accountId);
    },
    async write(accountId, most) {
      await expand(sql, accountId);
      return writeOverlaid(sql, accountId, most);
    },
    behind: (ageMs, limit) => accountsBehind(sql, ageMs, limit),
  };
}

const idAt = (sql: Sql, ids: Fragment) =>
  sql`encode(substring(${ids} from i * ${ID_OCTETS} + 1 for ${ID_OCTETS}), 'hex')::uuid`;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);

/** Below 0 when the id at `position` of the rows comes before the wanted one; above when there is none. */
function compare(rows: DataView, position: number, count: number, wanted: DataView, at: number): number {
  if (position >= count) return 1;
  for (let i = 0; i < ID_OCTETS; i += 4) {
    const difference = rows.getUint32(position * ID_OCTETS + i) - wanted.getUint32(at + i);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Of the first row that does not come before the wanted id; ids beyond the last row, of another page, are seen at once. */
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
