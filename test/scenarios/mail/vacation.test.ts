// Tests vacation replies on a whole node, with swaks' protocol by hand and a real far side: who gets a reply, what it says, and that a sender
// gets one, also when the node is killed between mail and reply.
import { simpleParser } from 'mailparser';
import { port } from '../../../dev/node-accounts.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { world } from './outbound-remotes.js';

const message = (to: string, ...fields: readonly string[]) =>
  ['From: Ann <ann@one.test>', `To: ${to}`, 'Subject: Lunch?', 'Message-ID: <1@one.test>', ...fields, '', 'Hi'].join(
    '\r\n',
  );

test('people who write get one reply from the address they wrote to; lists and bounces get none', async (t) => {
  const { node, sender, client, messagesAt } = await world(t, { 'one.test': [{}] });
  const vacation = { isEnabled: true, textBody: 'I am away.', htmlBody: '<p>I am away.</p>', intervalDays: 3 };
  t.is((await client.request('PUT', '/api/vacation', { ...vacation, intervalDays: 31 })).status, 400);
  t.is((await client.request('PUT', '/api/vacation', { isEnabled: true })).status, 400);
  t.is((await client.request('PUT', '/api/vacation', { isEnabled: true, textBody: ' \n' })).status, 400);
  t.is((await client.request('PUT', '/api/vacation', vacation)).status, 204);
  t.like(await client.get<object>('/api/vacation'), { ...vacation, subject: null, startsAt: null, endsAt: null });
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const written = async (from: string, text: string, to = sender.email) => {
    t.is((await smtp.send(from, [to], text)).code, 250);
    // The first message of a sender is answered.
    await placed(node);
  };
  const tagged = sender.email.replace('@', '+work@');
  await written('', message(sender.email));
  await written('list-bounces@one.test', message(sender.email));
  await written('robot@one.test', message(sender.email, 'Auto-Submitted: auto-generated'));
  await written('news@one.test', message(sender.email, 'List-Id: <news.one.test>'));
  await written('hidden@one.test', message('somebody@one.test'));
  await written('ann@one.test', message(tagged), tagged);
  await written('ann@one.test', message(sender.email));
  await written('ben@one.test', message(sender.email));
  await until(() => messagesAt('one.test').length === 2);
  const [first] = [...messagesAt('one.test')].sort((a, b) => (a.recipients[0]! < b.recipients[0]! ? -1 : 1));
  t.deepEqual([first!.sender, first!.recipients], ['', ['ann@one.test']]);
  const reply = await simpleParser(first!.text);
  t.is(reply.from?.value[0]?.address, tagged);
  t.is(reply.subject, 'Auto: Lunch?');
  t.is(reply.inReplyTo, '<1@one.test>');
  t.is(reply.headers.get('auto-submitted'), 'auto-replied');
  t.is(reply.text?.trim(), 'I am away.');
  t.is(String(reply.html).trim(), '<p>I am away.</p>');

  t.is((await client.request('PUT', '/api/vacation', { ...vacation, textBody: 'Still away.' })).status, 204);
  await written('ann@one.test', message(sender.email));
  await until(() => messagesAt('one.test').length === 3);
  t.is((await simpleParser(messagesAt('one.test')[2]!.text)).text?.trim(), 'Still away.');
});
