// SORT (RFC 5256) with SORT=DISPLAY (RFC 5957), ESORT and CONTEXT=SORT (RFC 5267).
import { command } from '../command.js';
import { ok } from '../completion.js';
import { type SortArguments, sortArguments } from '../grammar/search.js';
import { answerSearch } from '../search/answered-search.js';
import { hasSequenceNumbers } from '../search/search-plan.js';

export const sortCommand = command<SortArguments>({
  name: 'SORT',
  states: ['selected'],
  hasUidForm: true,
  holdsExpunge: ({ key }, isUid) => !isUid || hasSequenceNumbers(key),
  parse: (reader, session) => sortArguments(reader, session.context.limits),
  async run(session, { charset, key, returns, order }, isUid) {
    await answerSearch(session, { name: 'SORT', isUid, charset, key, returns, order });
    return ok('Sort completed');
  },
});
