// Claims an account, and reads its mailbox with the same statement when the mailbox is small: most mailboxes to which mail comes are,
// and sleep. The statement reads as of its beginning, and the claim may have waited for a commit of the owner before: every
// commit raises the modseq of the account, so what was read is of the claimed mailbox if both have one modseq. A claim does not wait
// for the disk: a commit needs the epoch that it has claimed, and brings the claim to the disk with it.
import { uuidOctets, uuidText } from '../../mail/ids.js';
import type { ClaimedAccount, KeywordSet, PlacementPage, SmallMailbox } from '../mailboxes.js';
import { guarded, type Sql } from './client.js';
import {
  emailPageOf,
  int64,
  newestExpunged,
  type OverviewRow,
  overviewFields,
  overviewOf,
  type PackedEmails,
  packedEmails,
} from './mailbox-loading.js';

/** Emails, and placements, of a small mailbox. */
const MOST_ROWS = 500;
/** Folder, UID, email, modseq, `\Deleted`. */
const PLACEMENT_OCTETS = 16 + 8 + 16 + 8 + 1;

type ClaimRow = OverviewRow &
  PackedEmails & {
    readonly claimedModseq: string;
    readonly email: string;
    readonly held: boolean;
    readonly keywords: readonly { readonly names: readonly string[]; readonly ids: readonly string[] }[];
    readonly placements: Uint8Array | null;
    readonly placed: number;
    readonly hasOverlays: boolean;
  };

/** Undefined when there is no such account, or it has a later epoch. */
export async function claimMailbox(sql: Sql, accountId: string, epoch: number): Promise<ClaimedAccount | undefined> {
  const [row] = await guarded(
    () => sql<ClaimRow[]>`
      with claimed as (
        update accounts set epoch = ${epoch} from (select set_config('mansio.reads_overlays', 'on', true), set_config('synchronous_commit', 'off', true)) claim
        where id = ${accountId} and epoch <= ${epoch}
        returning modseq, email, held
      ), newest as (${newestExpunged(sql, accountId)}), mail as materialized (
        select id, flags, received_at, size, modseq, has_attachments, keywords from emails
        where account_id = ${accountId} order by id limit ${MOST_ROWS + 1}
      ), placement as materialized (
        select folder_id, uid, email_id, modseq, deleted from placements
        where account_id = ${accountId} order by folder_id, uid limit ${MOST_ROWS + 1}
      )
      select c.modseq as "claimedModseq", c.email, c.held, e.*, ${overviewFields(sql, accountId)},
        (select coalesce(json_agg(k), '[]') from (select keywords as names, array_agg(id order by id) as ids
          from mail where keywords <> '{}' group by keywords order by 2) k) as keywords,
        (select count(*)::int from placement) as placed,
        (select string_agg(uuid_send(folder_id) || int8send(uid) || uuid_send(email_id) || int8send(modseq)
          || boolsend(deleted), ''::bytea order by folder_id, uid) from placement) as placements,
        exists (select from flag_overlays where account_id = ${accountId}) as "hasOverlays"
      from claimed c, accounts a, (select ${packedEmails(sql)} from mail) e
      where a.id = ${accountId}`,
  );
  if (row === undefined) return undefined;
  const { claimedModseq, email, held, count, placed } = row;
  const account = { kind: 'claimed' as const, modseq: Number(claimedModseq), email, held };
  const isCurrent = claimedModseq === row.modseq && !row.hasOverlays;
  return isCurrent && count <= MOST_ROWS && placed <= MOST_ROWS ? { ...account, mailbox: mailboxOf(row) } : account;
}

function mailboxOf(row: ClaimRow): SmallMailbox {
  return {
    overview: overviewOf(row),
    keywords: row.keywords.map(
      ({ names, ids }): KeywordSet => ({ names, emailIds: Buffer.concat(ids.map((id) => uuidOctets(id))) }),
    ),
    emails: row.count === 0 ? [] : [emailPageOf(row)],
    placements: row.placements === null ? [] : placementPages(row.placements),
  };
}

function placementPages(packed: Uint8Array): PlacementPage[] {
  const pages: PlacementPage[] = [];
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const folderAt = (at: number) => uuidText(packed, at);
  for (let start = 0, end = 0; start < packed.length; start = end) {
    const folderId = folderAt(start);
    while (end < packed.length && folderAt(end) === folderId) end += PLACEMENT_OCTETS;
    const count = (end - start) / PLACEMENT_OCTETS;
    const rows = Array.from({ length: count }, (_, i) => start + i * PLACEMENT_OCTETS);
    pages.push({
      folderId,
      count,
      uids: Uint32Array.from(rows, (at) => int64(view, at + 16)),
      emailIds: Buffer.concat(rows.map((at) => packed.subarray(at + 24, at + 40))),
      modseqs: Float64Array.from(rows, (at) => int64(view, at + 40)),
      isDeleted: Uint8Array.from(rows, (at) => packed[at + 48]!),
    });
  }
  return pages;
}
