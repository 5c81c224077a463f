// THREAD (RFC 5256) by ORDEREDSUBJECT and REFERENCES.
import { command } from '../command.js';
import { ok } from '../completion.js';
import { type ThreadArguments, threadArguments } from '../grammar/search.js';
import { refuseUnknownCharset } from '../grammar/search-program.js';
import { threadsOf } from '../search/folder-threads.js';
import { hasSequenceNumbers } from '../search/search-plan.js';
import { beginSearch, formOf } from '../search/session-search.js';
import { threadList } from '../search/thread-list.js';

export const threadCommand = command<ThreadArguments>({
  name: 'THREAD',
  states: ['selected'],
  hasUidForm: true,
  holdsExpunge: ({ key }, isUid) => !isUid || hasSequenceNumbers(key),
  parse: (reader, session) => threadArguments(reader, session.context.limits),
  async run(session, { algorithm, charset, key }, isUid) {
    refuseUnknownCharset(charset);
    const search = beginSearch(session, key);
    const { numberOf } = formOf(session, search, isUid, []);
    const { forest, positions } = await threadsOf(search, await search.matches(), algorithm);
    const threads = await search.stepwise(threadList(forest, positions.map(numberOf)), positions.length);
    session.output.line(threads === '' ? '* THREAD' : `* THREAD ${threads}`);
    return ok('Thread completed');
  },
});
