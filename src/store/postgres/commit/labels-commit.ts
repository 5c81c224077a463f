// Labels, annotations and filters in PostgreSQL: the part of the mailbox commit that writes them, and the reading of annotations.
// Most commits have none, so their statement omits this part.

import { type CoalescedChanges, coalesce } from '../../changes/coalesced-changes.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';
import { filterColumns, folderColumns, storedFilter } from '../mailbox/mailbox-columns.js';
import { writeFilterRuns } from './filter-runs-commit.js';
import { writeSieve } from './sieve-commit.js';
import { writeSuppressions } from './suppressions-commit.js';
import { writeVacation } from './vacation-commit.js';

/** Stands for the folder's id in annotations of the account. */
const OF_ACCOUNT = '00000000-0000-0000-0000-000000000000';

const storedFolder = folderColumns.stored();
const filterValues = filterColumns.stored();
const changedFilter = filterColumns.except('id', 'createdAt').set((name) => `excluded.${name}`);

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeLabels(sql: Pieces, changes: readonly MailboxChange[]) {
  const rules = sql`${writeFilterRuns(sql, changes)} ${writeSieve(sql, changes)} ${writeSuppressions(sql, changes)} ${writeVacation(sql, changes)}`;
  if (changes.every(({ changes: list }) => hasNone(coalesce(list)))) return rules;
  const labels = [];
  const labelsGone = [];
  const filters = [];
  const filtersGone = [];
  const awaitingBody = [];
  const bodyFiltersEnded = [];
  const released = [];
  const annotated = [];
  const unannotated = [];
  for (const { accountId: a, changes: list, counters } of changes) {
    const coalesced = coalesce(list);
    for (const folder of coalesced.foldersAdded) {
      labels.push({ a, ...folder, ...counters.find(({ id }) => id === folder.id) });
    }
    for (const id of coalesced.foldersRemoved) labelsGone.push({ a, id });
    for (const row of coalesced.filters) filters.push({ a, ...storedFilter(row) });
    for (const id of coalesced.filtersRemoved) filtersGone.push({ a, id });
    for (const row of coalesced.filtersAwaitingBody) {
      const { emailId: id, filterIds, placed, envelope } = row;
      awaitingBody.push({ a, id, filters: filterIds, placed, envelope: envelope ?? undefined });
    }
    for (const id of coalesced.bodyFiltersEnded) bodyFiltersEnded.push({ a, id });
    for (const { folderId, name, value } of coalesced.annotations) {
      if (value === null) unannotated.push({ a, f: folderId ?? OF_ACCOUNT, name });
      else annotated.push({ a, f: folderId ?? OF_ACCOUNT, name, value });
    }
    for (const hash of coalesced.blobsReleased) released.push({ a, hash });
  }
  return sql`
    , label as (
      insert into folders (account_id, ${sql.unsafe(folderColumns.names)}) select a, ${sql.unsafe(storedFolder)}
      from json_to_recordset(${JSON.stringify(labels)}::json)
        as x (a uuid, ${sql.unsafe(folderColumns.recordset)})
      join passed using (a)
    ), label_gone as materialized (
      select a, id from json_to_recordset(${JSON.stringify(labelsGone)}::json) as x (a uuid, id uuid)
      join passed using (a)
    ), label_removed as (
      delete from folders t using label_gone g where t.account_id = g.a and t.id = g.id
    ), label_unplaced as (
      delete from placements t using label_gone g where t.account_id = g.a and t.folder_id = g.id
    ), label_expunged as (
      delete from expunged t using label_gone g where t.account_id = g.a and t.folder_id = g.id
    ), label_unannotated as (
      delete from annotations t using label_gone g where t.account_id = g.a and t.folder_id = g.id
    ), annotated as (
      insert into annotations (account_id, folder_id, name, value)
      select a, f, name, decode(value, 'base64') from json_to_recordset(${JSON.stringify(annotated)}::json)
        as x (a uuid, f uuid, name text, value text) join passed using (a)
      on conflict (account_id, folder_id, name) do update set value = excluded.value
    ), unannotated as (
      delete from annotations t
      using json_to_recordset(${JSON.stringify(unannotated)}::json) as r (a uuid, f uuid, name text), passed p
      where t.account_id = r.a and t.folder_id = r.f and t.name = r.name and p.a = r.a
    ), filter as (
      insert into filters (account_id, ${sql.unsafe(filterColumns.names)}) select a, ${sql.unsafe(filterValues)}
      from json_to_recordset(${JSON.stringify(filters)}::json)
        as x (a uuid, ${sql.unsafe(filterColumns.recordset)})
      join passed using (a)
      on conflict (account_id, id) do update set ${sql.unsafe(changedFilter)}
    ), filter_removed as (
      delete from filters t using json_to_recordset(${JSON.stringify(filtersGone)}::json) as r (a uuid, id uuid),
        passed p
      where t.account_id = r.a and t.id = r.id and p.a = r.a
    ), awaiting_body as (
      insert into deferred_filters (account_id, email_id, filter_ids, placed, envelope)
      select a, id, filters, placed, envelope from json_to_recordset(${JSON.stringify(awaitingBody)}::json)
        as x (a uuid, id uuid, filters uuid[], placed jsonb, envelope json) join passed using (a)
      on conflict (account_id, email_id) do update set filter_ids = excluded.filter_ids, placed = excluded.placed,
        envelope = excluded.envelope
    ), deferral_ended as (
      delete from deferred_filters t
      using json_to_recordset(${JSON.stringify(bodyFiltersEnded)}::json) as r (a uuid, id uuid), passed p
      where t.account_id = r.a and t.email_id = r.id and p.a = r.a
    ), released as (
      insert into blob_candidates (hash)
      select decode(hash, 'hex') from json_to_recordset(${JSON.stringify(released)}::json) as x (a uuid, hash text)
      join passed using (a)
    ) ${rules}`;
}

function hasNone(coalesced: CoalescedChanges): boolean {
  return (
    coalesced.foldersAdded.length === 0 &&
    coalesced.foldersRemoved.length === 0 &&
    coalesced.filters.length === 0 &&
    coalesced.filtersRemoved.length === 0 &&
    coalesced.filtersAwaitingBody.length === 0 &&
    coalesced.bodyFiltersEnded.length === 0 &&
    coalesced.annotations.length === 0 &&
    coalesced.blobsReleased.length === 0
  );
}

/** The annotations of `accounts a`. */
export const ANNOTATIONS_OF_ACCOUNT = `
    select nullif(folder_id, '${OF_ACCOUNT}') as "folderId", name, translate(encode(value, 'base64'), E'\\n', '') as value
    from annotations where account_id = a.id order by folder_id, name`;
