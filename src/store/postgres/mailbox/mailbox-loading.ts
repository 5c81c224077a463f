// Reads a mailbox for its actor. The server packs each column of many thousand rows into one bytea, which loads a large mailbox
// several times faster than row by row; a small mailbox takes one round trip per function.
import { uuidText } from '../../../mail-format/ids.js';
import type { SenderLists } from '../../../mail-format/senders.js';
import type { AnnotationRow, FilterRun, RememberedKey, SieveScriptRow } from '../../mailbox-rows.js';
import type {
  EmailPage,
  Expunged,
  ExpungedPage,
  FiltersAwaitingBody,
  FolderRow,
  KeywordSet,
  MailboxOverview,
  PlacementPage,
  RememberedReply,
} from '../../mailboxes.js';
import type { DraftEmail, Suppression } from '../../outbound.js';
import type { Forwarding } from '../../preferences.js';
import type { Answered, Vacation } from '../../vacation.js';
import { applyDeferred, deferredWrites } from '../commit/deferred-flags.js';
import { DUE_MAIL_OF_ACCOUNT, type DueMailRow, dueMailOf } from '../commit/due-mail-commit.js';
import { ANNOTATIONS_OF_ACCOUNT } from '../commit/labels-commit.js';
import { ACTIVE_SIEVE_SCRIPT, SIEVE_KEYS_OF_ACCOUNT, SIEVE_SCRIPTS_OF_ACCOUNT } from '../commit/sieve-commit.js';
import { SUPPRESSIONS } from '../commit/suppressions-commit.js';
import { ANSWERED_OF_ACCOUNT } from '../commit/vacation-commit.js';
import { type BinaryColumn, inBinary, jsonOf, own } from '../driver/binary-results.js';
import { guarded, type Sql } from '../driver/client.js';
import { ID_OCTETS } from '../driver/id-set.js';
import { filterColumns, filterOf, folderColumns } from './mailbox-columns.js';

const PAGE_ROWS = 20_000;
/** At most this many expunged UIDs of an account are loaded, the newest. */
const MOST_EXPUNGED = 100_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** PostgreSQL counts microseconds from 2000-01-01. */
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);

/** Yields emails by ascending id. `found` is called when there are deferred writes, which a previous owner left. */
export async function* emailPages(sql: Sql, accountId: string, found: () => void): AsyncIterable<EmailPage> {
  const deferred = await deferredWrites(sql, accountId);
  if (deferred.length > 0) found();
  for (let after = FIRST_ID; ; ) {
    const rows: readonly BinaryColumn[][] = await guarded(() =>
      sql`
        select string_agg(uuid_send(id), ''::bytea order by id),
          string_agg(int2send(flags), ''::bytea order by id),
          string_agg(timestamptz_send(received_at), ''::bytea order by id),
          string_agg(int8send(size), ''::bytea order by id),
          string_agg(int8send(modseq), ''::bytea order by id),
          string_agg(boolsend(has_attachments), ''::bytea order by id), ${inBinary(sql)}
        from (select id, flags, received_at, size, modseq, has_attachments from emails
          where account_id = ${accountId} and id > ${after} order by id limit ${PAGE_ROWS}) page`.raw(),
    );
    const [ids, flags, receivedAt, sizes, modseqs, hasAttachments] = rows[0]!;
    // No emails are left.
    if (ids === null) return;
    const page = {
      count: ids!.length / ID_OCTETS,
      ids: own(ids!),
      flags: int16s(flags!),
      receivedAt: int64s(receivedAt!).map(millisecondsOf),
      sizes: int64s(sizes!),
      modseqs: int64s(modseqs!),
      hasAttachments: own(hasAttachments!),
    };
    applyDeferred(page, deferred);
    yield page;
    if (page.count < PAGE_ROWS) return;
    after = uuidText(page.ids, page.ids.length - ID_OCTETS);
  }
}

/** Converts microseconds since PostgreSQL's epoch to ms since the Unix epoch. */
export const millisecondsOf = (microseconds: number): number => Math.round(microseconds / 1000) + POSTGRES_EPOCH_MS;

