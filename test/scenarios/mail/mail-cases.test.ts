// Sends messages of the kinds that people receive through a whole node: what REST shows of them, and what each protocol finds.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { SmtpSender } from '../../../bench/support/smtp-load.js';
import { accountOn, port, type TestAccount } from '../../../dev/node-accounts.js';
import { type CaseName, caseMessage } from '../../mail-format/cases.js';
import { writtenTnef } from '../../mail-format/tnef/written-tnef.js';
import { startHub } from '../../support/clients/hub-start.js';
import { imapFlow } from '../../support/clients/imap-programs.js';
import { type EmailList, type EmailView, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

let node: TestNode;

test.before(async () => {
  node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
});

test.after.always(async (t) => {
  t.is((await node?.stop())?.code, 0);
});

async function deliver(to: string, ...messages: readonly Buffer[]): Promise<void> {
  const sender = await SmtpSender.open('127.0.0.1', port(node, 'mx'));
  for (const message of messages) {
    const stuffed = message.toString('latin1').replace(/^\./gm, '..');
    const data = Buffer.from(`${stuffed}\r\n.\r\n`, 'latin1');
    if (!(await sender.send('ann@remote.test', [to], data))) throw new Error('refused');
  }
  sender.close();
  await placed(node);
}

interface Shown extends EmailView {
  readonly htmlBody: string;
  readonly previewText: string;
  readonly fromAddress: string;
  readonly toAddresses: readonly string[];
}

/** Delivers a case to a new account; returns the list item with the detail. */
async function shown(user: TestAccount, name: CaseName): Promise<Shown> {
  await deliver(user.email, caseMessage(name));
  const client = new MailboxClient(node, user.key);
  const [email] = await client.inbox();
  return { ...email!, ...(await client.get<Shown>(`/api/emails/${email!.id}`)) };
}

async function foundOverImap(user: TestAccount, query: object): Promise<readonly number[]> {
  const imap = imapFlow(node, user, false);
  await imap.connect();
  await imap.mailboxOpen('INBOX');
  const found = await imap.search(query);
  await imap.logout();
  return found || [];
}

test('words that only the HTML has are found by REST, hub, IMAP and filters', async (t) => {
  const user = await accountOn(node, 'words');
  const client = new MailboxClient(node, user.key);
  const rule = { name: 'fruit', isEnabled: true, priority: 1, bodyContains: 'boysenberries', markAsRead: true };
  t.is((await client.request('POST', '/api/filters', rule)).status, 201);
  await deliver(user.email, caseMessage('html-only-words'));
  t.deepEqual(
    (await client.inbox()).map(({ subject, isRead }) => [subject, isRead]),
    [['newsletter', true]],
  );
  for (const word of ['boysenberries', 'program']) {
    t.is((await client.get<EmailList>(`/api/emails/search?q=${word}`)).totalCount, 1);
    t.deepEqual(await foundOverImap(user, { body: word }), [1]);
    t.deepEqual(await foundOverImap(user, { text: word }), [1]);
  }
  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email`, { accessTokenFactory: () => user.key })
    .configureLogging(LogLevel.None)
    .build();
  await startHub(hub);
  const { total } = await hub.invoke<{ total: number }>('Subscribe', { q: 'boysenberries' });
  t.is(total, 1);
  await hub.stop();
});

test('an alternative in an alternative', async (t) => {
  const user = await accountOn(node, 'nested');
  const { textBody, htmlBody, previewText, attachments } = await shown(user, 'nested-alternative');
  t.is(textBody.trim(), 'plain quagga');
  t.regex(htmlBody, /okapi/);
  t.is(previewText, 'plain quagga');
  t.deepEqual(
    attachments.map(({ fileName, size }) => [fileName, size]),
    [['dot.png', 8]],
  );
  const client = new MailboxClient(node, user.key);
  for (const word of ['quagga', 'okapi']) {
    t.is((await client.get<EmailList>(`/api/emails/search?q=${word}`)).totalCount, 1);
  }
});

test('a body in base64 ends at its padding', async (t) => {
  const { textBody } = await shown(await accountOn(node, 'footer'), 'footer-after-base64');
  t.is(textBody, 'Meet at noon.\n');
});

test('headers with raw octets and cut names', async (t) => {
  const user = await accountOn(node, 'headers');
  t.is((await shown(user, 'raw-octet-in-encoded-word')).subject, 'Fröhliche Grüße');
  t.is((await shown(user, 'raw-subject-in-body-charset')).subject, 'Привет из зоопарка');
  const { attachments } = await shown(user, 'name-cut-in-a-letter');
  t.true(attachments[0]!.fileName.startsWith('Картинка длинна'));
  t.deepEqual(await foundOverImap(user, { subject: 'зоопарка' }), [2]);
  t.deepEqual(await foundOverImap(user, { subject: 'Fröhliche' }), [1]);
});

test('comments within addresses', async (t) => {
  const user = await accountOn(node, 'alice');
  const { fromAddress, toAddresses } = await shown(user, 'comments-in-addresses');
  t.is(fromAddress, 'pat@silly.test');
  t.deepEqual(toAddresses, ['alice@example.test', 'jd@test.example', 'c@public.example', 'joe@example.org']);
  t.deepEqual(await foundOverImap(user, { from: 'pat@silly.test' }), [1]);
  t.deepEqual(await foundOverImap(user, { to: 'jd@test.example' }), [1]);
  const { totalCount } = await new MailboxClient(node, user.key).get<EmailList>('/api/emails/search?q=joe@example.org');
  t.is(totalCount, 1);
});

test('an invitation, and a file in uuencode', async (t) => {
  const user = await accountOn(node, 'files');
  const [invitation] = (await shown(user, 'calendar-invite')).attachments;
  t.like(invitation, { contentType: 'text/calendar', method: 'REQUEST', charset: 'utf-8' });
  const { id, attachments } = await shown(user, 'uuencode');
  t.like(attachments[0], { fileName: 'cat.txt', size: 3 });
  const client = new MailboxClient(node, user.key);
  const reply = await client.request('GET', `/api/emails/${id}/attachments/${attachments[0]!.id}`);
  t.is(await reply.text(), 'Cat');
});

test('winmail.dat: text, files, search, counts, download, forward', async (t) => {
  const user = await accountOn(node, 'tnef');
  const client = new MailboxClient(node, user.key);
  const tnef = writtenTnef({
    body: 'zebras at noon',
    files: [
      { title: 'map.txt', data: Buffer.from('turn left') },
      { title: 'list.csv', data: Buffer.from('a,b') },
    ],
  });
  const head = 'From: ann@remote.test\r\nSubject: packed\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\n';
  await deliver(
    user.email,
    Buffer.from(`${head}Content-Transfer-Encoding: base64\r\n\r\n${tnef.toString('base64')}\r\n`),
  );
  const found = await client.get<EmailList>('/api/emails/search?q=zebras&hasAttachments=true');
  const [email] = found.items as readonly (Shown & { readonly attachmentCount: number })[];
  t.like(email, { subject: 'packed', previewText: 'zebras at noon', attachmentCount: 2 });
  t.is((await client.get<EmailList>('/api/emails/search?q=map.txt')).totalCount, 1);
  const { textBody, attachments } = await client.get<Shown>(`/api/emails/${email!.id}`);
  t.is(textBody, 'zebras at noon');
  t.deepEqual(
    attachments.map(({ fileName, size }) => [fileName, size]),
    [
      ['map.txt', 9],
      ['list.csv', 3],
    ],
  );
  const downloaded = await client.request('GET', `/api/emails/${email!.id}/attachments/${attachments[0]!.id}`);
  t.deepEqual([downloaded.headers.get('content-length'), await downloaded.text()], ['9', 'turn left']);

  const to = { recipients: [{ address: user.email, type: 'To' }] };
  t.is((await client.request('POST', `/api/outbound/forward/${email!.id}`, { textBody: 'see', ...to })).status, 200);
  const one = { emailId: email!.id, attachmentId: attachments[1]!.id };
  const send = { fromAddress: user.email, subject: 'one file', textBody: 'x', attachments: [one], ...to };
  t.is((await client.request('POST', '/api/outbound/send', send)).status, 200);
  const shownFiles = async (subject: string) => {
    const email = await eventually(subject, async () =>
      (await client.inbox()).find((item) => item.subject === subject),
    );
    const { id } = email!;
    const detail = await client.get<Shown>(`/api/emails/${id}`);
    return [detail.textBody.includes('zebras'), detail.attachments.map(({ fileName, size }) => [fileName, size])];
  };
  t.deepEqual(await shownFiles('Fwd: packed'), [
    true,
    [
      ['map.txt', 9],
      ['list.csv', 3],
    ],
  ]);
  t.deepEqual(await shownFiles('one file'), [false, [['list.csv', 3]]]);
});
