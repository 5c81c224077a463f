// The fenced commit of mailbox changes (decision 0002): one statement for a group of accounts. An account writes nothing when its
// epoch or modseq is not the expected one, or its inbound rows are gone; this does not affect the others of the group.

import { type CoalescedChanges, coalesce } from '../../changes/coalesced-changes.js';
import type { SharedMessage } from '../../inline/shared-message.js';
import type { CommitResult, MailboxChange, ThreadChange } from '../../mailboxes.js';
import type { Sql } from '../driver/client.js';
import { type CommitDeadline, untilDeadline } from '../driver/commit-deadline.js';
import { Octets } from '../driver/octet-parameters.js';
import { asJson, asParameters } from '../driver/recordsets.js';
import { runsOf } from '../driver/runs.js';
import { execute, type Pieces, pieces, type StatementPiece } from '../driver/statement-pieces.js';
import { type BlobOfAccounts, gather, smallBlob, storedBlobs } from '../mailbox/blob-writes.js';
import { changingFolderColumns, folderColumns, folderCounters } from '../mailbox/mailbox-columns.js';
import { addEmails, emailRow, foundThreads } from './added-emails.js';
import {
  DOCUMENT,
  json,
  PASSED,
  type Part,
  rowsWithDocuments,
  rowWithDocument,
  type TablePart,
} from './commit-parts.js';
import { type DeferredRow, writeDeferredFlags } from './deferred-flags.js';
import { writeDueMail } from './due-mail-commit.js';
import {
  endedInbound,
  endInbound,
  endShared,
  hasAllInbound,
  isAble,
  isShared,
  lookForInbound,
  missingInbound,
  orRepeated,
  oweShared,
  type SharedMessages,
  sharedContents,
  sharedMessages,
  WITHHELD,
  weighShared,
  withWithheld,
} from './inbound-commit.js';
import { writeLabels } from './labels-commit.js';
import { writeOutbound } from './outbound-commit.js';
import { LogRows } from './packed-entries.js';
import {
  type ExpungedRow,
  expunge,
  expungedRows,
  type MarkedRow,
  markDeleted,
  markedRows,
  type PlacedRow,
  type PlacedTogetherRow,
  place,
  placedRows,
  placeTogether,
} from './placement-rows.js';
import {
  hasNoRepeated,
  lookForRepeated,
  type RepeatedRow,
  remember,
  repliesOf,
  withRepeated,
} from './remembered-commit.js';
import { writeSending } from './sending-commit.js';
import type { ThreadJoins } from './threads.js';

interface Fence {
  readonly a: string;
  readonly epoch: number;
  readonly before: number;
  readonly after: number;
  readonly bytes?: number | undefined;
  readonly messages?: number | undefined;
}

/**
 * Rows of the group, one list per table; every row has its account. Adjacent emails and placements that get the same values form
 * one row with a list of ids or UIDs, because a command on many emails gives most of them the same values.
 *
 * The lists are fields, not local variables of one function: the compiler follows each local list through every branch, and needs
 * seconds for this many.
 */
class CommitRows {
  readonly fences: Fence[] = [];
  readonly consumed: object[] = [];
  readonly added: object[] = [];
  readonly flagged: object[] = [];
  readonly deferred: DeferredRow[] = [];
  readonly removed: object[] = [];
  readonly placed: PlacedRow[] = [];
  readonly placedTogether: PlacedTogetherRow[] = [];
  readonly expunged: ExpungedRow[] = [];
  readonly marked: MarkedRow[] = [];
  readonly folders: object[] = [];
  readonly log = new LogRows();
  readonly remembered: object[] = [];
  readonly preferences: object[] = [];

  constructor(changes: readonly MailboxChange[], deferredFlags: DeferredFlags) {
    for (const change of changes) this.#add(change, deferredFlags);
  }

