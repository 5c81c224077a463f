// The emails of a whole list as the server has them at a moment: their ids, and what is known of each.
import type { FoundEmails, KnownEmail, ListQuery } from '../client-types.js';
import type { Rest } from '../rest.js';
import { folderOf, parametersOf } from './list-query.js';

/** The rows that one request may name. */
const MOST_ROWS = 100;

/** `rowsOf`: emails of a list by thread; only the rows that have one of them. */
export async function foundEmails(
  rest: Pick<Rest, 'request'>,
  query: Omit<ListQuery, 'threadId'>,
  rowsOf?: readonly string[],
): Promise<FoundEmails> {
  const folder = folderOf(query);
  const known = new Map<string, KnownEmail>();
  const threads = new Map<string, readonly string[]>();
  let total = 0;
  for (const parameters of rowsOf === undefined ? [wholeList(query)] : rowParameters(folder, rowsOf)) {
    const found = await rest.request('GET', '/api/emails/search/ids', { query: parameters });
    const ids = found.groups.flatMap(({ emailIds }) => emailIds);
    total += found.totalCount;
    for (const { emailIds, ...of } of found.groups) for (const id of emailIds) known.set(id, of);
    for (const positions of found.threads ?? []) {
      const thread = positions.map((position) => ids[position]!);
      for (const id of thread) threads.set(id, thread);
    }
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
