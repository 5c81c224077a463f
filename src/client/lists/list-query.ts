// The queries of lists over REST: which path a list has.
import type { ListQuery } from '../client-types.js';

/** Parameters that make a query a search. */
const SEARCHES = ['q', 'fromDate', 'toDate', 'hasAttachments', 'keyword'] as const;

/** The parameters that are there, in one order, so that equal queries have equal text. */
function parametersOf(query: ListQuery): Readonly<Record<string, unknown>> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isSearch(query: ListQuery): boolean {
  return SEARCHES.some((name) => query[name] !== undefined);
}

/** The path and parameters of the list over REST, which has no list items of a thread. */
export function restPathOf(query: ListQuery): {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
} {
  const parameters = parametersOf(query);
  if (isSearch(query)) return { path: '/api/emails/search', query: parameters };
  const { folder = 'inbox', ...rest } = parameters;
  return { path: `/api/folders/${encodeURIComponent(String(folder))}/emails`, query: rest };
}
