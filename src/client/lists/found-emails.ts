// The emails of a whole list as the server has them at a moment: their ids, and what is known of each.
import type { FoundEmails, KnownEmail, ListQuery } from '../client-types.js';
import type { Rest } from '../rest.js';
import { folderOf, parametersOf } from './list-query.js';

export async function foundEmails(
  rest: Pick<Rest, 'request'>,
  query: Omit<ListQuery, 'threadId'>,
): Promise<FoundEmails> {
  // Searches have no order and no threads.
  const { sort: _, groupByThread: __, ...parameters } = parametersOf({ ...query, folder: folderOf(query) });
  const { totalCount, groups } = await rest.request('GET', '/api/emails/search/ids', { query: parameters });
  const known = new Map<string, KnownEmail>();
  for (const { emailIds, ...of } of groups) for (const id of emailIds) known.set(id, of);
  return { total: totalCount, ids: [...known.keys()], find: (id) => known.get(id) };
}
