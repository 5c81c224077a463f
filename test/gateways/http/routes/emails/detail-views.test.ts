// Tests details and threads whose contents are cached: they show every change, and only to their account.

import { EncodedContents } from '../../../../../src/gateways/http/routes/emails/encoded-contents.js';
import test from '../../../../support/test.js';
import { ALICE } from '../../fakes.js';
import { startGateway } from '../../gateway.js';
import { addMail } from '../../mail-fixture.js';
import type { Document } from '../../schema-check.js';

const ID = '018f0000-0000-7000-8000-000000000001';

test('a detail and a thread are read once, and show each change', async (t) => {
  const gateway = await startGateway(t);
  addMail(gateway.mailboxes, gateway.blobs, ALICE, { id: ID, subject: 'one', text: 'the words' });
  // A search waits until the email is indexed, which also reads the message.
  t.like(await (await gateway.fetch('/api/emails/search?q=words')).json(), { totalCount: 1 });
  let reads = 0;
  const { index } = gateway.blobs;
  gateway.blobs.index = (hash) => {
    reads++;
    return index.call(gateway.blobs, hash);
  };
  const detail = async () => (await (await gateway.fetch(`/api/emails/${ID}`)).json()) as Document;
  const first = await detail();
  t.like(first, { subject: 'one', textBody: 'the words', isRead: false });
  t.is(reads, 1);
  t.deepEqual(await detail(), first);
  const threadPath = `/api/emails/threads/${String(first['threadId'])}`;
  t.deepEqual(await (await gateway.fetch(threadPath)).json(), [first]);
  t.is(reads, 1);
  const marks = { method: 'PATCH', body: JSON.stringify({ isRead: true, isFlagged: true }) };
  const headers = { 'content-type': 'application/json' };
  t.is((await gateway.fetch(`/api/emails/${ID}`, { ...marks, headers })).status, 204);
  t.deepEqual(await detail(), { ...first, isRead: true, isFlagged: true });
  t.deepEqual(await (await gateway.fetch(threadPath)).json(), [{ ...first, isRead: true, isFlagged: true }]);
  t.is(reads, 1);
  t.is((await gateway.fetch(`/api/emails/${ID}`, { method: 'DELETE' })).status, 204);
  t.is((await gateway.fetch(`/api/emails/${ID}`)).status, 404);
  t.is((await gateway.fetch(threadPath)).status, 404);
});

const content = (octets: number) => ({ text: 'x'.repeat(octets), characters: octets });

test('contents are those of an account and a message; large ones are not kept', (t) => {
  const contents = new EncodedContents();
  const email = { id: 'a', blob: 'b' };
  contents.keep('one', email, content(10));
  t.truthy(contents.of('one', email));
  t.is(contents.of('other', email), undefined);
  t.is(contents.of('one', { ...email, blob: 'c' }), undefined);
  t.is(contents.of('one', { ...email, id: 'c' }), undefined);
  contents.keep('one', { id: 'large', blob: 'b' }, content(100_000));
  t.is(contents.of('one', { id: 'large', blob: 'b' }), undefined);
});

test('an account has its share, and all accounts together their bound', (t) => {
  const contents = new EncodedContents(8_000_000);
  const fill = (account: string) => {
    for (let i = 0; i < 100; i++) contents.keep(account, { id: `${i}`, blob: 'b' }, content(60_000));
  };
  for (const account of ['a', 'b', 'c', 'd', 'e']) fill(account);
  t.true(contents.octets <= 8_000_000);
  t.is(contents.of('a', { id: '99', blob: 'b' }), undefined, 'used least recently');
  t.truthy(contents.of('e', { id: '99', blob: 'b' }));
  t.is(contents.of('e', { id: '0', blob: 'b' }), undefined, 'beyond the share');
  contents.keep('a', { id: '0', blob: 'b' }, content(10));
  t.truthy(contents.of('a', { id: '0', blob: 'b' }));
});
