// The queries of lists, for the hub and for REST: which path a list has, and when two queries are one list.
import type { ListQuery } from '../client-types.js';

type Parameters = Readonly<Record<string, unknown>>;

/** Parameters that make a query a search. */
const SEARCHES = [
  'q',
  'from',
  'to',
  'cc',
  'subject',
  'fromDate',
  'toDate',
  'hasAttachments',
  'keyword',
  'minSizeBytes',
  'label',
  'anywhere',
] as const;

/** The parameters that are there, in one order, so that equal queries have equal text. */
export function parametersOf(query: ListQuery): Parameters {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function keyOf(query: ListQuery): string {
  return JSON.stringify(parametersOf(query));
}

export function isSearch(query: ListQuery): boolean {
  return SEARCHES.some((name) => query[name] !== undefined);
}

/** The folder of a list: an id or a role. Undefined for threads, and for searches of everything. */
export function folderOf(query: ListQuery): string | undefined {
  return query.folder ?? (query.threadId === undefined && !isSearch(query) ? 'inbox' : undefined);
}

/** True when the list has all emails of its folder, each or in threads. */
export function isWholeFolder(query: ListQuery): boolean {
  const { folder, sort, groupByThread, ...others } = parametersOf(query);
  return Object.keys(others).length === 0;
}

/** The path and parameters of the list over REST. Undefined for threads, of which REST has no list items. */
export function restPathOf(query: ListQuery): { readonly path: string; readonly query: Parameters } | undefined {
  if (query.threadId !== undefined) return undefined;
  const parameters = parametersOf(query);
  if (isSearch(query)) return { path: '/api/emails/search', query: parameters };
  const { folder = 'inbox', ...rest } = parameters;
  return { path: `/api/folders/${encodeURIComponent(String(folder))}/emails`, query: rest };
}