  #add(change: MailboxChange, deferredFlags: DeferredFlags): void {
    const a = change.accountId;
    const coalesced = coalesce(change.changes);
    const { epoch, modseqBefore: before, modseqAfter: after, usage } = change;
    this.fences.push({ a, epoch, before, after, ...usage });
    for (const id of endedInbound(change)) this.consumed.push({ a, id });
    for (const email of coalesced.emailsAdded) this.added.push(emailRow(a, email));
    this.#addFlags(change, coalesced, deferredFlags);
    if (coalesced.emailsRemoved.length > 0) this.removed.push({ a, ids: coalesced.emailsRemoved });
    this.#addPlacements(a, coalesced);
    this.folders.push(...folderRows(change, coalesced));
    for (const { id, reply } of change.remembered) this.remembered.push({ a, id, reply });
    if (coalesced.preferences !== undefined) this.preferences.push({ a, ...coalesced.preferences });
  }

  /** Adds flags and the entries of the log. */
  #addFlags(change: MailboxChange, coalesced: CoalescedChanges, deferredFlags: DeferredFlags): void {
    const a = change.accountId;
    this.log.add(a, change.changes);
    for (const { change: record } of coalesced.flaggedTogether) {
      const { flags, keywords } = record.payload;
      this.deferred.push({ a, seq: record.seq, flags, keywords, ...this.log.placeOf(record) });
    }
    let flagged = coalesced.emailsFlagged;
    // A deferred write may give the email keywords that its row does not have yet; after this change it no longer applies to
    // the email.
    if (flagged.length > 0 && (coalesced.flaggedTogether.length > 0 || deferredFlags.mayHave(a)))
      flagged = flagged.map((email) => withKeywords(email, change));
    for (const emails of runsOf(flagged, haveSameFlags)) {
      const { flags, keywords, modseq } = emails[0]!;
      this.flagged.push({ a, ids: emails.map(({ id }) => id), flags, keywords, modseq });
    }
  }

  #addPlacements(a: string, coalesced: CoalescedChanges): void {
    for (const [f, placements] of coalesced.placements) {
      const { listed, together } = placedRows(a, f, placements);
      this.placed.push(...listed);
      this.placedTogether.push(...together);
      this.expunged.push(...expungedRows(a, f, placements));
      this.marked.push(...markedRows(a, f, placements));
    }
  }
}

type Flagged = CoalescedChanges['emailsFlagged'][number];

const withKeywords = (email: Flagged, { keywordsOf }: MailboxChange): Flagged =>
  email.keywords === undefined && keywordsOf !== undefined ? { ...email, keywords: keywordsOf(email.id) } : email;

/** Compares keywords by identity, because emails of one record share one list. */
function haveSameFlags(a: Flagged, b: Flagged): boolean {
  return a.flags === b.flags && a.keywords === b.keywords && a.modseq === b.modseq;
}

/** Rows of existing folders: their counters, and the other properties when those have changed. */
function folderRows({ accountId: a, counters }: MailboxChange, { foldersAdded, foldersChanged }: CoalescedChanges) {
  const added = new Set(foldersAdded.map(({ id }) => id));
  const changed = new Map(foldersChanged.map((folder) => [folder.id, folder]));
  return counters.flatMap((row) => (added.has(row.id) ? [] : [{ a, ...changed.get(row.id), ...row }]));
}

const storedCounters = folderCounters.set((_, property) => `r.${property}`);
const storedFolder = changingFolderColumns.set((name, property) => `coalesce(r.${property}, t.${name})`);

const NOTHING = pieces``;
const FENCE = 'x (a uuid, epoch bigint, before bigint, after bigint, bytes bigint, messages bigint)';
const EVENT = 'a uuid, seq bigint, at double precision, "from" integer, octets integer';

/** Whether every kind of rows has at most one: each mixture would be another statement to prepare. */
function hasSingleRows({ fences, added, placed, folders, log, remembered }: CommitRows): boolean {
  return [fences, added, placed, folders, log.rows, remembered].every(({ length }) => length <= 1);
}

/** An account that has passed, a missing inbound row, the threads of an added email, or a withheld shared message. */
interface CommitRow extends RepeatedRow {
  readonly consumed: string | null;
  readonly threads: string[] | null;
  /** Number of the withheld message; absent when the statement has no shared messages. */
  readonly withheld?: number | null;
}

/** What this node knows about the deferred writes of accounts. */
export interface DeferredFlags {
  /** Resolves when the account may have another deferred write. Only commits with deferred writes wait for it. */
  makeRoom(accountId: string): Promise<void>;
  /** Whether the account may currently have deferred writes. */
  mayHave(accountId: string): boolean;
  /** A commit has written deferred writes, or a loaded mailbox has some. */
  note(accountId: string): void;
}

/**
 * Parts without rows are left out of the statement: most commits have few kinds of rows, and each part costs the database
 * something. Ids and UIDs become lists of rows before they are joined with tables; otherwise a plan made while a table was small
 * would read all rows of the account for each of them.
 */
