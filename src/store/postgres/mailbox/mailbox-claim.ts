// Claims accounts, and reads small mailboxes with the same statement: most mailboxes that get mail are small and not loaded.
// Concurrent claims share a statement. The statement reads as of its start, and the claim may follow a commit of the previous
// owner. Every commit raises the modseq of the account, so the data that was read is valid if both have the same modseq. A claim
// does not wait for the disk: a commit needs the claimed epoch and brings the claim to the disk with it.
import { uuidOctets, uuidText } from '../../../mail-format/ids.js';
import type { ClaimedAccount, EmailPage, KeywordSet, PlacementPage, SmallMailbox } from '../../mailboxes.js';
import { guarded, type Sql } from '../driver/client.js';
import { GroupCommit } from '../driver/group-commit.js';
import {
  EXPUNGED_OCTETS,
  int64,
  millisecondsOf,
  type OverviewRow,
  overviewFields,
  overviewOf,
} from './mailbox-loading.js';

/** A small mailbox has at most this many emails and this many placements. */
const MOST_ROWS = 500;
/** A small mailbox has at most this many expunged UIDs. */
const MOST_EXPUNGED = 2_000;
/** One statement claims at most this many accounts. */
const MOST_CLAIMED = 32;
const MOST_WAITING = 1_000_000;
/** Id, flags, time, size, modseq, has attachments. */
const EMAIL_OCTETS = 16 + 2 + 8 + 8 + 8 + 1;
/** Folder, UID, email, modseq, `\Deleted`. */
const PLACEMENT_OCTETS = 16 + 8 + 16 + 8 + 1;

type ClaimRow = OverviewRow & {
  readonly id: string;
  readonly claimedModseq: string;
  readonly email: string;
  readonly isUnclaimed: boolean;
  readonly keywords: readonly { readonly names: readonly string[]; readonly ids: readonly string[] }[] | null;
  readonly emails: Uint8Array | null;
  readonly placements: Uint8Array | null;
  readonly hasDeferredFlags: boolean;
};

interface Claim {
  readonly accountId: string;
  readonly epoch: number;
}

export interface MailboxClaims {
  /** Returns undefined when there is no such account, or it has a later epoch. @throws StoreFault */
  claim(accountId: string, epoch: number): Promise<ClaimedAccount | undefined>;
}

/** `groupSql`: a `byKey` pool. */
export function mailboxClaims(sql: Sql, groupSql: Sql): MailboxClaims {
  const claimAll = async (claims: readonly Claim[]) => {
    const rows = await claimRows(groupSql, SHARED, claims);
    // The claims may name an account with two epochs.
    const latest = new Map<string, number>();
    for (const { accountId, epoch } of claims) latest.set(accountId, Math.max(epoch, latest.get(accountId) ?? 0));
    return claims.map(({ accountId, epoch }) => (epoch === latest.get(accountId) ? rows.get(accountId) : undefined));
  };
  const group = new GroupCommit<Claim, ClaimRow | undefined>(claimAll, {
    maxItems: MOST_CLAIMED,
    maxWeight: MOST_CLAIMED,
    maxWaiting: MOST_WAITING,
    weigh: () => 1,
  });
  return {
    async claim(accountId, epoch) {
      const claim = { accountId, epoch };
      let row = await group.submit(claim);
      // Claim it alone when the group skipped it because it was locked: then no other claim waits for it.
      row ??= (await guarded(() => claimRows(sql, ALONE, [claim]))).get(accountId);
      return row && accountOf(row);
    },
  };
}

async function claimRows(sql: Sql, text: string, claims: readonly Claim[]): Promise<ReadonlyMap<string, ClaimRow>> {
  const [ids, epochs] = [claims.map(({ accountId }) => accountId), claims.map(({ epoch }) => epoch)];
  const rows = await sql.unsafe<ClaimRow[]>(text, [ids, epochs], { prepare: true });
  return new Map(rows.map((row) => [row.id, row]));
}

