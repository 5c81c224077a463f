// Runs of filters in PostgreSQL: the part of the mailbox commit that writes them. Most commits have none.
import { coalesce } from '../../changes/coalesced-changes.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { Pieces } from '../driver/statement-pieces.js';

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeFilterRuns(sql: Pieces, changes: readonly MailboxChange[]) {
  const runs = [];
  const batches = [];
  const gone = [];
  for (const { accountId: a, changes: list } of changes) {
    const { filterRuns, filterRunBatches, filterRunsRemoved } = coalesce(list);
    for (const run of filterRuns) runs.push({ a, id: run.id, run });
    for (const { runId: id, number, emails } of filterRunBatches) batches.push({ a, id, number, emails });
    for (const id of filterRunsRemoved) gone.push({ a, id });
  }
  if (runs.length + batches.length + gone.length === 0) return sql``;
  return sql`
    , filter_run as (
      insert into filter_runs (account_id, id, run)
      select a, id, run from json_to_recordset(${JSON.stringify(runs)}::json) as x (a uuid, id uuid, run json)
      join passed using (a)
      on conflict (account_id, id) do update set run = excluded.run
    ), filter_run_batch as (
      insert into filter_run_batches (account_id, run_id, number, emails)
      select a, id, number, emails from json_to_recordset(${JSON.stringify(batches)}::json)
        as x (a uuid, id uuid, number integer, emails json) join passed using (a)
    ), run_gone as (
      select a, id from json_to_recordset(${JSON.stringify(gone)}::json) as x (a uuid, id uuid) join passed using (a)
    ), filter_run_removed as (
      delete from filter_runs t using run_gone r where t.account_id = r.a and t.id = r.id
    ), filter_run_batches_removed as (
      delete from filter_run_batches t using run_gone r where t.account_id = r.a and t.run_id = r.id
    )`;
}
