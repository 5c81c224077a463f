// Tests the cache of the page with which it opens without a network: when its document comes from the node, and which versions are kept.
import { Page } from '../../../src/gateways/http/page/page.js';
import { isOfPage, PageCache } from '../../../web/worker/page-cache.js';
import test from '../../support/test.js';

const NONCE = 'b2xkIG5vbmNlIG9sZCBub25jZQ==';
const html = (version: string) =>
  `<link rel="stylesheet" nonce="${NONCE}" href="/assets/${version}.css"><script type="module" src="/assets/${version}.js"></script>`;
const documentOf = (version: string, status = 200) =>
  new Response(html(version), {
    status,
    headers: {
      'Content-Security-Policy': `script-src 'self'; style-src 'self' 'nonce-${NONCE}'`,
      'Content-Encoding': 'br',
      'X-Content-Type-Options': 'nosniff',
    },
  });

/** A browser's caches, by name, and a node that serves the version `served`. */
class World {
  readonly caches = new Map<string, Map<string, Response>>();
  served = 'one';
  patienceMs = 60_000;

  cache(version: string): PageCache {
    const stores = {
      open: async (name: string) => {
        const store = this.caches.get(name) ?? new Map<string, Response>();
        this.caches.set(name, store);
        return {
          addAll: async (paths: string[]) => {
            if (!paths.every((path) => path.includes(this.served))) throw new TypeError('404');
            for (const path of paths) store.set(path, new Response(path));
          },
          put: async (path: string, response: Response) => void store.set(path, response),
          match: async (path: string) => store.get(path)?.clone(),
        };
      },
      keys: async () => [...this.caches.keys()],
      match: async (path: string) => {
        for (const store of this.caches.values()) if (store.has(path)) return store.get(path)!.clone();
        return undefined;
      },
      delete: async (name: string) => this.caches.delete(name),
    };
    const fetch = async () => documentOf(this.served);
    const files = [`/assets/${version}.css`, `/assets/${version}.js`, `/assets/${version}-late.js`];
    return new PageCache({ name: version, files }, { stores, fetch, patienceMs: this.patienceMs });
  }
}

const silence = () => Promise.reject<Response>(new TypeError('no network'));

test('the page opens from the cache when the node does not answer, has a fault, or takes too long', async (t) => {
  const world = new World();
  world.patienceMs = 1;
  const cache = world.cache('one');
  await cache.fill();
  for (const asked of [
    silence(),
    Promise.resolve(new Response('', { status: 502 })),
    new Promise<Response>(() => {}),
  ]) {
    const opened = await cache.document(asked);
    t.is(opened.status, 200);
    t.true((await opened.text()).includes('/assets/one.js'));
  }
  t.is(await (await cache.file('/assets/one-late.js'))!.text(), '/assets/one-late.js');
  t.is(await cache.file('/assets/other.js'), undefined);
});

test('the node is asked first, and has the last word on what is not of the page', async (t) => {
  const world = new World();
  const cache = world.cache('one');
  await cache.fill();
  t.is(await (await cache.document(Promise.resolve(documentOf('two')))).text(), html('two'));
  t.is((await cache.document(Promise.resolve(new Response('', { status: 404 })))).status, 404);
});

test('without a cache the answer is that of the network', async (t) => {
  const cache = new World().cache('one');
  await t.throwsAsync(cache.document(silence()), { message: 'no network' });
  t.is((await cache.document(Promise.resolve(new Response('', { status: 503 })))).status, 503);
});

test('a document from the cache has a nonce of its own each time, in its policy and in its text', async (t) => {
  const cache = new World().cache('one');
  await cache.fill();
  const nonces = new Set([NONCE]);
  for (let i = 0; i < 3; i++) {
    const opened = await cache.document(silence());
    const { headers } = opened;
    const nonce = /'nonce-([A-Za-z0-9+/]{22}==)'$/.exec(headers.get('content-security-policy')!)![1]!;
    t.is(await opened.text(), html('one').replace(NONCE, nonce));
    t.is(headers.get('content-encoding'), null);
    t.is(headers.get('x-content-type-options'), 'nosniff');
    nonces.add(nonce);
  }
  t.is(nonces.size, 4);
});

test('a version is kept as a whole or not at all', async (t) => {
  const world = new World();
  world.served = 'two';
  await t.throwsAsync(world.cache('one').fill(), { message: /another version/ });
  t.is(world.caches.size, 0);
  await world.cache('two').fill();
  t.is(world.caches.size, 1);
});

test('open windows find the files of the last versions; without windows only the newest one stays', async (t) => {
  const world = new World();
  const versions = ['one', 'two', 'three', 'four'];
  for (const version of versions) {
    world.served = version;
    await world.cache(version).fill();
  }
  world.caches.set('of somebody else', new Map());
  const newest = world.cache('four');
  await newest.deleteEarlier(true);
  t.is(await newest.file('/assets/one.js'), undefined);
  t.truthy(await newest.file('/assets/two-late.js'));
  await newest.deleteEarlier(false);
  t.deepEqual([...world.caches.keys()], ['mansio-page-four', 'of somebody else']);
});

test('the worker and the node agree on the paths of the page', (t) => {
  const page = new Page({ index: '', files: new Map() });
  for (const path of [
    ...['/', '/inbox', '/search', '/linked', '/mailbox', '/apis', '/settings/keys'],
    ...['/api', '/api/docs', '/hubs/email', '/link/x', '/verify', '/.well-known/x', '/mail/x', '/autodiscover/x'],
    ...['/config', '/config.json', '/config/mail', '/healthz', '/healthz/live', '/API/emails'],
  ])
    t.is(isOfPage(path), page.owns(path), path);
});
