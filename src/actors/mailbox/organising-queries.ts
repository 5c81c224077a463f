// Queries about folders, labels, filters and threads.
import type { EmailSummaryRow, FilterRow, MailboxStore } from '../../store/mailboxes.js';
import type { QueryHandlers } from '../runtime/behavior.js';
import type { EmailTexts } from './email-texts.js';
import { FoldedFacts } from './filter-match.js';
import { shownFolders } from './folders.js';
import { inLabelOrder, labelOf } from './labels.js';
import { listFolder } from './lists.js';
import { bodiesOf, factsOf } from './prefetch.js';
import type { MailboxProtocol } from './protocol.js';
import { detailOf } from './shown-emails.js';
import type { MailboxState } from './state.js';

type Names = 'folders' | 'labels' | 'labelEmails' | 'filters' | 'deferredFilters' | 'testFilter' | 'thread';

/** Emails of a thread that are shown: the newest. */
const MOST_OF_THREAD = 500;
const DEFAULT_PAGE_SIZE = 20;
const MOST_DEFERRED = 100;
/** Of trying a filter; emails whose bodies are not read by then are counted for themselves. */
const TESTING_MS = 5_000;

export function organisingQueries(
  store: MailboxStore,
  texts: EmailTexts,
): Pick<QueryHandlers<MailboxProtocol, MailboxState>, Names> {
  return {
    async labels(state) {
      const rows = [...state.folders.values()].map(({ row }) => row).filter(({ role }) => role === 'label');
      return { reply: { labels: inLabelOrder(rows).map(labelOf) } };
    },

    async labelEmails(state, { labelId, ...criteria }) {
      const folder = state.folders.get(labelId);
      if (folder?.row.role !== 'label') return { refusal: 'noSuchLabel' };
      return { reply: await listFolder(store, state, folder, criteria) };
    },

    async folders(state) {
      return { reply: { folders: shownFolders([...state.folders.values()].map(({ row }) => row)) } };
    },

    async filters(state) {
      return { reply: { filters: [...state.filters] } };
    },

    async deferredFilters(state) {
      const ids = [...state.deferred.keys()].slice(0, MOST_DEFERRED);
      const rows = await store.summaries(state.accountId, ids);
      const emails = rows.map(({ id: emailId, blob }) => {
        const filterIds = state.deferred.get(emailId) ?? [];
        const filters = state.filters
          .filter(({ id }) => filterIds.includes(id))
          .flatMap(({ id, bodyContains }) => (bodyContains === null ? [] : [{ id, bodyContains }]));
        return { emailId, blob, filters };
      });
      return { reply: { emails } };
    },

    async testFilter(state, { filterId, limit }) {
      const filter = state.filters.find(({ id }) => id === filterId);
      if (filter === undefined) return { refusal: 'noSuchFilter' };
      const ids = state
        .folderOf('inbox')
        .page(1, limit)
        .map((slot) => state.emails.id(slot));
      const rows = new Map((await store.summaries(state.accountId, ids)).map((row) => [row.id, row]));
      const tested = ids.flatMap((id) => rows.get(id) ?? []);
      const { matchedEmailIds, untestedCount } = await matching(state.accountId, filter, tested, texts);
      return { reply: { matchCount: matchedEmailIds.length, matchedEmailIds, untestedCount } };
    },

    async thread(state, { threadId, page, pageSize = DEFAULT_PAGE_SIZE }) {
      const part = page === undefined ? { newest: MOST_OF_THREAD } : { page, pageSize };
      const { rows, total } = await store.thread(state.accountId, threadId, part);
      const emails = rows.flatMap((row) => {
        const slot = state.emails.find(row.id);
        return slot < 0 ? [] : [detailOf(state, slot, row)];
      });
      return total === 0 ? { refusal: 'noSuchThread' } : { reply: { emails, total } };
    },
  };
}

async function matching(
  accountId: string,
  filter: FilterRow,
  rows: readonly EmailSummaryRow[],
  texts: EmailTexts,
): Promise<{ matchedEmailIds: string[]; untestedCount: number }> {
  const possible = rows.filter((row) => new FoldedFacts(factsOf(row)).matchWithoutBody(filter));
  if (filter.bodyContains === null) return { matchedEmailIds: possible.map(({ id }) => id), untestedCount: 0 };
  const blobs = [...new Set(possible.map(({ blob }) => blob))];
  const bodies = await bodiesOf(texts, accountId, blobs, TESTING_MS, () => {});
  const tested = possible.map((row) => ({ id: row.id, facts: new FoldedFacts(factsOf(row, bodies.get(row.blob))) }));
  return {
    matchedEmailIds: tested.filter(({ facts }) => facts.match(filter)).map(({ id }) => id),
    untestedCount: tested.filter(({ facts }) => facts.isUndecided(filter)).length,
  };
}
