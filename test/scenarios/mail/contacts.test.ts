// Tests contacts on a whole node: who was written to over REST, blind copies too, is offered at once.
import { createAccount, storeOf } from '../../../dev/node-accounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

test('people whom a sent email names, and those it does not name, are contacts', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const ann = await createAccount(sql, 'ann@example.test');
  const other = await createAccount(sql, 'other@example.test');
  await sql.end();
  const client = new MailboxClient(node, ann.key);
  const contacts = (q: string) => client.get<{ address: string }[]>(`/api/contacts?q=${encodeURIComponent(q)}`);
  t.deepEqual(await contacts(''), []);
  const sent = await client.request('POST', '/api/outbound/send', {
    fromAddress: ann.email,
    subject: 'Hello',
    textBody: 'x',
    recipients: [
      { address: 'bob@example.test', displayName: 'Bób Builder', type: 'To' },
      { address: 'cleo@example.test', type: 'Cc' },
      { address: 'dora@example.test', displayName: 'Dora', type: 'Bcc' },
    ],
  });
  t.is(sent.status, 200, await sent.clone().text());
  t.deepEqual(await contacts('BOB BUI'), [{ address: 'bob@example.test', displayName: 'Bób Builder' }] as never);
  t.deepEqual(await contacts('dor'), [{ address: 'dora@example.test', displayName: 'Dora' }] as never);
  t.is((await contacts('example')).length, 3);
  t.deepEqual(await new MailboxClient(node, other.key).get('/api/contacts'), []);
});