export async function commitChanges(
  sql: Sql,
  changes: readonly MailboxChange[],
  deferredFlags: DeferredFlags,
  deadline: CommitDeadline,
  joins: ThreadJoins,
): Promise<readonly CommitResult[]> {
  const rows = new CommitRows(changes, deferredFlags);
  const shared = sharedMessages(changes);
  const blobs = [...contentsOf(changes), ...sharedContents(shared)];
  const contents = blobs.length === 0 ? undefined : await gather(blobs);
  const statement = statementOf(changes, rows, shared, contents, untilDeadline(pieces, deadline()));
  const results = await execute<CommitRow[]>(sql, statement);
  const withheld = endShared(
    shared,
    results.flatMap(({ withheld }) => withheld ?? []),
  );
  const found = results.flatMap(({ account_id: a, threads }) =>
    a === null || threads === null ? [] : [{ a, threads }],
  );
  const torn = found.filter(({ threads }) => threads.length > 1);
  const epochs = torn.length === 0 ? undefined : new Map(changes.map(({ accountId, epoch }) => [accountId, epoch]));
  const areJoined = epochs !== undefined && (await joins.join(torn, epochs));
  for (const { a } of rows.deferred) deferredFlags.note(a);
  return outcomesOf(changes, results, withheld, areJoined ? 'joined' : 'unsettled');
}

function statementOf(
  changes: readonly MailboxChange[],
  rows: CommitRows,
  shared: SharedMessages,
  contents: Awaited<ReturnType<typeof gather>> | undefined,
  until: StatementPiece,
): StatementPiece {
  const { log } = rows;
  const table = hasSingleRows(rows) ? asParameters : asJson;
  const part = (write: TablePart, of: readonly unknown[]) => (of.length === 0 ? NOTHING : write(pieces, of, table));
  const areShared = shared.size > 0;
  const areRemembered = rows.remembered.length > 0;
  const isRepeated = areRemembered ? orRepeated(pieces) : NOTHING;
  const isFit = pieces`t.epoch = f.epoch and t.modseq = f.before
    ${part(hasAllInbound, rows.consumed)} ${part(hasNoRepeated, rows.remembered)}`;
  const isStored = pieces`
      where exists (select from passed p where p.a = any(x.accounts)) ${areShared ? isShared(pieces) : NOTHING}`;
  const answer = pieces`
    select a as account_id, null::uuid as consumed, null::uuid[] as threads from passed
    ${part(missingInbound, rows.consumed)}
    ${part(foundThreads, rows.added)}`;
  return pieces`
    with fence as (
      select * from ${table(rows.fences, FENCE)}
    )
    ${part(lookForRepeated, rows.remembered)}
    ${part((sql, due) => lookForInbound(sql, due, isRepeated), rows.consumed)}
    ${areShared ? weighShared(pieces, shared, isFit, until) : NOTHING}
    , passed as (
      update accounts t
      set modseq = f.after, used_bytes = f.bytes, used_messages = f.messages, used_modseq = case when f.bytes is not null then f.after end
      from fence f
      where t.id = f.a and ${isFit} ${areShared ? isAble(pieces) : until}
      returning t.id as a, case when t.suspended_at is null then t.shard else -1 - t.shard end as shard
    ), passed_ids as materialized (
      select array_agg(a) as ids from passed
    )
    ${areShared ? oweShared(pieces) : NOTHING}
    ${contents === undefined ? NOTHING : pieces`, ${storedBlobs(pieces, contents, isStored)}`}
    ${part((sql) => endInbound(sql, isRepeated), rows.consumed)}
    ${part(addEmails, rows.added)}
    ${part(flagEmails, rows.flagged)}
    ${part(removeEmails, rows.removed)}
    ${part(place, rows.placed)}
    ${rows.placedTogether.length === 0 ? NOTHING : placeTogether(pieces, rows.placedTogether)}
    ${part(expunge, rows.expunged)}
    ${part(markDeleted, rows.marked)}
    ${part(changeFolders, rows.folders)}
    ${writeLog(log, table === asParameters)}
    ${part(remember, rows.remembered)}
    ${part(choosePreferences, rows.preferences)}
    ${writeDeferredFlags(pieces, rows.deferred)}
    ${writeLabels(pieces, changes)}
    ${writeOutbound(pieces, changes)}
    ${writeDueMail(pieces, changes)}
    ${writeSending(pieces, changes)}
    ${answerOf(answer, areShared, areRemembered)}`;
}

function answerOf(rows: StatementPiece, areShared: boolean, areRemembered: boolean): StatementPiece {
  const answer = areShared ? withWithheld(pieces, rows) : rows;
  if (!areRemembered) return answer;
  return withRepeated(pieces, answer, areShared ? pieces`null, null, null` : pieces`null, null`);
}

