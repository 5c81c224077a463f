// Tests the verification of an address elsewhere on a whole node: the mail arrives there, its link confirms, and the account may not send as
// the address.
import { port, storeOf } from '../../../dev/node-accounts.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';
import { world } from './outbound-remotes.js';

test('an address elsewhere is verified by the link that is mailed to it', async (t) => {
  const { node, client, messagesAt } = await world(
    t,
    { 'far.test': [{}] },
    { MANSIO_PUBLIC_URL: 'https://mail.example.test/m/' },
  );
  const http = `http://127.0.0.1:${port(node, 'http')}`;
  const asked = await client.request('POST', '/api/profile/addresses', { address: 'ann@far.test' });
  t.is(asked.status, 201, await asked.clone().text());
  const { id } = (await asked.json()) as { id: string };
  const again = await client.request('POST', `/api/addresses/${id}/verification`);
  t.is(again.status, 429);
  t.true(Number(again.headers.get('retry-after')) > 3_500);

  await eventually('the mail', () => messagesAt('far.test').length === 1);
  const [mail] = messagesAt('far.test');
  t.is(mail!.sender, '');
  t.deepEqual(mail!.recipients, ['ann@far.test']);
  const token = /^https:\/\/mail\.example\.test\/m(\/verify\?token=[\w-]{43})\r$/m.exec(mail!.text)?.[1];
  t.truthy(token, mail!.text);
  t.is((await client.get<{ totalCount: number }>('/api/emails/sent')).totalCount, 0, 'it is no mail of the account');

  const verified = async () =>
    (await client.get<{ additionalAddresses: object[] }>('/api/profile')).additionalAddresses[0] ?? {};
  const page = await fetch(http + token);
  t.regex(await page.text(), /ann@example\.test\) asks/);
  t.like(await verified(), { isVerified: false });
  t.is((await fetch(http + token, { method: 'POST' })).status, 200);
  t.like(await verified(), { id, isVerified: true, canSend: false });
  t.is((await fetch(http + token, { method: 'POST' })).status, 410);
  const send = await client.request('POST', '/api/outbound/send', {
    fromAddress: 'ann@far.test',
    subject: 'x',
    textBody: 'x',
    recipients: [{ address: 'bob@example.test', type: 'To' }],
  });
  t.is(send.status, 400);

  // A link is good for 48 hours; another mail has another link.
  const other = await client.request('POST', '/api/profile/addresses', { address: 'other@far.test' });
  const { id: otherId } = (await other.json()) as { id: string };
  const linkOf = async (n: number) => {
    await eventually('the next mail', () => messagesAt('far.test').length === n);
    return http + /(\/verify\?token=[\w-]{43})\r$/m.exec(messagesAt('far.test')[n - 1]!.text)![1];
  };
  const late = await linkOf(2);
  const sql = await storeOf(node);
  const sentBefore = (age: string) =>
    sql`update addresses set verification_sent_at = now() - ${age}::interval where id = ${otherId}`;
  await sentBefore('47 hours 59 minutes');
  t.is((await fetch(late)).status, 200);
  await sentBefore('48 hours');
  t.is((await fetch(late)).status, 410);
  t.is((await fetch(late, { method: 'POST' })).status, 410);
  await sql`update verification_mails set sent_at = sent_at - interval '1 hour'`;
  await sql.end();
  t.is((await client.request('POST', `/api/addresses/${otherId}/verification`)).status, 202);
  const renewed = await linkOf(3);
  t.is((await fetch(late, { method: 'POST' })).status, 410);
  t.is((await fetch(renewed, { method: 'POST' })).status, 200);
});
