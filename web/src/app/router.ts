// The route as a signal that follows the browser's address, and the other way round. Links of the page need no handler of their own.
import { signal } from '@preact/signals';
import { hrefOf, parseRoute, type Route } from './route.js';

export const route = signal<Route>(parseRoute(location));

export function go(to: Route, { replace = false }: { readonly replace?: boolean } = {}): void {
  const href = hrefOf(to);
  if (href !== location.pathname + location.search) {
    if (replace) history.replaceState(null, '', href);
    else history.pushState(null, '', href);
  }
  route.value = parseRoute(location);
}

/** Returns what stops it. */
export function startRouter(): () => void {
  const onPop = () => {
    route.value = parseRoute(location);
  };
  const onClick = (event: MouseEvent) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    const to = parseRoute(link);
    if (to.view === 'unknown') return;
    event.preventDefault();
    go(to);
  };
  addEventListener('popstate', onPop);
  document.addEventListener('click', onClick);
  return () => {
    removeEventListener('popstate', onPop);
    document.removeEventListener('click', onClick);
  };
}
