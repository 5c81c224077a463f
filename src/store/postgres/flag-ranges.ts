// Ranges of flags (decision 0046): a change of many flags in one folder is committed as the UIDs of its emails, and their ids are
// put into the log later. A range holds as long as none of its emails leaves the folder, so the ids come before that: commits that
// take placements away call `expand_flag_ranges` first. Then the range is an overlay. Until then the row of the log has octets for
// its ids, but none.
import { PackedIds } from '../../mail/packed-ids.js';
import type { FlaggedInFolder } from '../changes.js';
import type { MailboxChange } from '../mailboxes.js';
import type { NetChange } from '../net-changes.js';
import { countOf } from '../net-placements.js';
import type { Fragment, Sql } from './client.js';
import { json, PASSED, type Part } from './commit-parts.js';

const ID_OCTETS = 16;

/** An overlay of a record, which names ids in the row of the log. */
export interface OverlayRow {
  /** Account. */
  readonly a: string;
  readonly seq: number;
  /** Position of the first id in the row of the log. */
  readonly first: number;
  readonly count: number;
  readonly flags: number;
  /** All that the emails have; undefined where they keep those they have. */
  readonly keywords?: readonly string[] | undefined;
}

export interface RangeRow extends OverlayRow {
  /** Folder. */
  readonly f: string;
  readonly firstUid: number;
  readonly lastUid: number;
}

/** The ids of a range `r`. */
export const idsOfRange = (sql: Sql): Fragment => sql`
  (select string_agg(uuid_send(p.email_id), ''::bytea order by p.uid) from placements p
    where p.account_id = r.account_id and p.folder_id = r.folder_id and p.uid between r.first_uid and r.last_uid)`;

/** The ids of a row `e` of the log. The length of octets is known without reading them. */
export const idsOfEntry = (sql: Sql): Fragment => sql`
  case when octet_length(e.ids) = 0 then (
    select string_agg(${idsOfRange(sql)}, ''::bytea order by r.first) from flag_ranges r
    where r.account_id = e.account_id and r.seq = e.seq
  ) else e.ids end`;

/** What the ids of a row `e` of the log take. */
export const octetsOfEntry = (sql: Sql): Fragment => sql`
  coalesce(case when octet_length(e.ids) = 0 then (
    select sum(r.count) * ${ID_OCTETS} from flag_ranges r where r.account_id = e.account_id and r.seq = e.seq
  ) else pg_column_size(e.ids) end, 0)`;

/** The ranges of a record, in place of its overlay. */
export function rangesOf(overlay: OverlayRow, { folderId: f, runs }: FlaggedInFolder): readonly RangeRow[] {
  let next = overlay.first;
  return runs.map(({ first: firstUid, last: lastUid, count }) => {
    const first = next;
    next += count;
    return { ...overlay, first, count, f, firstUid, lastUid };
  });
}

/** A part of the commit's statement. */
export const writeRanges: Part = (sql, rows) => sql`
    , ranged as (
      insert into flag_ranges (account_id, seq, first, count, flags, keywords, folder_id, first_uid, last_uid)
      select a, seq, first, count, flags, keywords, f, "firstUid", "lastUid" from json_to_recordset(${json(rows)}::json)
        as x (a uuid, seq bigint, first integer, count integer, flags smallint, keywords text[], f uuid, "firstUid" bigint, "lastUid" bigint)
      where a = any (${sql.unsafe(PASSED)})
    )`;

/**
 * A condition on the fence `f` of an account: true, once its ranges have their ids. The lock on the account's row comes first, as in
 * all that takes both: who held ranges while it waits for the account would wait for who deletes or claims the account.
 */
export const expandRanges: Part = (sql) => sql`and (f.unplaces is null or (
          select expand_flag_ranges(a.id) from (select id from accounts where id = f.a for no key update) a))`;

/** Whether placements go that were there before. */
export function takesPlacements({ emailsRemoved, foldersRemoved, placements }: NetChange): boolean {
  if (emailsRemoved.length > 0 || foldersRemoved.length > 0) return true;
  return [...placements.values()].some(({ expunged, expungedTogether }) => countOf(expunged, expungedTogether) > 0);
}

/** Whether ranges can stand for all ids of the change: of records of flags whose emails follow each other and stay where they are. */
export function isRanged({ changes }: MailboxChange, net: NetChange): boolean {
  const together = new Set(net.flaggedTogether.map(({ change }) => change));
  if (together.size === 0 || takesPlacements(net)) return false;
  for (const change of changes) {
    const isPacked = 'others' in change.payload && change.payload.others instanceof PackedIds;
    if (!isPacked) continue;
    if (change.type !== 'FlagsChanged' || change.inFolder === undefined || !together.has(change)) return false;
  }
  return true;
}
