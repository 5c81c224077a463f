// Tests the bytes that routes of emails serve: attachments, messages, exports.
import test from '../../../../support/test.js';
import { turn } from '../../../../support/turns.js';
import { BASES, fill, PDF, READ_ID } from '../../cases/endpoint-case.js';
import { ALICE } from '../../fakes.js';
import { startGateway } from '../../gateway.js';
import { addMail } from '../../mail-fixture.js';
import type { Document } from '../../schema-check.js';

const LARGE_ID = '018f0000-0000-7000-8000-0000000000ab';

test('attachments are decoded, inert and safe to name', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  const detail: Document = await (await gateway.fetch(`/api/emails/${READ_ID}`)).json();
  const again: Document = await (await gateway.fetch(`/api/external/emails/${READ_ID}`)).json();
  t.deepEqual(detail, again);
  const get = (i: number, init?: RequestInit) =>
    gateway.fetch(`/api/emails/${READ_ID}/attachments/${detail.attachments[i].id}`, init);
  const first = await get(0);
  t.is(first.status, 200);
  t.is(first.headers.get('content-type'), 'application/pdf');
  t.is(first.headers.get('content-length'), String(PDF.length));
  t.is(
    first.headers.get('content-disposition'),
    `attachment; filename="r_sum_ _1_.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%221%22.pdf`,
  );
  t.is(first.headers.get('content-security-policy'), "sandbox; default-src 'none'");
  t.is(first.headers.get('x-content-type-options'), 'nosniff');
  t.is(first.headers.get('cache-control'), 'private, no-cache');
  t.deepEqual(Buffer.from(await first.arrayBuffer()), PDF);
  const hostile = await get(1);
  t.is(hostile.headers.get('content-type'), 'application/octet-stream');
  t.is(await hostile.text(), 'hi');
  const empty = await get(2);
  t.is(empty.headers.get('content-length'), '0');
  t.is((await empty.arrayBuffer()).byteLength, 0);
  const head = await get(0, { method: 'HEAD' });
  t.is(head.headers.get('content-length'), String(PDF.length));
  t.is((await head.arrayBuffer()).byteLength, 0);
  // A reply whose size is wrong must not look complete.
  await t.throwsAsync(async () => (await get(3)).arrayBuffer());
  await t.throwsAsync(async () => (await get(4)).arrayBuffer());
  t.is(gateway.log.lines.filter(({ text }) => text === 'reply broken off').length, 2);
});

test('an attachment is no script and no style sheet of a page of this origin, and no document of it', async (t) => {
  const gateway = await startGateway(t);
  const types = {
    'text/javascript': 'application/octet-stream',
    'Application/X-JavaScript': 'application/octet-stream',
    'text/ecmascript': 'application/octet-stream',
    'text/javascript1.5': 'application/octet-stream',
    'text/css': 'application/octet-stream',
    'text/html': 'text/html',
    'image/svg+xml': 'image/svg+xml',
    'application/json': 'application/json',
  };
  const session = `mansio=${gateway.directory.session(ALICE)}`;
  addMail(gateway.mailboxes, gateway.blobs, ALICE, {
    id: LARGE_ID,
    attachments: Object.keys(types).map((contentType, i) => ({
      fileName: `file${i}`,
      contentType,
      content: Buffer.from('alert(1)'),
    })),
  });
  const { attachments }: Document = await (await gateway.fetch(`/api/emails/${LARGE_ID}`)).json();
  t.is(attachments.length, Object.keys(types).length);
  for (const { id, contentType } of attachments) {
    const path = `/api/emails/${LARGE_ID}/attachments/${id}`;
    const { headers } = await gateway.fetch(path, { key: null, headers: { Cookie: session } });
    const expected = Object.entries(types).find(([type]) => type.toLowerCase() === contentType.toLowerCase());
    t.is(headers.get('content-type'), expected![1], contentType);
    t.is(headers.get('x-content-type-options'), 'nosniff');
    t.true(headers.get('content-disposition')!.startsWith('attachment'));
    t.is(headers.get('content-security-policy'), "sandbox; default-src 'none'");
    t.is(headers.get('vary'), 'Authorization');
    const byProgram = await gateway.fetch(path);
    t.is(byProgram.headers.get('content-type'), contentType, 'a page refers to nothing with an Authorization field');
  }
});

test('the exported message is the message', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  const response = await gateway.fetch(`/api/emails/${READ_ID}/export/eml`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const email = gateway.mailboxes.account(ALICE).emails.get(READ_ID)!;
  t.is(response.headers.get('content-length'), String(email.size));
  t.deepEqual(bytes, Buffer.from(gateway.blobs.blobs.get(email.blob)!.bytes));
});

test('an export within the interval is refused with the time to wait, a truncated one says so', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  gateway.exports.waitSeconds = 7;
  for (const base of BASES) {
    const response = await gateway.fetch(`${base}/export/mbox`);
    t.is(response.status, 429);
    t.is(response.headers.get('retry-after'), '7');
    t.is((await gateway.fetch(`${base}/export/mbox`, { method: 'HEAD' })).status, 200, 'HEAD is no export');
  }
  gateway.exports.waitSeconds = 0;
  gateway.mailboxes.hook('exportCount', () => ({ reply: { count: 50_001 } }));
  const response = await gateway.fetch('/api/emails/export/mbox');
  t.is(response.headers.get('x-export-truncated'), 'true');
  const text = await response.text();
  t.is(text.match(/^From sender@remote\.test Fri Jan {2}2 03:04:05 2026\n/gm)?.length, 2);
  t.false(text.includes('\r'));
});

test('a search that is too large for the mailbox says what to do', async (t) => {
  const gateway = await startGateway(t);
  gateway.mailboxes.hook('search', () => ({ refusal: 'searchTooLarge' }));
  for (const base of BASES) {
    const response = await gateway.fetch(`${base}/search?q=%22zo%C3%AB%20%F0%9F%92%8C%22`);
    t.is(response.status, 400);
    t.like(await response.json(), {
      errors: { q: ['has words of too many emails for a search; use words that fewer have'] },
    });
  }
});

test('an export that its client leaves, or that breaks off, gives its turn back; one that is read does not', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  const response = await gateway.fetch('/api/emails/export/mbox');
  await response.text();
  await gateway.fetch('/api/emails/export/mbox', { method: 'HEAD' });
  t.is(gateway.exports.givenBack, 0);
  addMail(gateway.mailboxes, gateway.blobs, ALICE, { id: LARGE_ID, text: 'x\r\n'.repeat(10_000_000) });
  const leaving = new AbortController();
  const left = await gateway.fetch('/api/emails/export/mbox', { signal: leaving.signal });
  t.is(left.status, 200);
  const ended = new Promise<void>((resolve) => {
    gateway.blobs.onEnd = resolve;
  });
  leaving.abort();
  await ended;
  while (gateway.exports.givenBack === 0) await turn();
  gateway.blobs.failAfter = 256 * 1024;
  const broken = await gateway.fetch('/api/emails/export/mbox');
  await t.throwsAsync(broken.arrayBuffer());
  while (gateway.exports.givenBack === 1) await turn();
  t.pass();
});
