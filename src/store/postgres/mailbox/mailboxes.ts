// One account's mailbox in PostgreSQL: claims, commits, and the rows that queries read.

import { coalesce } from '../../changes/coalesced-changes.js';
import { countOf } from '../../changes/coalesced-placements.js';
import type { CommitMeter } from '../../commit-meter.js';
import type { Placement, RunEmail } from '../../mailbox-rows.js';
import type { CommitResult, EmailSummaryRow, ExportRow, MailboxChange, MailboxStore } from '../../mailboxes.js';
import { hasWrittenTo, sentMinutes, strangersOf } from '../accounts/sending.js';
import { flushKeywords } from '../commit/deferred-flags.js';
import { commitShared } from '../commit/inbound-commit.js';
import { commitChanges, type DeferredFlags } from '../commit/mailbox-commit.js';
import { outboundWeight } from '../commit/outbound-commit.js';
import { ThreadJoins, threadRows } from '../commit/threads.js';
import { guarded, type Sql } from '../driver/client.js';
import { NO_DEADLINE } from '../driver/commit-deadline.js';
import { GroupCommit } from '../driver/group-commit.js';
import {
  appendedMessageIds,
  blindRecipients,
  outboundAttempts,
  outboundContent,
  outboundCounts,
  outboundOfCopies,
  outboundOfMessage,
  outboundPage,
  outboundRows,
  outboundWaiting,
  recipientsOf,
  submittedCopies,
} from '../outbound/outbound-rows.js';
import { listedEmails } from './folder-lists.js';
import { mailboxClaims } from './mailbox-claim.js';
import { emailColumns, emailSummaryColumns } from './mailbox-columns.js';
import { emailPages, keywordSets, overview, placementPages } from './mailbox-loading.js';
import { threadPages, threadsOf } from './thread-pages.js';

/**
 * One statement commits changes of at most this many accounts. A message for 100 recipients, which every SMTP server must accept
 * (RFC 5321 §4.5.3.1.8), fits: each account that does not fit costs an inbound row.
 */
const MOST_ACCOUNTS = 128;
/** Ids of a deferred write that weigh as much as one row. */
const IDS_OF_A_WEIGHT = 50;
/** Octets of a blob that weigh as much as one row. */
const OCTETS_OF_A_WEIGHT = 2_000;

/**
 * `writerSql`: a `byKey` pool for commits; `claimSql`: one for claims. Without `deferredFlags` nobody writes the deferred flags to
 * the emails, and their number is unbounded.
 */
export function postgresMailboxes(
  sql: Sql,
  writerSql: Sql,
  meter?: CommitMeter,
  deferredFlags: DeferredFlags = ALWAYS_DEFERRED,
  claimSql: Sql = writerSql,
  deadline = NO_DEADLINE,
): MailboxStore {
  const joins = new ThreadJoins(writerSql);
  const write = (changes: readonly MailboxChange[]) =>
    commitShared(changes, (open) => commitChanges(writerSql, open, deferredFlags, deadline, joins));
  const group = new GroupCommit<MailboxChange, CommitResult>(write, {
    maxItems: MOST_ACCOUNTS,
    maxWeight: 1000,
    maxWaiting: 1_000_000,
    weigh: weightOf,
    meter,
  });

  const claims = mailboxClaims(sql, claimSql);

  return {
    outboundRows: async (accountId, ids) => (ids.length === 0 ? [] : guarded(() => outboundRows(sql, accountId, ids))),
    outboundOfMessage: (accountId, messageId) => guarded(() => outboundOfMessage(sql, accountId, messageId)),
    outboundOfCopies: async (accountId, emailIds) =>
      emailIds.length === 0 ? new Map() : guarded(() => outboundOfCopies(sql, accountId, emailIds)),
    recipientsOf: (...of) => guarded(() => recipientsOf(sql, ...of)),
    outboundPage: (...of) => guarded(() => outboundPage(sql, ...of)),
    outboundCounts: (...of) => guarded(() => outboundCounts(sql, ...of)),
    outboundContent: (accountId, id) => guarded(() => outboundContent(sql, accountId, id)),
    outboundAttempts: (accountId, id) => guarded(() => outboundAttempts(sql, accountId, id)),
    outboundWaiting: (accountId, shards) => guarded(async () => outboundWaiting(sql, accountId, shards)),
    blindRecipients: (...of) => guarded(() => blindRecipients(sql, ...of)),
    submittedCopies: (...of) => guarded(() => submittedCopies(sql, ...of)),
    appendedMessageIds: (...of) => guarded(() => appendedMessageIds(sql, ...of)),
    claim: (accountId, epoch) => claimed(claims, sql, accountId, epoch),
    overview: (accountId) => overview(sql, accountId),
    emails: (accountId) => emailPages(sql, accountId, () => deferredFlags.note(accountId)),
    async keywords(accountId) {
      await flushKeywords(writerSql, accountId);
      return keywordSets(sql, accountId);
    },
    placements: (accountId) => placementPages(sql, accountId),
    forget: (...of) => forget(sql, ...of),
    commit: (change) =>
      coalesce(change.changes).flaggedTogether.length === 0
        ? group.submit(change)
        : deferredFlags.makeRoom(change.accountId).then(() => group.submit(change)),
    beforeCommit: () => group.beforeWrite(),
    isNewest: (...of) => isNewest(sql, ...of),
    summaries: (...of) => summaries(sql, ...of),
    placedWithEmail: (...of) => placedWithEmail(sql, ...of),
    thread: (...of) => guarded(() => threadRows(sql, ...of)),
    threads: (accountId) => threadPages(sql, accountId),
    settleThreads: (accountId) => joins.settle(accountId),
    threadsOf: (...of) => guarded(() => threadsOf(sql, ...of)),
    exportRows: (...of) => exportRows(sql, ...of),
    listed: (...of) => guarded(() => listedEmails(sql, ...of)),
    senders: (...of) => senders(sql, ...of),
    filterRunBatch: (...of) => filterRunBatch(sql, ...of),
    sentMinutes: (...of) => sentMinutes(sql, ...of),
    hasWrittenTo: (...of) => hasWrittenTo(sql, ...of),
    strangers: async (accountId, addresses) => (addresses.length === 0 ? [] : strangersOf(sql, accountId, addresses)),
  };
}

