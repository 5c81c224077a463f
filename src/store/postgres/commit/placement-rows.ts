// Placements in the statement of a mailbox commit: new ones, removed ones, and those whose `\Deleted` changes. Adjacent
// placements with the same values form one row. Many new ones have packed ids and the first of their UIDs (decision 0056).
import { PackedIds } from '../../../mail-format/packed-ids.js';
import type { CoalescedPlacements } from '../../changes/coalesced-placements.js';
import { uuidArray } from '../driver/binary-array.js';
import { runsOf } from '../driver/runs.js';
import type { Pieces, StatementPiece } from '../driver/statement-pieces.js';
import { json, PASSED, type Part, type TablePart } from './commit-parts.js';

/** Runs of at least this many ids are packed: as JSON elements they take five times as long to read. */
const LEAST_PACKED = 100;

interface OfFolder {
  /** Account. */
  readonly a: string;
  /** Folder. */
  readonly f: string;
  /** Modseq. */
  readonly m: number;
}

interface PlacedValues extends OfFolder {
  /** `\Deleted`. */
  readonly d: boolean;
  /** When they were put into the folder, in ms since the epoch. */
  readonly s?: number | undefined;
}

export interface PlacedRow extends PlacedValues {
  readonly uids: readonly number[];
  readonly ids: readonly string[];
}

export interface PlacedTogetherRow extends PlacedValues {
  readonly uid: number;
  readonly ids: PackedIds;
}

/** Ranges of adjacent UIDs, by the first and the last one: one look-up finds the placements of a range. */
interface UidRanges {
  readonly firsts: readonly number[];
  readonly lasts: readonly number[];
}

export type ExpungedRow = OfFolder & UidRanges;

export interface MarkedRow extends ExpungedRow {
  /** `\Deleted`. */
  readonly d: boolean;
}

type Placed = CoalescedPlacements['placed'][number];

/** Makes the rows of `place` and of `placeTogether`. */
export function placedRows(
  a: string,
  f: string,
  { placed, placedTogether }: CoalescedPlacements,
): { readonly listed: readonly PlacedRow[]; readonly together: readonly PlacedTogetherRow[] } {
  const listed: PlacedRow[] = [];
  const together: PlacedTogetherRow[] = placedTogether.map(({ firstUid: uid, ids, modseq: m, savedAt: s }) => {
    return { a, f, uid, ids, d: false, m, s };
  });
  for (const rows of runsOf(placed, areAlike)) {
    const { uid, isDeleted: d, modseq: m, savedAt: s } = rows[0]!;
    const ids = rows.map(({ emailId }) => emailId);
    const isPacked = rows.length >= LEAST_PACKED && rows.every((row, i) => row.uid === uid + i);
    if (isPacked) together.push({ a, f, uid, ids: PackedIds.of(ids), d, m, s });
    else listed.push({ a, f, uids: rows.map((row) => row.uid), ids, d, m, s });
  }
  return { listed, together };
}

export function expungedRows(a: string, f: string, { expunged, expungedTogether }: CoalescedPlacements): ExpungedRow[] {
  const together = expungedTogether.map(({ firstUid, ids, modseq: m }) => {
    return { a, f, firsts: [firstUid], lasts: [firstUid + ids.length - 1], m };
  });
  return [
    ...together,
    ...runsOf(expunged, areAlike).map((rows) => ({ a, f, ...uidRangesOf(rows), m: rows[0]!.modseq })),
  ];
}

export function markedRows(a: string, f: string, { marked }: CoalescedPlacements): MarkedRow[] {
  return runsOf(marked, areAlike).map((rows) => {
    const { isDeleted: d, modseq: m } = rows[0]!;
    return { a, f, ...uidRangesOf(rows), d, m };
  });
}

function areAlike(a: Placed, b: Placed): boolean {
  return a.isDeleted === b.isDeleted && a.modseq === b.modseq && a.savedAt === b.savedAt;
}

function uidRangesOf(rows: readonly Placed[]): UidRanges {
  const firsts: number[] = [];
  const lasts: number[] = [];
  for (const uid of Uint32Array.from(rows, (row) => row.uid).sort()) {
    if (lasts.length > 0 && uid === lasts.at(-1)! + 1) lasts[lasts.length - 1] = uid;
    else {
      firsts.push(uid);
      lasts.push(uid);
    }
  }
  return { firsts, lasts };
}

const PLACED = 'x (a uuid, f uuid, uids bigint[], ids uuid[], d boolean, m bigint, s double precision)';

export const place: TablePart = (sql, rows, table) => sql`
    , placed as (
      insert into placements (account_id, folder_id, uid, email_id, deleted, modseq, saved_at)
      select a, f, unnest(uids), unnest(ids), d, m, to_timestamp(s / 1000.0)
      from ${table(rows, PLACED)}
      where a = any (${sql.unsafe(PASSED)})
    )`;

export function placeTogether(sql: Pieces, rows: readonly PlacedTogetherRow[]): StatementPiece {
  let count = 0;
  const sliced = rows.map(({ ids, ...row }) => {
    const first = count + 1;
    count += ids.length;
    return { ...row, first, last: count };
  });
  return sql`
    , placed_together as (
      insert into placements (account_id, folder_id, uid, email_id, deleted, modseq, saved_at)
      select a, f, uid + i - 1, id, d, m, to_timestamp(s / 1000.0)
      from json_to_recordset(${json(sliced)}::json)
        as x (a uuid, f uuid, uid bigint, first integer, last integer, d boolean, m bigint, s double precision)
        join passed using (a)
        cross join unnest((${uuidArray(rows.map(({ ids }) => ids))}::uuid[])[x.first:x.last]) with ordinality as y (id, i)
    )`;
}

export const expunge: Part = (sql, rows) => sql`
    , gone as materialized (
      select a, f, first, last, m from json_to_recordset(${json(rows)}::json)
        as x (a uuid, f uuid, firsts bigint[], lasts bigint[], m bigint)
        join passed using (a) cross join unnest(x.firsts, x.lasts) as y (first, last)
    ), unplaced as (
      delete from placements t using gone g
      where t.account_id = g.a and t.folder_id = g.f and t.uid between g.first and g.last
    ), expunged as (
      insert into expunged (account_id, folder_id, uid, last_uid, modseq) select a, f, first, nullif(last, first), m from gone
    )`;

/** Writes placements whose `\\Deleted` changes. */
export const markDeleted: Part = (sql, rows) => sql`
    , marked as materialized (
      select a, f, first, last, d, m from json_to_recordset(${json(rows)}::json)
        as r (a uuid, f uuid, firsts bigint[], lasts bigint[], d boolean, m bigint)
        join passed using (a) cross join unnest(r.firsts, r.lasts) as y (first, last)
    ), placement_marked as (
      update placements t set deleted = r.d, modseq = r.m
      from marked r where t.account_id = r.a and t.folder_id = r.f and t.uid between r.first and r.last
    )`;
