// The window on a list: pages that the hub keeps up to date, put together to the emails around a range. Pure.
import type { ListRange, ListView } from '../client-types.js';
import type { EmailListItem } from '../generated/rest.js';
import type { ListChange } from '../hub/hub-link.js';

/** Emails of a page. */
export const PAGE_SIZE = 50;
/** The most pages of a list: a connection has 20 subscriptions. */
export const MOST_PAGES = 4;
/** Emails before and after the range that are read too, so that scrolling finds them. */
const MARGIN = 20;

/** A page as the server has it. */
export interface ListPage {
  readonly items: readonly EmailListItem[];
  readonly total: number;
  readonly unread: number;
}

/** The page after changes, which the server has made in this order. */
export function changedPage(page: ListPage, changes: readonly ListChange[]): ListPage {
  const items = [...page.items];
  let { total, unread } = page;
  for (const change of changes) {
    if (change.type === 'removed') items.splice(change.index, 1);
    else if (change.type === 'inserted') items.splice(change.index, 0, change.item);
    else if (change.type === 'changed') items[change.index] = change.item;
    else if (change.type === 'counted') ({ total, unread } = change);
  }
  return { items, total, unread };
}

/** The numbers of the pages that show a range, from 0; at most `MOST_PAGES`. `total`: where it is known, none after the last one. */
export function pagesOf({ start, end }: ListRange, total = Number.POSITIVE_INFINITY): readonly number[] {
  const last = Math.max(0, Math.ceil(total / PAGE_SIZE) - 1);
  const pageAt = (position: number) => Math.min(last, Math.max(0, Math.floor(position / PAGE_SIZE)));
  // Pages of the range itself come before those of its margins.
  const own = span(pageAt(start), pageAt(Math.max(start, end - 1)));
  const all = span(pageAt(start - MARGIN), pageAt(Math.max(start, end - 1) + MARGIN));
  const chosen = [...own, ...all.filter((page) => !own.includes(page))].slice(0, MOST_PAGES);
  return chosen.sort((a, b) => a - b);
}

function span(first: number, last: number): number[] {
  return Array.from({ length: Math.min(last - first + 1, MOST_PAGES + 1) }, (_, i) => first + i);
}

/** The stretch of pages without a gap that begins in the range, or the next one. */
function stretch(pages: ReadonlyMap<number, ListPage>, wanted: readonly number[]): readonly number[] {
  const first = wanted.find((page) => pages.has(page));
  if (first === undefined) return [];
  let from = first;
  while (pages.has(from - 1)) from--;
  const found = [];
  for (let page = from; pages.has(page); page++) found.push(page);
  return found;
}

/** Undefined while no page is there. */
export function viewOf(pages: ReadonlyMap<number, ListPage>, range: ListRange): ListView | undefined {
  const newest = [...pages.values()].at(-1);
  if (newest === undefined) return undefined;
  const wanted = pagesOf(range, newest.total);
  const shown = stretch(pages, wanted);
  const { total, unread } = shown.length === 0 ? newest : pages.get(shown[0]!)!;
  const items = shown.flatMap((page) => pages.get(page)!.items);
  return {
    total,
    unread,
    start: (shown[0] ?? 0) * PAGE_SIZE,
    items: [...new Map(items.map((item) => [item.id, item])).values()],
    isLoading: wanted.some((page) => !pages.has(page)),
  };
}

/**
 * True when the pages are of one state of the list. Each page has its own changes, so for a moment an email that has moved from one page
 * to the next one is in both or in none.
 */
export function isConsistent(pages: ReadonlyMap<number, ListPage>): boolean {
  const [first] = pages.values();
  if (first === undefined) return true;
  const ids = new Set<string>();
  let count = 0;
  for (const [number, { items, total, unread }] of pages) {
    const expected = Math.min(PAGE_SIZE, Math.max(0, total - number * PAGE_SIZE));
    if (total !== first.total || unread !== first.unread || items.length !== expected) return false;
    for (const { id } of items) ids.add(id);
    count += items.length;
  }
  return ids.size === count;
}
