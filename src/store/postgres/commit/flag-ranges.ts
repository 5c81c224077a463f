// Flag ranges (decision 0046): a change of many flags in one folder is committed as the UIDs of its emails, and their ids are
// added to the log later. A range is valid while none of its emails leaves the folder, so commits that remove placements first
// call `expand_flag_ranges`, which adds the ids and turns the range into an overlay. Until then the log's row has a non-null,
// empty list of ids.
import { PackedIds } from '../../../mail/packed-ids.js';
import type { FlaggedInFolder } from '../../changes/changes.js';
import type { CoalescedChanges } from '../../changes/coalesced-changes.js';
import { countOf } from '../../changes/coalesced-placements.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { Fragment, Sql } from '../driver/client.js';
import { json, PASSED, type Part } from './commit-parts.js';

const ID_OCTETS = 16;

/** An overlay of a record; its ids are in the row of the log. */
export interface OverlayRow {
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

/** The ids of a row `e` of the log. Their length is known without reading them. */
export const idsOfEntry = (sql: Sql): Fragment => sql`
  case when octet_length(e.ids) = 0 then (
    select string_agg(${idsOfRange(sql)}, ''::bytea order by r.first) from flag_ranges r
    where r.account_id = e.account_id and r.seq = e.seq
  ) else e.ids end`;

/** The size of the ids of a row `e` of the log. */
export const octetsOfEntry = (sql: Sql): Fragment => sql`
  coalesce(case when octet_length(e.ids) = 0 then (
    select sum(r.count) * ${ID_OCTETS} from flag_ranges r where r.account_id = e.account_id and r.seq = e.seq
  ) else pg_column_size(e.ids) end, 0)`;

/** The ranges of a record, which replace its overlay. */
export function rangesOf(overlay: OverlayRow, { folderId: f, runs }: FlaggedInFolder): readonly RangeRow[] {
  let next = overlay.first;
  return runs.map(({ first: firstUid, last: lastUid, count }) => {
    const first = next;
    next += count;
    return { ...overlay, first, count, f, firstUid, lastUid };
  });
}

/** The part of the commit's statement that writes ranges. */
export const writeRanges: Part = (sql, rows) => sql`
    , ranged as (
      insert into flag_ranges (account_id, seq, first, count, flags, keywords, folder_id, first_uid, last_uid)
      select a, seq, first, count, flags, keywords, f, "firstUid", "lastUid" from json_to_recordset(${json(rows)}::json)
        as x (a uuid, seq bigint, first integer, count integer, flags smallint, keywords text[], f uuid, "firstUid" bigint, "lastUid" bigint)
      where a = any (${sql.unsafe(PASSED)})
    )`;

/**
 * A condition on the fence `f` of an account: true once its ranges have their ids. It locks the account's row first, like
 * everything that locks both: a statement that held ranges while it waited for the account could deadlock with one that deletes
 * or claims the account.
 */
export const expandRanges: Part = (sql) => sql`and (f.unplaces is null or (
          select expand_flag_ranges(a.id) from (select id from accounts where id = f.a for no key update) a))`;

/** Whether the change removes earlier placements. */
export function takesPlacements({ emailsRemoved, foldersRemoved, placements }: CoalescedChanges): boolean {
  if (emailsRemoved.length > 0 || foldersRemoved.length > 0) return true;
  return [...placements.values()].some(({ expunged, expungedTogether }) => countOf(expunged, expungedTogether) > 0);
}

/**
 * Whether ranges can replace all packed ids of the change: all are records of flags, whose emails are adjacent and stay in their
 * folder.
 */
export function isRanged({ changes }: MailboxChange, coalesced: CoalescedChanges): boolean {
  const together = new Set(coalesced.flaggedTogether.map(({ change }) => change));
  if (together.size === 0 || takesPlacements(coalesced)) return false;
  for (const change of changes) {
    const isPacked = 'others' in change.payload && change.payload.others instanceof PackedIds;
    if (!isPacked) continue;
    if (change.type !== 'FlagsChanged' || change.inFolder === undefined || !together.has(change)) return false;
  }
  return true;
}
