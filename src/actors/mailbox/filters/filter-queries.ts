// Queries about filters: the filters, the emails for which they wait, and a trial of a filter or of its conditions on the newest emails.
import type { EmailSummaryRow, MailboxStore } from '../../../store/mailboxes.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { MailboxProtocol } from '../protocol.js';
import type { EmailTexts } from '../search/email-texts.js';
import type { MailboxState } from '../state/state.js';
import { type Conditions, FoldedFacts, looksInside } from './filter-match.js';
import { factsOf, readParts } from './filter-reads.js';
import { conditionsOf, isBeyond020, wholeConditions } from './filters.js';

type Names = 'filters' | 'filtersAwaitingBody' | 'testFilter' | 'testConditions';

const MOST_AWAITING_BODY = 100;
/** Limits the time to read messages; an email that is not read by then counts as untested. */
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
      const emails = rows.map((row) => {
        const { id: emailId, blob, fromAddress, subject, hasAttachments, size } = row;
        const filterIds = state.awaitingBody.get(emailId)?.filterIds ?? [];
        const waiting = state.filters.filter(({ id }) => filterIds.includes(id));
        return {
          emailId,
          blob,
          filters: waiting.flatMap((filter) => {
            const { id, bodyContains } = filter;
            return bodyContains === null || isBeyond020(filter) ? [] : [{ id, bodyContains }];
          }),
          conditions: waiting.map((filter) => ({ id: filter.id, ...conditionsOf(filter) })),
          facts: { fromAddress, subject, hasAttachments, size },
        };
      });
      return { reply: { emails } };
    },

    async testFilter(state, { filterId, limit }) {
      const filter = state.filters.find(({ id }) => id === filterId);
      if (filter === undefined) return { refusal: 'noSuchFilter' };
      return trial(state, filter, limit);
    },

    async testConditions(state, { conditions, limit }) {
      return trial(state, wholeConditions(conditions), limit);
    },
  };
}

async function matching(
  accountId: string,
  conditions: Conditions,
  rows: readonly EmailSummaryRow[],
  texts: EmailTexts,
): Promise<{ matchedEmailIds: string[]; untestedCount: number }> {
  const asking = [{ ...conditions, isEnabled: true }].filter(looksInside);
  const judged = rows.map((row) => ({ blob: row.blob, facts: factsOf(row) }));
  const read = asking.length === 0 ? undefined : await readParts(texts, accountId, asking, judged, TRIAL_MS, () => {});
  const verdicts = rows.map((row) => ({
    id: row.id,
    verdict: new FoldedFacts(factsOf(row, read?.get(row.blob))).judge(conditions),
  }));
  return {
    matchedEmailIds: verdicts.flatMap(({ id, verdict }) => (verdict === 'matches' ? [id] : [])),
    untestedCount: verdicts.filter(({ verdict }) => verdict === 'undecided').length,
  };
}
