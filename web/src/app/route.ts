// The addresses of the page: which folder, message, search, draft or setting a URL names. `router.ts` keeps the browser's address in step.
import { percentDecoded } from './percent-decoding.js';

/** Folders with an address of their own; `flagged` is a search, the others are roles of folders. */
export const PLACES = ['inbox', 'flagged', 'drafts', 'sent', 'archive', 'junk', 'trash'] as const;
export type Place = (typeof PLACES)[number];

export type Route =
  | { readonly view: 'place'; readonly place: Place; readonly emailId?: string }
  /** A folder or label of the user. */
  | { readonly view: 'folder' | 'label'; readonly id: string; readonly emailId?: string }
  | { readonly view: 'search'; readonly q: string; readonly emailId?: string }
  | { readonly view: 'compose'; readonly draftId: string }
  /** A new email with what a `mailto:` link says. */
  | { readonly view: 'mailto'; readonly link: string }
  | { readonly view: 'settings'; readonly section: string }
  | { readonly view: 'unknown' };

/** Routes whose view is a list. */
export type ListRoute = Extract<Route, { readonly emailId?: string }>;

export function parseRoute(url: { readonly pathname: string; readonly search: string }): Route {
  const [first = '', second, third, ...rest] = url.pathname.split('/').slice(1).map(percentDecoded);
  if (rest.length > 0) return { view: 'unknown' };
  const opened = (emailId: string | undefined) => (emailId ? { emailId } : {});
  // Notifications name emails by /emails/ID.
  if (first === '' || first === 'emails') return { view: 'place', place: 'inbox', ...opened(second) };
  const place = PLACES.find((one) => one === first);
  if (place !== undefined && third === undefined) return { view: 'place', place, ...opened(second) };
  if ((first === 'folder' || first === 'label') && second) return { view: first, id: second, ...opened(third) };
  if (first === 'search' && third === undefined)
    return { view: 'search', q: new URLSearchParams(url.search).get('q') ?? '', ...opened(second) };
  if (first === 'compose' && second && third === undefined) return { view: 'compose', draftId: second };
  const link = new URLSearchParams(url.search).get('mailto');
  if (first === 'compose' && !second && link !== null) return { view: 'mailto', link };
  if (first === 'settings' && third === undefined) return { view: 'settings', section: second ?? '' };
  return { view: 'unknown' };
}

export function hrefOf(route: Route): string {
  switch (route.view) {
    case 'place':
      return path(route.place, route.emailId);
    case 'folder':
    case 'label':
      return path(route.view, route.id, route.emailId);
    case 'search':
      return `${path('search', route.emailId)}?q=${encodeURIComponent(route.q)}`;
    case 'compose':
      return path('compose', route.draftId);
    case 'mailto':
      return `/compose?mailto=${encodeURIComponent(route.link)}`;
    case 'settings':
      return path('settings', route.section || undefined);
    case 'unknown':
      return '/inbox';
  }
}

export function isListRoute(route: Route): route is ListRoute {
  return route.view === 'place' || route.view === 'folder' || route.view === 'label' || route.view === 'search';
}

/** The same list, with this email open or with none. */
export function withEmail(route: ListRoute, emailId: string | undefined): ListRoute {
  const { emailId: _, ...list } = route;
  return emailId === undefined ? list : { ...list, emailId };
}

function path(...parts: readonly (string | undefined)[]): string {
  return `/${parts
    .filter((part) => part !== undefined)
    .map(encodeURIComponent)
    .join('/')}`;
}
