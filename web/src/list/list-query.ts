// Which list of the client a route shows, with the reader's order and filter.
import type { EmailSort, ListQuery, Preferences } from '../../../src/client/index.js';
import type { ListRoute } from '../app/route.js';
import { parseSearch, type Searchable } from './search-query.js';

export type ListFilter = 'all' | 'unread' | 'flagged';

export interface ListChoice {
  readonly sort: EmailSort;
  readonly filter: ListFilter;
  /** A row per thread, in lists that can have one. */
  readonly areThreads: boolean;
}

export function listQueryOf(
  route: ListRoute,
  { sort, filter, areThreads }: ListChoice,
  folders: readonly Searchable[],
): ListQuery {
  const filtered: ListQuery = {
    ...(filter === 'unread' && { isRead: false }),
    ...(filter === 'flagged' && { isFlagged: true }),
  };
  const grouped: ListQuery = areThreads && /^-?date$/.test(sort) ? { groupByThread: true } : {};
  switch (route.view) {
    case 'search':
      return { ...parseSearch(route.q, folders).query, ...filtered };
    case 'place':
      // What is flagged is found in all folders but trash and junk, newest first.
      if (route.place === 'flagged') return { q: '', ...filtered, isFlagged: true };
      // Each draft is opened by itself.
      if (route.place === 'drafts') return { folder: route.place, sort, ...filtered };
      return { folder: route.place, sort, ...grouped, ...filtered };
    default:
      return { folder: route.id, sort, ...grouped, ...filtered };
  }
}

/** The order that a preference stands for; the newest first without one. */
export function orderOf(preference: Preferences['defaultSort'] = 'date'): EmailSort {
  return ({ date: '-date', sender: 'from', subject: 'subject' } as const)[preference];
}

/** Searches have one order. */
export function isSortable(route: ListRoute): boolean {
  return route.view !== 'search' && !(route.view === 'place' && route.place === 'flagged');
}
