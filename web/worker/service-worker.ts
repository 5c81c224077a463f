// The service worker of the page: it opens the page without a network (page-cache.ts). A new version takes over at once: open windows keep
// the files of theirs, and the next window is of the new one. Everything of the API goes to the node as if there were no worker.
import { DOUBT } from '../../src/client/offline/client-storage.js';
import type { OpenMessage } from '../src/app/open-message.js';
import { Entries } from '../src/offline/entries.js';
import { notificationOf, type ShownNotification } from './notifications.js';
import { isOfPage, PageCache, type PageVersion } from './page-cache.js';

/** Chromium asks the node itself for what a rule names, without starting the worker. */
interface RoutingInstallEvent extends ExtendableEvent {
  addRoutes?(
    rules: readonly { readonly condition: { readonly urlPattern: string }; readonly source: 'network' }[],
  ): Promise<void>;
}

/** Put here by the build. */
declare const PAGE_VERSION: PageVersion;
declare const self: ServiceWorkerGlobalScope;

const PATIENCE_MS = 3_000;

const page = new PageCache(PAGE_VERSION, {
  stores: caches,
  fetch: (path) => fetch(path, { headers: { Accept: 'text/html' }, cache: 'no-cache' }),
  patienceMs: PATIENCE_MS,
});

self.addEventListener('install', (event) => {
  event.waitUntil(install(event));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(activate());
});

self.addEventListener('fetch', (event) => {
  const { request, preloadResponse } = event;
  const url = new URL(request.url);
  if (request.method === 'POST' && url.pathname.startsWith('/link/')) event.waitUntil(doubt());
  if (request.method !== 'GET' || url.origin !== self.origin) return;
  if (request.mode === 'navigate') {
    if (isOfPage(url.pathname)) event.respondWith(page.document(answerOf(request, preloadResponse)));
  } else if (url.pathname.startsWith('/assets/')) {
    event.respondWith(page.file(url.pathname).then((found) => found ?? fetch(request)));
  }
});

/** Somebody signs in by a link: what the page has kept is used when the server says whose it is. */
async function doubt(): Promise<void> {
  const entry = { ...DOUBT, value: true, at: Date.now(), owner: 'worker' };
  await new Entries().put(entry, Number.POSITIVE_INFINITY).catch(() => undefined);
}

self.addEventListener('push', (event) => {
  const { title, options } = notificationOf(event.data?.text(), self.origin);
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { path } = event.notification.data as ShownNotification['options']['data'];
  event.waitUntil(open(path));
});

/** Shows a window of the page, the one in front if there are several, or a new one. */
async function open(path: string): Promise<void> {
  const all = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const windows = all.filter(({ url }) => isOfPage(new URL(url).pathname));
  const shown = windows.find(({ visibilityState }) => visibilityState === 'visible') ?? windows[0];
  if (shown === undefined) {
    await self.clients.openWindow(path);
    return;
  }
  shown.postMessage({ path } satisfies OpenMessage);
  // A browser may want another click before it brings a window to the front.
  await shown.focus().catch(() => undefined);
}

async function install(event: RoutingInstallEvent): Promise<void> {
  const rules = ['/api/*', '/hubs/*'].map((urlPattern) => ({ condition: { urlPattern }, source: 'network' as const }));
  // A browser that knows other rules does without them.
  await event.addRoutes?.(rules).catch(() => undefined);
  await page.fill();
  await self.skipWaiting();
}

async function activate(): Promise<void> {
  // The node is asked while the worker starts.
  await self.registration.navigationPreload?.enable();
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  await page.deleteEarlier(windows.length > 0);
  await self.clients.claim();
}

async function answerOf(request: Request, preloaded: Promise<Response | undefined>): Promise<Response> {
  return (await preloaded) ?? fetch(request);
}