/** Yields placements folder by folder, UIDs ascending. */
export async function* placementPages(sql: Sql, accountId: string): AsyncIterable<PlacementPage> {
  let [folderId, uid] = [FIRST_ID, 0];
  for (;;) {
    const rows: readonly BinaryColumn[][] = await guarded(() =>
      sql`
        select folder_id,
          string_agg(int8send(uid), ''::bytea order by uid),
          string_agg(uuid_send(email_id), ''::bytea order by uid),
          string_agg(int8send(modseq), ''::bytea order by uid),
          string_agg(boolsend(deleted), ''::bytea order by uid), ${inBinary(sql)}
        from (select folder_id, uid, email_id, modseq, deleted from placements
          where account_id = ${accountId} and (folder_id, uid) > (${folderId}::uuid, ${uid}::bigint)
          order by folder_id, uid limit ${PAGE_ROWS}) page
        group by folder_id order by folder_id`.raw(),
    );
    let count = 0;
    for (const [folder, packed, emailIds, modseqs, isDeleted] of rows) {
      const uids = Uint32Array.from(int64s(packed!));
      folderId = uuidText(folder!);
      uid = uids.at(-1)!;
      count += uids.length;
      yield {
        folderId,
        count: uids.length,
        uids,
        emailIds: own(emailIds!),
        modseqs: int64s(modseqs!),
        isDeleted: own(isDeleted!),
      };
    }
    if (count < PAGE_ROWS) return;
  }
}

/** Returns the sets in the order of the first email of each. */
export async function keywordSets(sql: Sql, accountId: string): Promise<readonly KeywordSet[]> {
  const rows: readonly BinaryColumn[][] = await guarded(() =>
    sql`
      select array_to_json(keywords), string_agg(uuid_send(id), ''::bytea order by id)
      from emails where ${inBinary(sql)} and account_id = ${accountId} and keywords <> '{}' group by keywords order by 2`.raw(),
  );
  return rows.map(([names, emailIds]) => ({ names: jsonOf<string[]>(names!)!, emailIds: own(emailIds!) }));
}

/** Lists are null when they are empty. */
export interface OverviewRow {
  readonly folders: FolderRow[] | null;
  readonly filters: Parameters<typeof filterOf>[0][] | null;
  readonly filtersAwaitingBody: FiltersAwaitingBody[] | null;
  readonly filterRuns: FilterRun[] | null;
  readonly sieveScripts: SieveScriptRow[] | null;
  readonly activeSieveScript: string | null;
  readonly sieveKeys: RememberedKey[] | null;
  readonly dueMail: DueMailRow[] | null;
  readonly drafts: DraftEmail[] | null;
  readonly suppressions: Suppression[] | null;
  readonly annotations: AnnotationRow[] | null;
  readonly senders: SenderLists | null;
  readonly forwarding: Forwarding | null;
  readonly vacation: Vacation | null;
  readonly answered: Answered[] | null;
  readonly remembered: RememberedReply[] | null;
  /** The oldest entry of the log; null when the log is empty. */
  readonly oldest: string | null;
  readonly modseq: string;
  /** Folder id, modseq and UID of each of the newest expunged UIDs. */
  readonly expunged: Uint8Array | null;
}

type WholeOverviewRow = OverviewRow & {
  /** Modseq of the newest expunged UID that is left out. */
  readonly beyond: string | null;
};

/** Reads by one statement, so that the floor of the expunged UIDs is of the same moment as the UIDs. */
export async function overview(sql: Sql, accountId: string): Promise<MailboxOverview> {
  const [row] = await guarded(
    () => sql<WholeOverviewRow[]>`
      select ${sql.unsafe(overviewFields(MOST_EXPUNGED))},
        (select modseq from (${sql.unsafe(EXPUNGED_UIDS)} offset ${MOST_EXPUNGED} limit 1) r) as beyond
      from accounts a where a.id = ${accountId}`,
  );
  if (row !== undefined) return overviewOf(row, Number(row.beyond ?? 0));
  return {
    folders: [],
    filters: [],
    filtersAwaitingBody: [],
    filterRuns: [],
    sieveScripts: [],
    activeSieveScript: null,
    sieveKeys: [],
    dueMail: [],
    drafts: [],
    suppressions: [],
    annotations: [],
    senders: null,
    forwarding: null,
    vacation: null,
    answered: [],
    remembered: [],
    expunged: { floor: 0, folders: [] },
  };
}

/** Expunged UIDs of `accounts a`, newest first, one row per UID: the table has one row for adjacent UIDs that left together. */
const EXPUNGED_UIDS = `
  select x.folder_id, x.modseq, u.uid
  from expunged x cross join generate_series(x.uid, coalesce(x.last_uid, x.uid)) as u (uid)
  where x.account_id = a.id order by x.modseq desc`;

const rowsOf = (select: string) => `(select json_agg(r) from (${select}) r)`;

