// Runs of filters over existing mail, in batches: each is a command, so commands of others wait for one batch at most. The commit of a batch
// has the new position of its run, so a batch is applied once, whoever asks for it again. filter-run-changes.ts changes the emails;
// ../background/filter-running.ts asks.
import type { FilterRun, RunEmail } from '../../../store/mailbox-rows.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import { folderNamed } from '../commands/selection.js';
import type { MailboxProtocol } from '../protocol.js';
import { folderNamed as columnsNamed } from '../search/search.js';
import type { MailboxState } from '../state/state.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { applyRule, undoEmail } from './filter-run-changes.js';
import { countAtOnce, foldersInScope, mayBeChanged } from './filter-run-scope.js';

/** Runs that an account keeps, and those of them that may have work. */
const MOST_RUNS = 10;
const MOST_AT_WORK = 3;
/** Emails of one batch. */
const BATCH = 100;
/** Slots that one query looks at. */
const MOST_SLOTS = 50_000;

const hasWork = ({ phase }: FilterRun): boolean => phase === 'applying' || phase === 'undoing';

type Commands = 'startFilterRun' | 'undoFilterRun' | 'applyFilterRun' | 'undoFilterBatch';

export const filterRunCommands: Pick<MailboxHandlers<MailboxProtocol>, Commands> = {
  startFilterRun: {
    reads({ folderId }, state) {
      const folder = folderId === undefined ? undefined : columnsNamed(state, folderId);
      return folderId !== undefined && folder === undefined ? undefined : { counted: folder?.row.id ?? null };
    },
    plan: startFilterRun,
  },
  undoFilterRun,
  applyFilterRun,
  undoFilterBatch,
};

type Queries = 'filterRun' | 'filterRunWork';

export function filterRunQueries(
  store: Pick<MailboxStore, 'summaries' | 'filterRunBatch'>,
): Pick<QueryHandlers<MailboxProtocol, MailboxState>, Queries> {
  return {
    async filterRun(state, { runId }) {
      const run = state.filterRuns.get(runId);
      if (run === undefined) return { refusal: 'noSuchRun' };
      const { filterId, phase, total, matched, changed } = run;
      return { reply: { filterId, phase, total, matched, changed } };
    },

    async filterRunWork(state) {
      const run = [...state.filterRuns.values()].find(hasWork);
      if (run === undefined) return { reply: {} };
      if (run.phase === 'undoing') {
        const emails = await store.filterRunBatch(state.accountId, run.id, run.undone);
        return { reply: { undo: { runId: run.id, number: run.undone, emails: emails ?? null } } };
      }
      const { slots, upTo, isLast } = nextSlots(state, run);
      const rows = await store.summaries(
        state.accountId,
        slots.map((slot) => state.emails.id(slot)),
      );
      const emails = rows.map(({ id: emailId, blob, fromAddress, subject, hasAttachments, size }) => {
        return { emailId, blob, facts: { fromAddress, subject, hasAttachments, size } };
      });
      return { reply: { apply: { runId: run.id, after: run.position, upTo, isLast, rule: run.rule, emails } } };
    },
  };
}

/** The next emails of a run; `upTo`: the last one that was looked at. */
function nextSlots(state: MailboxState, run: FilterRun) {
  const { emails } = state;
  const folders = foldersInScope(state, run.folderId);
  const drafts = state.folderOf('drafts');
  const slots: number[] = [];
  let slot = firstAfter(state, run.position);
  const end = Math.min(emails.size, slot + MOST_SLOTS);
  let upTo = run.position;
  while (slot < end && slots.length < BATCH) {
    const id = emails.id(slot);
    if (id > run.newestId) break;
    if (mayBeChanged(state, drafts, slot) && folders.some((folder) => folder.shows(slot))) slots.push(slot);
    upTo = id;
    slot++;
  }
  return { slots, upTo, isLast: slot >= emails.size || emails.id(slot) > run.newestId };
}

