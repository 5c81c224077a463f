// Tests the actions of Sieve scripts on a whole node: what other servers get when a script sends mail on, answers it, and refuses it.
import { simpleParser } from 'mailparser';
import { port, storeOf } from '../../../dev/node-accounts.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { world } from './outbound-remotes.js';

const SCRIPT = `require ["copy", "vacation", "reject", "ereject", "fileinto", "imap4flags", "editheader"];
if header :contains "subject" "on" { redirect "me@far.test"; stop; }
if header :contains "subject" "stranger" { redirect "stranger@far.test"; stop; }
if header :contains "subject" "away" {
  vacation :days 1 :mime :from "Ann at work <ann+work@example.test>" text:
Content-Type: text/html; charset=utf-8

<p>Away &mdash; grüße</p>
.
;
  fileinto :flags "\\\\Seen" "Archive"; stop;
}
if header :contains "subject" "edit" {
  deleteheader "Subject"; addheader "Subject" "[Grüße] edited"; addheader :last "X-Folder" "Archive";
  redirect :copy "me@far.test"; stop;
}
if header :contains "subject" "no" { reject "No, thanks."; stop; }
if header :contains "subject" "never" { ereject "Not ever."; stop; }
`;

test('a script sends mail on to verified addresses, answers it and refuses it', async (t) => {
  const { node, sender: ann, client, messagesAt } = await world(t, { 'far.test': [{}], 'peer.test': [{}] });
  const sql = await storeOf(node);
  await postgresDirectory(sql, 256).addAddress(ann.id, 'me@far.test', true);
  await sql.end();
  t.is((await client.request('PUT', '/api/sieve/main', { content: SCRIPT, isActive: true })).status, 204);
  const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const written = async (subject: string, from = 'pat@peer.test', fields = '') => {
    const text = `From: ${from}\r\nTo: ${ann.email}\r\nSubject: ${subject}\r\n${fields}\r\nhello`;
    t.is((await smtp.send(from, [ann.email], text)).code, 250);
    // So the order of the answers is certain.
    await placed(node);
  };
  await written('on');
  await until(() => messagesAt('far.test').length === 1);
  const [forwarded] = messagesAt('far.test');
  t.deepEqual(forwarded!.recipients, ['me@far.test']);
  t.regex(forwarded!.sender, /^SRS0=.*=peer\.test=pat@example\.test$/);
  t.regex(forwarded!.text, /^Delivered-To: ann@example\.test\r?$/m);

  await written('stranger');
  await until(async () => (await client.inbox()).length === 1);
  t.is((await client.inbox())[0]!.subject, 'stranger', 'an address that is not verified gets nothing');

  await written('away');
  await written('away again');
  await until(() => messagesAt('peer.test').length === 1);
  const away = messagesAt('peer.test')[0]!;
  t.like(away, { sender: '', recipients: ['pat@peer.test'] });
  const reply = await simpleParser(away.text);
  t.deepEqual(reply.from?.value[0], { address: 'ann+work@example.test', name: 'Ann at work' });
  t.is(reply.subject, 'Auto: away');
  t.regex(String(reply.html), /Away &mdash; grüße/);

  await written('no', 'list@peer.test', 'List-Id: <a.peer.test>\r\n');
  await written('no');
  await until(() => messagesAt('peer.test').length === 2);
  await written('never');
  await until(() => messagesAt('peer.test').length === 3);
  const [, mdn, dsn] = messagesAt('peer.test');
  t.like(mdn, { sender: '', recipients: ['pat@peer.test'] });
  t.regex(mdn!.text, /report-type=disposition-notification/);
  t.like(dsn, { sender: '', recipients: ['pat@peer.test'] });
  t.regex(dsn!.text, /^Status: 5\.7\.1\r?$/m);
  t.is((await client.inbox()).length, 1);
  t.is(messagesAt('far.test').length, 1);

  await written('edit');
  await until(() => messagesAt('far.test').length === 2);
  const sent = await simpleParser(messagesAt('far.test')[1]!.text);
  t.like(sent, { subject: '[Grüße] edited', text: 'hello\n' });
  t.is(sent.headers.get('x-folder'), 'Archive');
  await until(async () => (await client.inbox()).length === 2);
  t.is((await client.inbox())[0]!.subject, '[Grüße] edited');
});
