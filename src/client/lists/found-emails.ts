// The emails of a whole list as the server has them at a moment: their ids, and what is known of each. The server gives 20,000 at a time, the
// newest first; what comes while they are read is newer than the first ones, and not among them.
import type { FoundEmails, FoundOptions, KnownEmail, ListQuery } from '../client-types.js';
import type { Rest } from '../rest.js';
import { folderOf, parametersOf } from './list-query.js';

/** The rows that one request may name. */
const MOST_ROWS = 100;
/** The most emails of a list: 100 MB in a browser. */
const MOST_FOUND = 500_000;

/** `rowsOf`: emails of a list by thread; only the rows that have one of them. */
export async function foundEmails(
  rest: Pick<Rest, 'request'>,
  query: Omit<ListQuery, 'threadId'>,
  rowsOf?: readonly string[],
  { progress, signal }: FoundOptions = {},
): Promise<FoundEmails> {
  const folder = folderOf(query);
  const known = new Map<string, KnownEmail>();
  const threads = new Map<string, readonly string[]>();
  const read = async (parameters: object) => {
    const found = await rest.request('GET', '/api/emails/search/ids', { query: parameters });
    const ids = found.groups.flatMap(({ emailIds }) => emailIds);
    for (const { emailIds, ...of } of found.groups) for (const id of emailIds) known.set(id, of);
    for (const positions of found.threads ?? []) {
      const thread = positions.map((position) => ids[position]!);
      for (const id of thread) threads.set(id, thread);
    }
    return found;
  };
  let total = 0;
  if (rowsOf !== undefined) {
    for (const parameters of rowParameters(folder, rowsOf)) total += (await read(parameters)).totalCount;
  } else {
    const parameters = wholeList(query);
    let found = await read(parameters);
    total = found.totalCount;
    while (found.next !== undefined && known.size < MOST_FOUND) {
      progress?.(known.size, total);
      signal?.throwIfAborted();
      const { size } = known;
      found = await read({ ...parameters, before: found.next });
      // The owner of the mailbox may be of a version that gives the newest ones again.
      if (known.size === size) break;
      // Emails may have left the list meanwhile.
      if (found.next === undefined) total = known.size;
    }
    signal?.throwIfAborted();
  }
  return { total, ids: [...known.keys()], find: (id) => known.get(id), thread: (id) => threads.get(id) };
}

/** What is found has no order. */
function wholeList(query: ListQuery) {
  const { sort: _, ...parameters } = parametersOf({ ...query, folder: folderOf(query) });
  return parameters;
}

function rowParameters(folder: string | undefined, rowsOf: readonly string[]) {
  const parts = Array.from({ length: Math.ceil(rowsOf.length / MOST_ROWS) }, (_, i) =>
    rowsOf.slice(i * MOST_ROWS, (i + 1) * MOST_ROWS),
  );
  return parts.map((part) => ({ folder, groupByThread: true, rowsOf: part.join(',') }));
}
