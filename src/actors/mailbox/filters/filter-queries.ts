// Queries about filters: the filters, the emails for which they wait, and a trial of a filter or of its conditions on the newest emails.
import type { EmailSummaryRow, MailboxStore } from '../../../store/mailboxes.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import { bodiesOf, factsOf } from '../commands/prefetch.js';
import type { MailboxProtocol } from '../protocol.js';
import type { EmailTexts } from '../search/email-texts.js';
import type { MailboxState } from '../state/state.js';
import { type Conditions, FoldedFacts } from './filter-match.js';

type Names = 'filters' | 'filtersAwaitingBody' | 'testFilter' | 'testConditions';

const MOST_AWAITING_BODY = 100;
/** Limits the time to read bodies; an email whose body is not read by then counts as untested. */
const TRIAL_MS = 5_000;

export function filterQueries(
  store: MailboxStore,
  texts: EmailTexts,
): Pick<QueryHandlers<MailboxProtocol, MailboxState>, Names> {
  const trial = async (state: MailboxState, conditions: Conditions, limit: number) => {
    const ids = state
      .folderOf('inbox')
      .shown(0, limit, true)
      .map((slot) => state.emails.id(slot));
    const rows = new Map((await store.summaries(state.accountId, ids)).map((row) => [row.id, row]));
    const tested = ids.flatMap((id) => rows.get(id) ?? []);
    const { matchedEmailIds, untestedCount } = await matching(state.accountId, conditions, tested, texts);
    return { reply: { matchCount: matchedEmailIds.length, matchedEmailIds, untestedCount } };
  };
  return {
    async filters(state) {
      return { reply: { filters: [...state.filters] } };
    },

    async filtersAwaitingBody(state) {
      const ids = [...state.awaitingBody.keys()].slice(0, MOST_AWAITING_BODY);
      const rows = await store.summaries(state.accountId, ids);
      const emails = rows.map(({ id: emailId, blob }) => {
        const filterIds = state.awaitingBody.get(emailId)?.filterIds ?? [];
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
      return trial(state, filter, limit);
    },

    async testConditions(state, { conditions, limit }) {
      return trial(state, conditions, limit);
    },
  };
}

async function matching(
  accountId: string,
  conditions: Conditions,
  rows: readonly EmailSummaryRow[],
  texts: EmailTexts,
): Promise<{ matchedEmailIds: string[]; untestedCount: number }> {
  const possible = rows.filter((row) => new FoldedFacts(factsOf(row)).matchWithoutBody(conditions));
  if (conditions.bodyContains === null) return { matchedEmailIds: possible.map(({ id }) => id), untestedCount: 0 };
  const blobs = [...new Set(possible.map(({ blob }) => blob))];
  const bodies = await bodiesOf(texts, accountId, blobs, TRIAL_MS, () => {});
  const tested = possible.map((row) => ({ id: row.id, facts: new FoldedFacts(factsOf(row, bodies.get(row.blob))) }));
  return {
    matchedEmailIds: tested.filter(({ facts }) => facts.match(conditions)).map(({ id }) => id),
    untestedCount: tested.filter(({ facts }) => facts.isUndecided(conditions)).length,
  };
}
