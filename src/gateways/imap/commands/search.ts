// SEARCH (RFC 9051 §6.4.4) with ESEARCH, SEARCHRES, WITHIN, PARTIAL, INPROGRESS, CONTEXT=SEARCH and CANCELUPDATE (RFC 5267 §4.3.5),
// and the commands that build on searches.
import { type Command, command } from '../command.js';
import { ok } from '../completion.js';
import { type SearchArguments, searchArguments } from '../grammar/search.js';
import { answerSearch } from '../search/answered-search.js';
import { hasSequenceNumbers } from '../search/search-plan.js';
import { cancelUpdates } from '../search/updating-searches.js';
import { sortCommand } from './sort.js';
import { threadCommand } from './thread.js';

const COMPLETED = ok('Search completed');

const searchCommand = command<SearchArguments>({
  name: 'SEARCH',
  states: ['selected'],
  hasUidForm: true,
  holdsExpunge: ({ key }, isUid) => !isUid || hasSequenceNumbers(key),
  parse: (reader, session) => searchArguments(reader, session.context.limits, !session.enabled.has('UTF8=ACCEPT')),
  run(session, { charset, key, returns }, isUid) {
    const answered = answerSearch(session, { name: 'SEARCH', isUid, charset, key, returns });
    return answered === undefined ? COMPLETED : answered.then(() => COMPLETED);
  },
});

const cancelUpdateCommand = command<readonly string[]>({
  name: 'CANCELUPDATE',
  states: ['selected'],
  parse(reader) {
    const tags = [reader.string()];
    while (reader.accept(' ')) tags.push(reader.string());
    return tags;
  },
  run(session, tags) {
    cancelUpdates(session, tags);
    return ok('Updates cancelled');
  },
});

export const searchCommands: readonly Command[] = [searchCommand, sortCommand, threadCommand, cancelUpdateCommand];