/** The weight of a change in a group: about the rows that it writes. */
function weightOf({ changes, contents, shared, sent }: MailboxChange): number {
  const coalesced = coalesce(changes);
  const together = coalesced.flaggedTogether.reduce((sum, { ids }) => sum + ids.length / IDS_OF_A_WEIGHT, 0);
  const emails =
    together + coalesced.emailsAdded.length + coalesced.emailsFlagged.length + coalesced.emailsRemoved.length;
  let placements = 0;
  for (const { placed, placedTogether, expunged, expungedTogether, marked } of coalesced.placements.values()) {
    placements += countOf(placed, placedTogether) + countOf(expunged, expungedTogether) + marked.length;
  }
  let octets = 0;
  for (const { size } of contents) octets += size;
  for (const { message } of shared) octets += message.content.size / message.deliveries.length;
  const outbound = outboundWeight(coalesced) + (sent?.addresses.length ?? 0);
  return 1 + Math.max(emails, placements) + outbound + octets / OCTETS_OF_A_WEIGHT;
}

async function claimed(
  claims: ReturnType<typeof mailboxClaims>,
  sql: Sql,
  accountId: string,
  epoch: number,
): ReturnType<MailboxStore['claim']> {
  const claimed = await claims.claim(accountId, epoch);
  if (claimed !== undefined) return claimed;
  const [present] = await guarded(() => sql`select from accounts where id = ${accountId}`);
  return { kind: present === undefined ? 'noSuchAccount' : 'fenced' };
}

async function isNewest(sql: Sql, accountId: string, epoch: number, modseq: number): Promise<boolean> {
  const rows = await guarded(
    () => sql`select from accounts where id = ${accountId} and epoch = ${epoch} and modseq = ${modseq}`,
  );
  return rows.length > 0;
}

async function summaries(sql: Sql, accountId: string, ids: readonly string[]): Promise<readonly EmailSummaryRow[]> {
  if (ids.length === 0) return [];
  return guarded(
    () => sql<EmailSummaryRow[]>`
      select ${sql.unsafe(emailSummaryColumns.selected)} from emails where account_id = ${accountId} and id = any(${ids as string[]}::uuid[])`,
  );
}

async function placedWithEmail(
  sql: Sql,
  accountId: string,
  placements: readonly Placement[],
): Promise<readonly Placement[]> {
  if (placements.length === 0) return [];
  const folderIds = placements.map(({ folderId }) => folderId);
  const uids = placements.map(({ uid }) => uid);
  return guarded(
    () => sql<Placement[]>`
      select distinct p.folder_id as "folderId", p.uid::float8 as uid
      from unnest(${folderIds}::uuid[], ${uids}::bigint[]) as asked (folder_id, uid)
      join placements p on p.account_id = ${accountId} and p.folder_id = asked.folder_id and p.uid = asked.uid
      where p.saved_at is null`,
  );
}

async function exportRows(sql: Sql, accountId: string, ids: readonly string[]): Promise<readonly ExportRow[]> {
  if (ids.length === 0) return [];
  return guarded(
    () => sql<ExportRow[]>`
      select ${sql.unsafe(exportColumns.selected)} from emails where account_id = ${accountId} and id = any(${ids as string[]}::uuid[])`,
  );
}

async function filterRunBatch(sql: Sql, accountId: string, runId: string, number: number) {
  const [row] = await guarded(
    () => sql<{ emails: readonly RunEmail[] }[]>`
      select emails from filter_run_batches
      where account_id = ${accountId} and run_id = ${runId} and number = ${number}`,
  );
  return row?.emails;
}

async function senders(sql: Sql, accountId: string, folderId: string): Promise<readonly string[]> {
  const rows = await guarded(
    () => sql<{ address: string }[]>`
      select distinct lower(e.from_address) as address
      from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
      where p.account_id = ${accountId} and p.folder_id = ${folderId} and not p.deleted and e.from_address <> '' order by 1`,
  );
  return rows.map((row) => row.address);
}

async function forget(sql: Sql, maxAgeMs: number, limit: number): Promise<number> {
  const { count } = await guarded(
    () => sql`
      delete from recent_commands where ctid = any(array(
        select ctid from recent_commands c where at < now() - ${maxAgeMs} * interval '1 millisecond'
          and not exists (select from inbound i where i.account_id = c.account_id and i.id = c.id)
        limit ${limit} for update skip locked))`,
  );
  return count;
}

const ALWAYS_DEFERRED: DeferredFlags = { makeRoom: async () => {}, mayHave: () => true, note() {} };

const exportColumns = emailColumns.only('id', 'blob', 'fromAddress', 'receivedAt', 'size');
