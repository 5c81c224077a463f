// Tests drafts on a whole node: what a mail program puts into Drafts is a draft, and sending or deleting removes both. Hub clients hear
// of drafts whoever creates them.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';

interface Draft {
  readonly id: string;
  readonly subject: string;
  readonly textBody: string;
  readonly recipients: readonly { readonly address: string; readonly type: string; readonly displayName?: string }[];
  readonly attachments: readonly { readonly id: string; readonly fileName: string; readonly size: number }[];
}

interface Folder {
  readonly id: string;
  readonly role: string;
  readonly total: number;
}

async function world(t: ExecutionContext) {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_HOSTNAME: 'mail.example.test' });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const zoe = await createAccount(sql, 'zoe@example.test');
  const bob = await createAccount(sql, 'bob@example.test');
  await sql.end();
  const client = new MailboxClient(node, zoe.key);
  const folder = async (role: string) => {
    const folders = await client.get<Folder[]>('/api/folders');
    return folders.find((one) => one.role === role)!;
  };
  const inDrafts = async () => {
    const { items } = await client.get<EmailList>(`/api/folders/${(await folder('drafts')).id}/emails`);
    return items;
  };
  const drafts = async () => (await client.get<{ items: Draft[] }>('/api/outbound/drafts')).items;
  const ok = async (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => {
    const response = await client.request(method, path, body, undefined, headers);
    t.true(response.ok, `${method} ${path} ${response.status} ${await response.clone().text()}`);
    return response;
  };
  return { node, zoe, bob, client, folder, inDrafts, drafts, ok };
}

/** Delivers a message, as a mail program composes it, to the inbox, from where it can be moved. */
async function deliver(node: TestNode, to: string, raw: string): Promise<void> {
  const smtp = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  await smtp.sendMail({ envelope: { from: 'x@remote.test', to: [to] }, raw });
  smtp.close();
  await placed(node);
}

const WRITTEN = [
  'From: =?utf-8?Q?Zo=C3=AB_=F0=9F=92=8C?= <zoe@example.test>',
  'To: =?utf-8?Q?Bob_=F0=9F=92=8C?= <bob@example.test>',
  'Subject: =?utf-8?Q?Zo=C3=AB_=F0=9F=92=8C?=',
  'Message-ID: <draft@program.test>',
  'In-Reply-To: <parent@remote.test>',
  'References: <parent@remote.test>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('Written elsewhere by Zoë 💌').toString('base64'),
  '--b',
  'Content-Type: application/pdf',
  'Content-Disposition: attachment; filename=plan.pdf',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('%PDF plan').toString('base64'),
  '--b--',
  '',
].join('\r\n');

test('what comes into Drafts otherwise is a draft: shown, changed, sent, with its files and in its thread', async (t) => {
  const { node, zoe, bob, client, folder, inDrafts, drafts, ok } = await world(t);
  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email?changes=true`, { accessTokenFactory: () => zoe.key })
    .configureLogging(LogLevel.None)
    .build();
  const heard: string[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  for (const name of ['DraftCreated', 'DraftUpdated', 'DraftDeleted']) {
    hub.on(name, ({ id }: { id: string }) => void heard.push(`${name} ${id}`));
  }
  hub.on('LabelCreated', () => end());
  await startHub(hub);
  t.teardown(() => hub.stop());

  await deliver(node, zoe.email, WRITTEN);
  const [email] = await client.inbox();
  const draftsId = (await folder('drafts')).id;
  const move = (folderId: string) => ok('POST', '/api/emails/bulk/move', { emailIds: [email!.id], folderId });
  await move(draftsId);
  const [listed] = await drafts();
  t.is(listed?.subject, 'Zoë 💌');
  t.is((await inDrafts())[0]?.draftId, listed!.id);
  const shown = await client.get<Draft>(`/api/outbound/drafts/${listed!.id}`);
  t.deepEqual(
    shown.recipients.map(({ type, address, displayName }) => [type, address, displayName]),
    [['To', 'bob@example.test', 'Bob 💌']],
  );
  t.is(shown.textBody.trim(), 'Written elsewhere by Zoë 💌');
  t.deepEqual(
    shown.attachments.map(({ fileName, size }) => [fileName, size]),
    [['plan.pdf', 9]],
  );
  t.like(await client.get(`/api/outbound/${listed!.id}`), { status: 'Draft', subject: 'Zoë 💌', sentEmailId: null });

  // Moving the email out of Drafts and back makes another draft of it.
  await move((await folder('archive')).id);
  t.deepEqual(await drafts(), []);
  await move(draftsId);
  const [back] = await drafts();
  const sent = await ok('POST', `/api/outbound/drafts/${back!.id}/send`);
  t.like(await sent.json(), { id: back!.id, status: 'Queued' });
  t.deepEqual([await drafts(), await inDrafts()], [[], []]);
  const reader = new MailboxClient(node, bob.key);
  const [got] = await arrived(reader);
  const mail = await reader.get<Draft & { inReplyTo: string; messageId: string }>(`/api/emails/${got!.id}`);
  t.like(mail, { subject: 'Zoë 💌', inReplyTo: '<parent@remote.test>' });
  t.not(mail.messageId, '<draft@program.test>');
  t.is(mail.textBody.trim(), 'Written elsewhere by Zoë 💌');
  t.deepEqual(
    mail.attachments.map(({ fileName }) => fileName),
    ['plan.pdf'],
  );
  t.deepEqual(
    mail.recipients.map(({ type }) => type),
    ['To'],
  );

  // A change over REST keeps the files that it names.
  await deliver(node, zoe.email, WRITTEN);
  const again = (await client.inbox()).find(({ subject, isRead }) => subject === 'Zoë 💌' && !isRead)!;
  await ok('POST', '/api/emails/bulk/move', { emailIds: [again.id], folderId: draftsId });
  const [third] = await drafts();
  const { attachments } = await client.get<Draft>(`/api/outbound/drafts/${third!.id}`);
  const changed = { subject: 'Changed 💌', attachments: [{ emailId: third!.id, attachmentId: attachments[0]!.id }] };
  await ok('PUT', `/api/outbound/drafts/${third!.id}`, changed);
  t.deepEqual(
    (await inDrafts()).map(({ subject }) => subject),
    ['Changed 💌'],
  );
  const after = await client.get<Draft>(`/api/outbound/drafts/${third!.id}`);
  const file = await ok('GET', `/api/outbound/${third!.id}/attachments/${after.attachments[0]!.id}`);
  t.is(await file.text(), '%PDF plan');
  await ok('DELETE', `/api/outbound/drafts/${third!.id}`);
  t.deepEqual(await inDrafts(), []);

  await ok('POST', '/api/labels', { name: 'end', color: '#000000', sortOrder: 0 });
  await ended;
  t.deepEqual(heard, [
    `DraftCreated ${listed!.id}`,
    `DraftDeleted ${listed!.id}`,
    `DraftCreated ${back!.id}`,
    `DraftCreated ${third!.id}`,
    `DraftUpdated ${third!.id}`,
    `DraftDeleted ${third!.id}`,
  ]);
});

async function arrived(client: MailboxClient) {
  for (;;) {
    const items = await client.inbox();
    if (items.length > 0) return items;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