/** Fields for a select list about `accounts a`. Each number has one text, so that statements are prepared once. */
export const overviewFields = (mostExpunged: number): string => `
  a.modseq,
  (select min(seq) from events where account_id = a.id) as oldest,
  (select string_agg(uuid_send(folder_id) || int8send(modseq) || int8send(uid), ''::bytea order by folder_id, modseq, uid)
    from (${EXPUNGED_UIDS} limit ${mostExpunged}) r) as expunged,
  ${rowsOf(`select ${folderColumns.selected} from folders where account_id = a.id order by sort_order, id`)} as folders,
  ${rowsOf(`select ${filterColumns.selected} from filters where account_id = a.id`)} as filters,
  ${rowsOf(
    'select email_id as "emailId", filter_ids as "filterIds", placed, envelope from deferred_filters where account_id = a.id',
  )} as "filtersAwaitingBody",
  (select json_agg(run order by id) from filter_runs where account_id = a.id) as "filterRuns",
  ${rowsOf(SIEVE_SCRIPTS_OF_ACCOUNT)} as "sieveScripts",
  ${ACTIVE_SIEVE_SCRIPT} as "activeSieveScript",
  ${rowsOf(SIEVE_KEYS_OF_ACCOUNT)} as "sieveKeys",
  ${rowsOf(DUE_MAIL_OF_ACCOUNT)} as "dueMail",
  ${rowsOf(
    `select id, sent_email_id as "emailId" from outbound where account_id = a.id and status = 'Draft'`,
  )} as drafts,
  ${rowsOf(`${SUPPRESSIONS} where account_id = a.id order by since, address`)} as suppressions,
  ${rowsOf(ANNOTATIONS_OF_ACCOUNT)} as annotations,
  (select chosen -> 'senders' from preferences where account_id = a.id) as senders,
  (select chosen -> 'forwarding' from preferences where account_id = a.id) as forwarding,
  (select chosen -> 'vacation' from preferences where account_id = a.id) as vacation,
  ${rowsOf(ANSWERED_OF_ACCOUNT)} as answered,
  ${rowsOf(
    `select id, reply from recent_commands where account_id = a.id and at > now() - interval '1 minute' order by at`,
  )} as remembered`;

/** `beyond`: expunged UIDs up to this modseq are missing. */
export function overviewOf(row: OverviewRow, beyond = 0): MailboxOverview {
  return {
    folders: row.folders ?? [],
    filters: (row.filters ?? []).map(filterOf),
    filtersAwaitingBody: (row.filtersAwaitingBody ?? []).map(({ envelope, ...waiting }) => ({
      ...waiting,
      ...(envelope != null && { envelope }),
    })),
    filterRuns: row.filterRuns ?? [],
    sieveScripts: row.sieveScripts ?? [],
    activeSieveScript: row.activeSieveScript,
    sieveKeys: row.sieveKeys ?? [],
    dueMail: (row.dueMail ?? []).map(dueMailOf),
    drafts: row.drafts ?? [],
    suppressions: row.suppressions ?? [],
    annotations: row.annotations ?? [],
    senders: row.senders,
    forwarding: row.forwarding,
    vacation: row.vacation,
    answered: row.answered ?? [],
    remembered: row.remembered ?? [],
    expunged: expungedOf(row, beyond),
  };
}

export const EXPUNGED_OCTETS = 16 + 8 + 8;

/** Pruning removes expunged UIDs with the entries of the log, so every UID after the log's oldest entry is present. */
function expungedOf({ oldest, modseq, expunged }: OverviewRow, beyond: number): Expunged {
  const floor = Math.max(oldest === null ? Number(modseq) : Number(oldest) - 1, beyond);
  if (expunged === null) return { floor, folders: [] };
  const folders: ExpungedPage[] = [];
  const view = new DataView(expunged.buffer, expunged.byteOffset, expunged.byteLength);
  const idAt = (at: number) => uuidText(expunged, at);
  for (let start = 0, end = 0; start < expunged.length; start = end) {
    const folderId = idAt(start);
    while (end < expunged.length && idAt(end) === folderId) end += EXPUNGED_OCTETS;
    const count = (end - start) / EXPUNGED_OCTETS;
    const numbers = (at: number) =>
      Float64Array.from({ length: count }, (_, i) => int64(view, start + i * EXPUNGED_OCTETS + at));
    folders.push({ folderId, count, modseqs: numbers(16), uids: Uint32Array.from(numbers(24)) });
  }
  return { floor, folders };
}

function int16s(packed: Uint8Array): Uint16Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const numbers = new Uint16Array(packed.length / 2);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getUint16(i * 2);
  return numbers;
}

function int64s(packed: Uint8Array): Float64Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const numbers = new Float64Array(packed.length / 8);
  for (let i = 0; i < numbers.length; i++) numbers[i] = int64(view, i * 8);
  return numbers;
}

/** Reads a number exactly below 2^53; modseqs are smaller. */
export function int64(view: DataView, at: number): number {
  return view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4);
}