/** `areSingle`: no kind has more than one row. */
function writeLog(log: LogRows, areSingle: boolean): StatementPiece {
  const isAlone = areSingle && log.rows.length === 1;
  return pieces`
    , event as (
      insert into events (account_id, seq, entries, at, ids)
      select a, seq, ${pieces.unsafe(DOCUMENT)}, to_timestamp(at / 1000.0), ${log.areAnyPacked ? idsOfRow(pieces, log.ids) : pieces`null`}
      from ${
        isAlone
          ? rowWithDocument(log.rows[0], 'entries', EVENT)
          : rowsWithDocuments(pieces, log.rows, 'entries', pieces.unsafe(EVENT))
      }
      where a = any (${pieces.unsafe(PASSED)})
    )`;
}

/** `joined`: the outcome for the threads of an email that refers to several. */
function outcomesOf(
  changes: readonly MailboxChange[],
  results: readonly CommitRow[],
  withheld: ReadonlySet<SharedMessage>,
  joined: ThreadChange,
): readonly CommitResult[] {
  const byAccount = new Map<string, CommitRow[]>();
  for (const row of results) {
    if (row.account_id === null) continue;
    const own = byAccount.get(row.account_id);
    if (own === undefined) byAccount.set(row.account_id, [row]);
    else own.push(row);
  }
  return changes.map(({ accountId, shared }) => {
    const own = byAccount.get(accountId);
    if (own !== undefined) return outcomeOf(own, joined);
    return shared.some(({ message }) => withheld.has(message)) ? WITHHELD : { kind: 'fenced' };
  });
}

function outcomeOf(own: readonly CommitRow[], joined: ThreadChange): CommitResult {
  const gone: string[] = [];
  let threads: ThreadChange | undefined;
  for (const row of own) {
    if (row.consumed !== null) gone.push(row.consumed);
    if (row.threads !== null) threads = threads === joined || row.threads.length > 1 ? joined : 'grown';
  }
  const replies = repliesOf(own);
  if (gone.length + replies.length > 0) return { kind: 'repeated', inbound: gone, replies };
  return threads === undefined ? { kind: 'committed' } : { kind: 'committed', threads };
}

function contentsOf(changes: readonly MailboxChange[]): readonly BlobOfAccounts[] {
  return changes.flatMap(({ accountId, contents }) =>
    contents.map((content) => ({ accountIds: [accountId], ...smallBlob(content) })),
  );
}

/** A subquery is evaluated once for all rows. */
const octets = (sql: Pieces, value: Uint8Array) => sql`(select ${new Octets([value])}::bytea)`;

const idsOfRow = (sql: Pieces, ids: Uint8Array) =>
  sql`case when octets is not null then substring(${octets(sql, ids)} from "from" for octets) end`;

const flagEmails: Part = (sql, rows) => sql`
    , flagged as materialized (
      select a, id, flags, keywords, modseq from json_to_recordset(${json(rows)}::json)
        as r (a uuid, ids uuid[], flags smallint, keywords text[], modseq bigint)
        join passed using (a) cross join unnest(r.ids) as id
    ), email_flagged as (
      update emails t set flags = r.flags, keywords = coalesce(r.keywords, t.keywords), modseq = r.modseq
      from flagged r where t.account_id = r.a and t.id = r.id
    )`;

const removeEmails: Part = (sql, rows) => sql`
    , removed as materialized (
      select a, id from json_to_recordset(${json(rows)}::json) as r (a uuid, ids uuid[])
        join passed using (a) cross join unnest(r.ids) as id
    ), email_removed as (
      delete from emails t using removed r where t.account_id = r.a and t.id = r.id returning t.blob
    ), candidate as (
      insert into blob_candidates (hash) select blob from email_removed
    )`;

const COUNTERS = `r (a uuid, id uuid, ${folderCounters.recordset})`;
const FOLDERS = `r (a uuid, ${folderColumns.recordset})`;

/** Most commits change only the counters of folders. */
const changeFolders: TablePart = (sql, rows, table) => {
  const areCounters = !rows.some((row) => 'name' in (row as object));
  const others = areCounters ? NOTHING : sql`, ${sql.unsafe(storedFolder)}`;
  return sql`
    , folder as (
      update folders t set ${sql.unsafe(storedCounters)}${others}
      from ${table(rows, areCounters ? COUNTERS : FOLDERS)}
      where t.account_id = r.a and t.id = r.id and r.a = any (${sql.unsafe(PASSED)})
    )`;
};

const choosePreferences: Part = (sql, rows) => sql`
    , preference as (
      insert into preferences (account_id, chosen, updated_at)
      select a, chosen, to_timestamp(at / 1000.0) from json_to_recordset(${json(rows)}::json)
        as x (a uuid, chosen jsonb, at double precision) join passed using (a)
      on conflict (account_id) do update
      set chosen = preferences.chosen || excluded.chosen, updated_at = excluded.updated_at
    )`;
