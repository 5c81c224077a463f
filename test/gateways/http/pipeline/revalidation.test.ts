// Tests revalidation: a reply that the client has is neither sent nor read again, and HEAD answers like GET.
import test from '../../../support/test.js';
import { ALICE } from '../fakes.js';
import { type Gateway, startGateway } from '../gateway.js';
import { addMail } from '../mail-fixture.js';
import type { Document } from '../schema-check.js';

const ID = '018f0000-0000-7000-8000-000000000001';

async function withMail(gateway: Gateway): Promise<readonly string[]> {
  addMail(gateway.mailboxes, gateway.blobs, ALICE, {
    id: ID,
    attachments: ['one', 'two'].map((text) => ({
      fileName: `${text}.txt`,
      contentType: 'text/plain',
      content: Buffer.from(text),
    })),
  });
  const email: Document = await (await gateway.fetch(`/api/emails/${ID}`)).json();
  return [
    `/api/emails/${ID}/export/eml`,
    ...email.attachments.map(({ id }: Document) => `/api/emails/${ID}/attachments/${id}`),
  ];
}

test('attachments and messages are revalidated without being read', async (t) => {
  const gateway = await startGateway(t);
  const paths = await withMail(gateway);
  t.is(paths.length, 3);
  const tags = new Set<string>();
  for (const path of paths) {
    const full = await gateway.fetch(path);
    t.is(full.status, 200);
    t.is(full.headers.get('cache-control'), 'private, no-cache');
    const tag = full.headers.get('etag') ?? '';
    t.regex(tag, /^"[\w.-]+"$/);
    tags.add(tag);
    const length = String((await full.arrayBuffer()).byteLength);
    const head = await gateway.fetch(path, { method: 'HEAD' });
    t.is(head.headers.get('content-length'), length);
    t.is(head.headers.get('etag'), tag);
    const { pulled } = gateway.blobs;
    for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const same = await gateway.fetch(path, { method, headers: { 'if-none-match': condition } });
        t.is(same.status, 304, condition);
        t.is(same.headers.get('etag'), tag);
        t.is(same.headers.get('cache-control'), 'private, no-cache');
        t.false(same.headers.has('content-type'));
        t.is(await same.text(), '');
      }
    }
    t.is(gateway.blobs.pulled, pulled);
    for (const condition of ['"other"', tag.slice(1, -1), '']) {
      const again = await gateway.fetch(path, { headers: { 'if-none-match': condition } });
      t.is(again.status, 200, condition);
      await again.arrayBuffer();
    }
    t.is((await gateway.fetch(path, { headers: { 'if-none-match': tag }, key: null })).status, 401);
  }
  t.is(tags.size, 3);
  await gateway.fetch(`/api/emails/${ID}`, { method: 'DELETE' });
  const gone = await gateway.fetch(paths[0]!, { headers: { 'if-none-match': '*' } });
  t.is(gone.status, 404, 'deleted mail is gone, whoever kept a copy');
});

test('the connection serves on behind a 304', async (t) => {
  const gateway = await startGateway(t);
  const [path] = await withMail(gateway);
  for (let i = 0; i < 20; i++) {
    t.is((await gateway.fetch(path!, { headers: { 'if-none-match': '*' } })).status, 304);
    t.is((await gateway.fetch('/api/emails')).status, 200);
  }
});

test('the OpenAPI document has a tag', async (t) => {
  const gateway = await startGateway(t);
  const first = await gateway.fetch('/api/openapi.json', { key: null });
  const tag = first.headers.get('etag') ?? '';
  const second = await gateway.fetch('/api/openapi.json', { key: null, headers: { 'if-none-match': tag } });
  t.is(second.status, 304);
});

test('HEAD is there wherever GET is, with the length of its content', async (t) => {
  const gateway = await startGateway(t);
  await withMail(gateway);
  for (const { path, method } of gateway.routes) {
    if (method !== 'GET' || path === '/healthz') continue;
    const url = path.replace('{id}', ID).replace(/\{\w+\}/g, ID);
    const [get, head] = [await gateway.fetch(url), await gateway.fetch(url, { method: 'HEAD' })];
    t.is(head.status, get.status, path);
    t.is((await head.arrayBuffer()).byteLength, 0, path);
    const isEndless = get.headers.get('content-type') === 'text/event-stream';
    const content = isEndless ? await get.body!.cancel() : await get.arrayBuffer();
    if (content !== undefined && get.headers.has('content-length'))
      t.is(head.headers.get('content-length'), String(content.byteLength), path);
    for (const [name, value] of get.headers)
      if (!/^(x-request-id|date|connection|keep-alive|transfer-encoding)$/.test(name))
        t.is(head.headers.get(name), value, `${path} ${name}`);
  }
});