/** The first slot whose id is greater. */
function firstAfter({ emails }: MailboxState, id: string): number {
  let [low, high] = [0, emails.size];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (emails.id(middle) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function startFilterRun(
  tx: MailboxTransaction,
  { filterId, folderId }: Payload<MailboxProtocol, 'startFilterRun'>,
): Outcome<MailboxProtocol, 'startFilterRun'> {
  const rule = tx.filters.get(filterId);
  if (rule === undefined) return { refusal: 'noSuchFilter' };
  const folder = folderId === undefined ? undefined : folderNamed(tx, folderId);
  if (folderId !== undefined && (folder === undefined || folder.role === 'drafts')) return { refusal: 'noSuchFolder' };
  const runs = tx.filters.runs();
  if (runs.filter(hasWork).length >= MOST_AT_WORK) return { refusal: 'tooManyRuns' };
  const { state } = tx;
  const inFolder = folder?.id ?? null;
  // Another command of the batch may have made the folder; or the reads have failed.
  const total = tx.prefetched.counted?.get(inFolder) ?? countAtOnce(state, inFolder);
  tx.begin();
  const ended = runs.filter((run) => !hasWork(run)).sort((a, b) => a.startedAt - b.startedAt);
  for (const { id } of ended.slice(0, Math.max(0, runs.length + 1 - MOST_RUNS))) tx.filters.removeRun(id);
  const id = tx.otherId();
  tx.filters.putRun({
    ...{ id, filterId, rule, folderId: inFolder, total, startedAt: tx.now },
    phase: total === 0 ? 'done' : 'applying',
    newestId: state.emails.size === 0 ? '' : state.emails.id(state.emails.size - 1),
    ...{ position: '', matched: 0, changed: 0, batches: 0, undone: 0 },
  });
  return { reply: { runId: id } };
}

function undoFilterRun(
  tx: MailboxTransaction,
  { runId }: Payload<MailboxProtocol, 'undoFilterRun'>,
): Outcome<MailboxProtocol, 'undoFilterRun'> {
  const run = tx.filters.run(runId);
  if (run === undefined) return { refusal: 'noSuchRun' };
  if (run.phase === 'undoing' || run.phase === 'undone') return { reply: {} };
  tx.begin();
  tx.filters.putRun({ ...run, phase: run.batches === 0 ? 'undone' : 'undoing' });
  return { reply: {} };
}

function applyFilterRun(
  tx: MailboxTransaction,
  { runId, after, upTo, isLast, emailIds }: Payload<MailboxProtocol, 'applyFilterRun'>,
): Outcome<MailboxProtocol, 'applyFilterRun'> {
  const run = tx.filters.run(runId);
  if (run?.phase !== 'applying' || run.position !== after) return { reply: {} };
  tx.begin();
  const emails = emailIds.flatMap((emailId) => {
    const slot = tx.findShown(emailId);
    const isThere = slot >= 0 && (run.folderId === null || tx.folders.uid(run.folderId, slot) !== 0);
    return (isThere && applyRule(tx, slot, run.rule)) || [];
  });
  if (emails.length > 0) tx.filters.keepBatch({ runId, number: run.batches, emails });
  tx.filters.putRun({
    ...run,
    position: upTo,
    phase: isLast ? 'done' : 'applying',
    matched: run.matched + emailIds.length,
    changed: run.changed + emails.length,
    batches: run.batches + (emails.length > 0 ? 1 : 0),
  });
  tx.announceUnread();
  return { reply: {} };
}

function undoFilterBatch(
  tx: MailboxTransaction,
  { runId, number, emails }: Payload<MailboxProtocol, 'undoFilterBatch'>,
): Outcome<MailboxProtocol, 'undoFilterBatch'> {
  const run = tx.filters.run(runId);
  if (run?.phase !== 'undoing' || run.undone !== number) return { reply: {} };
  tx.begin();
  const changed = (emails ?? []) as readonly RunEmail[];
  for (const email of changed) undoEmail(tx, email);
  const undone = number + 1;
  const phase = undone >= run.batches ? 'undone' : 'undoing';
  tx.filters.putRun({ ...run, undone, phase, changed: run.changed - changed.length });
  tx.announceUnread();
  return { reply: {} };
}