const claimText = (locked: string): string => `
  with wanted as (
    select id, max(epoch) as epoch from unnest($1::uuid[], $2::bigint[]) as w (id, epoch) group by id
  ), free as materialized (
    select a.id, w.epoch from wanted w join accounts a on a.id = w.id and a.epoch <= w.epoch for no key update of a${locked}
  ), claimed as (
    update accounts a set epoch = f.epoch
    from free f, (select set_config('synchronous_commit', 'off', true)) setting
    where a.id = f.id
    returning a.id, a.modseq, a.email, a.unclaimed
  )
  select a.id, c.modseq as "claimedModseq", c.email, c.unclaimed as "isUnclaimed", ${overviewFields(MOST_EXPUNGED + 1)},
    (select string_agg(uuid_send(id) || int2send(flags) || timestamptz_send(received_at) || int8send(size)
        || int8send(modseq) || boolsend(has_attachments), ''::bytea order by id)
      from (select id, flags, received_at, size, modseq, has_attachments from emails where account_id = a.id
        order by id limit ${MOST_ROWS + 1}) e) as emails,
    (select string_agg(uuid_send(folder_id) || int8send(uid) || uuid_send(email_id) || int8send(modseq)
        || boolsend(deleted), ''::bytea order by folder_id, uid)
      from (select folder_id, uid, email_id, modseq, deleted from placements where account_id = a.id
        order by folder_id, uid limit ${MOST_ROWS + 1}) p) as placements,
    (select json_agg(k) from (select keywords as names, array_agg(id order by id) as ids
      from (select id, keywords from emails where account_id = a.id and keywords <> '{}' order by id limit ${MOST_ROWS + 1}) e
      group by keywords order by 2) k) as keywords,
    exists (select from deferred_flag_writes where account_id = a.id) as "hasDeferredFlags"
  from claimed c join accounts a on a.id = c.id`;

/** The shared statement waits for no account: the holder of one lock may wait for another account of the group. */
const SHARED = claimText(' skip locked');
const ALONE = claimText('');

function accountOf(row: ClaimRow): ClaimedAccount {
  const { claimedModseq, email, isUnclaimed } = row;
  const account = { kind: 'claimed' as const, modseq: Number(claimedModseq), email, isUnclaimed };
  return claimedModseq === row.modseq && isSmall(row) ? { ...account, mailbox: mailboxOf(row) } : account;
}

function isSmall({ emails, placements, expunged, hasDeferredFlags }: ClaimRow): boolean {
  return (
    !hasDeferredFlags &&
    lengthOf(emails) <= MOST_ROWS * EMAIL_OCTETS &&
    lengthOf(placements) <= MOST_ROWS * PLACEMENT_OCTETS &&
    lengthOf(expunged) <= MOST_EXPUNGED * EXPUNGED_OCTETS
  );
}

const lengthOf = (octets: Uint8Array | null): number => octets?.length ?? 0;

function mailboxOf(row: ClaimRow): SmallMailbox {
  return {
    overview: overviewOf(row),
    keywords: (row.keywords ?? []).map(
      ({ names, ids }): KeywordSet => ({ names, emailIds: Buffer.concat(ids.map((id) => uuidOctets(id))) }),
    ),
    emails: row.emails === null ? [] : [emailPage(row.emails)],
    placements: row.placements === null ? [] : placementPages(row.placements),
  };
}

function emailPage(packed: Uint8Array): EmailPage {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const count = packed.length / EMAIL_OCTETS;
  const page = {
    count,
    ids: new Uint8Array(count * 16),
    flags: new Uint16Array(count),
    receivedAt: new Float64Array(count),
    sizes: new Float64Array(count),
    modseqs: new Float64Array(count),
    hasAttachments: new Uint8Array(count),
  };
  for (let i = 0; i < count; i++) {
    const at = i * EMAIL_OCTETS;
    page.ids.set(packed.subarray(at, at + 16), i * 16);
    page.flags[i] = view.getUint16(at + 16);
    page.receivedAt[i] = millisecondsOf(int64(view, at + 18));
    page.sizes[i] = int64(view, at + 26);
    page.modseqs[i] = int64(view, at + 34);
    page.hasAttachments[i] = packed[at + 42]!;
  }
  return page;
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
