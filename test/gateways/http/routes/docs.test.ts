// Tests the page of the API: it needs only what this server serves, and nothing that its content security policy forbids.
import test from '../../../support/test.js';
import { startGateway } from '../gateway.js';

test('the page and what it is made of come from this server, under a strict policy', async (t) => {
  const gateway = await startGateway(t);
  const from = (await gateway.fetch('/api/docs/', { key: null })).url;
  t.is(from, `${gateway.url}/api/docs`);
  t.is((await gateway.fetch('/', { key: null })).url, from);
  const page = await gateway.fetch('/api/docs', { key: null });
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  const policy = page.headers.get('content-security-policy') ?? '';
  t.regex(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  t.notRegex(policy, /unsafe|https?:|\*/);
  const html = await page.text();
  t.notRegex(html, /<script(?![^>]* src=)|<style|style=|\son\w+=|https?:/);
  const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
  t.is(links.length, 5);
  for (const link of links) {
    const path = new URL(link, from).href.slice(gateway.url.length);
    const [first, again] = [await gateway.fetch(path, { key: null }), await gateway.fetch(path, { key: null })];
    t.is(first.status, 200, path);
    const content = Buffer.from(await first.arrayBuffer());
    t.true(content.length > 0, path);
    t.true(content.equals(Buffer.from(await again.arrayBuffer())), path);
    if (path === '/api/openapi.json') continue;
    t.is(first.headers.get('content-length'), String(content.length), path);
    t.is(first.headers.get('etag'), again.headers.get('etag'), path);
    t.regex(first.headers.get('etag') ?? '', /^"[\w-]{22}"$/, path);
    t.is(first.headers.get('cache-control'), 'public, max-age=3600', path);
  }
  const types = await Promise.all(
    ['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js', 'favicon-32x32.png'].map(async (file) =>
      (await gateway.fetch(`/api/docs/${file}`, { key: null })).headers.get('content-type'),
    ),
  );
  const script = 'text/javascript; charset=utf-8';
  t.deepEqual(types, ['text/css; charset=utf-8', script, script, 'image/png']);
});
