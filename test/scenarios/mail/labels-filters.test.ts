// Tests labels, filters and threads as users see them: rules made over REST, mail by SMTP, and what the hub reports.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { type EmailList, type ListedEmail, MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';

interface Label {
  readonly id: string;
  readonly name: string;
  readonly emailCount: number;
}

interface Threaded extends ListedEmail {
  readonly threadId: string;
  readonly labels: readonly Label[];
}

let node: TestNode;
let account: (name: string) => Promise<TestAccount>;
let close: () => Promise<void>;

test.before(async () => {
  node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  const sql = await storeOf(node);
  account = (name) => createAccount(sql, `${name}@example.test`);
  close = () => sql.end();
});

test.after.always(async (t) => {
  await close?.();
  t.is((await node?.stop())?.code, 0);
});

const send = (to: string, mail: object) =>
  createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } }).sendMail({
    from: 'Shop <news@shop.test>',
    to,
    ...mail,
  });

async function made<T>(t: ExecutionContext, client: MailboxClient, path: string, body: object): Promise<T> {
  const response = await client.request('POST', path, body);
  t.is(response.status, 201);
  return (await response.json()) as T;
}

test('filters read, label and delete mail before anybody sees it', async (t) => {
  const user = await account('filters');
  const client = new MailboxClient(node, user.key);
  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email`, { accessTokenFactory: () => user.key })
    .configureLogging(LogLevel.None)
    .build();
  const heard: [string, unknown][] = [];
  let wake = () => {};
  for (const name of ['NewEmail', 'EmailUpdated', 'EmailDeleted', 'UnreadCountChanged']) {
    hub.on(name, (payload: { subject?: string }) => {
      heard.push([name, payload.subject ?? payload]);
      if (payload.subject === 'the end') wake();
    });
  }
  await hub.start();
  const label = await made<Label>(t, client, '/api/labels', { name: 'Bills', color: '#ff0000', sortOrder: 1 });
  const rule = { isEnabled: true, priority: 1 };
  await made(t, client, '/api/filters', {
    ...rule,
    name: 'bills',
    bodyContains: 'BETRAG FÄLLIG',
    markAsRead: true,
    assignLabelId: label.id,
  });
  await made(t, client, '/api/filters', {
    ...rule,
    name: 'ads',
    fromAddressContains: 'NEWS@',
    subjectContains: 'sale',
    delete: true,
  });
  await made(t, client, '/api/filters', { ...rule, name: 'files', hasAttachments: true, assignLabelId: label.id });

  await send(user.email, { subject: 'Big SALE', text: 'buy' });
  await send(user.email, { subject: 'Invoice', html: '<p>Der <b>Betrag</b> fällig</p>' });
  await send(user.email, { subject: 'Report', text: 'see file', attachments: [{ filename: 'a.txt', content: 'a' }] });
  const end = new Promise<void>((resolve) => {
    wake = resolve;
  });
  await send(user.email, { subject: 'the end', text: 'x' });
  await end;
  await hub.stop();
  t.deepEqual(
    heard.filter(([name, payload]) => name === 'NewEmail' || payload === 0),
    ['Invoice', 'Report', 'the end'].map((subject) => ['NewEmail', subject]),
  );
  t.deepEqual(heard.slice(0, 3), [
    ['NewEmail', 'Invoice'],
    ['NewEmail', 'Report'],
    ['UnreadCountChanged', 1],
  ]);
  const { items } = await client.get<{ items: Threaded[] }>('/api/emails');
  t.deepEqual(
    items.map(({ subject, isRead, labels }) => [subject, isRead, labels.map(({ name }) => name)]),
    [
      ['the end', false, []],
      ['Report', false, ['Bills']],
      ['Invoice', true, ['Bills']],
    ],
  );
  const labelled = await client.get<EmailList>(`/api/labels/${label.id}/emails`);
  t.like(labelled, { totalCount: 2, unreadCount: 1 });
  const filters = await client.get<{ name: string; timesApplied: number }[]>('/api/filters');
  t.deepEqual(
    filters.map(({ name, timesApplied }) => [name, timesApplied]),
    [
      ['bills', 1],
      ['ads', 1],
      ['files', 1],
    ],
  );
});

test('a label goes on and off, by list and by deletion, and loses no mail', async (t) => {
  const user = await account('labels');
  const client = new MailboxClient(node, user.key);
  const other = new MailboxClient(node, (await account('other')).key);
  await send(user.email, { subject: 'one', text: 'x' });
  const [email] = await client.inbox();
  const label = await made<Label>(t, client, '/api/labels', { name: 'Keep', color: '#00ff00', sortOrder: 2 });
  const first = await made<Label>(t, client, '/api/labels', { name: 'First', color: '#00ff00', sortOrder: 1 });
  const status = async (method: string, path: string, body?: unknown, as = client) =>
    (await as.request(method, path, body)).status;
  t.is(await status('POST', `/api/labels/emails/${email!.id}`, { labelId: label.id }), 204);
  t.is(await status('POST', `/api/labels/emails/${email!.id}`, { labelId: label.id }), 204);
  t.is(await status('POST', `/api/labels/emails/${email!.id}`, { labelId: label.id }, other), 404);
  t.is(await status('DELETE', `/api/labels/${label.id}`, undefined, other), 404);
  t.is(await status('POST', '/api/labels', { name: 'kEEP', color: '#000000', sortOrder: 0 }), 400);
  t.deepEqual(
    (await client.get<Label[]>('/api/labels')).map(({ name, emailCount }) => [name, emailCount]),
    [
      ['First', 0],
      ['Keep', 1],
    ],
  );
  t.is(await status('DELETE', `/api/labels/emails/${email!.id}/${label.id}`), 204);
  t.is((await client.get<EmailList>(`/api/labels/${label.id}/emails`)).totalCount, 0);
  t.is(await status('POST', `/api/labels/emails/${email!.id}`, { labelId: first.id }), 204);
  t.is(await status('PUT', `/api/labels/${first.id}`, { name: 'Renamed', color: '#0000ff', sortOrder: 9 }), 204);
  t.deepEqual(
    (await client.get<{ labels: Label[] }>(`/api/emails/${email!.id}`)).labels.map(({ name }) => name),
    ['Renamed'],
  );
  t.is(await status('DELETE', `/api/labels/${first.id}`), 204);
  t.deepEqual(
    (await client.inbox()).map(({ subject }) => subject),
    ['one'],
  );
});

test('changes of labels, drafts and folders reach hub clients that asked for them, and no others', async (t) => {
  const user = await account('changes');
  const client = new MailboxClient(node, user.key);
  const names = [
    ...['NewEmail', 'EmailUpdated', 'EmailDeleted', 'UnreadCountChanged', 'DeliveryStatusChanged'],
    ...['LabelCreated', 'LabelUpdated', 'LabelDeleted', 'DraftCreated', 'DraftUpdated', 'DraftDeleted'],
    ...['EmailPlaced', 'EmailUnplaced'],
  ];
  const follow = async (query: string) => {
    const hub = new HubConnectionBuilder()
      .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email${query}`, { accessTokenFactory: () => user.key })
      .configureLogging(LogLevel.None)
      .build();
    const heard: [string, unknown][] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    for (const name of names) {
      hub.on(name, (payload) => {
        heard.push([name, payload]);
        if (payload.subject === 'the end') end();
      });
    }
    await hub.start();
    return { hub, heard, ended };
  };
  const [plain, asked] = [await follow(''), await follow('?changes=true')];
  const say = async (method: string, path: string, body?: unknown) =>
    t.true((await client.request(method, path, body)).ok, `${method} ${path}`);
  await send(user.email, { subject: 'one', text: 'x' });
  const [email] = await client.inbox();
  const label = await made<Label>(t, client, '/api/labels', { name: 'Keep', color: '#00ff00', sortOrder: 2 });
  await say('PUT', `/api/labels/${label.id}`, { name: 'Kept', color: '#00ff00', sortOrder: 2 });
  await say('POST', `/api/labels/emails/${email!.id}`, { labelId: label.id });
  await say('DELETE', `/api/labels/emails/${email!.id}/${label.id}`);
  await say('DELETE', `/api/labels/${label.id}`);
  const draft = await made<{ id: string }>(t, client, '/api/outbound/drafts', { subject: 'draft' });
  await say('PUT', `/api/outbound/drafts/${draft.id}`, { subject: 'changed' });
  await say('DELETE', `/api/outbound/drafts/${draft.id}`);
  await send(user.email, { subject: 'the end', text: 'x' });
  await Promise.all([plain.ended, asked.ended]);
  await Promise.all([plain.hub.stop(), asked.hub.stop()]);

  const [name, color, sortOrder] = ['Keep', '#00ff00', 2];
  const placement = { id: email!.id, folderId: label.id };
  const changes = asked.heard.filter(([event]) => /^(Label|Draft)/.test(event));
  t.deepEqual(changes, [
    ['LabelCreated', { id: label.id, name, color, sortOrder }],
    ['LabelUpdated', { id: label.id, name: 'Kept', color, sortOrder }],
    ['LabelDeleted', { id: label.id }],
    ['DraftCreated', { id: draft.id }],
    ['DraftUpdated', { id: draft.id }],
    ['DraftDeleted', { id: draft.id }],
  ]);
  const placements = asked.heard.filter(([event]) => /placed$/i.test(event));
  t.like(placements[0], ['EmailPlaced', { id: email!.id }], 'into the inbox');
  t.deepEqual(placements.slice(1, 3), [
    ['EmailPlaced', placement],
    ['EmailUnplaced', placement],
  ]);
  t.deepEqual(
    plain.heard.map(([event]) => event).filter((event) => event !== 'UnreadCountChanged'),
    // These are the emails of the draft, before and after its change.
    ['NewEmail', 'EmailDeleted', 'EmailDeleted', 'NewEmail'],
  );
});

test('a conversation is one thread, in its order, also when a reply comes first', async (t) => {
  const user = await account('threads');
  const client = new MailboxClient(node, user.key);
  await send(user.email, { subject: 'Re: Re: start', text: '3', messageId: '<c@r.test>', inReplyTo: '<b@r.test>' });
  await send(user.email, { subject: 'start', text: '1', messageId: '<a@r.test>' });
  await send(user.email, { subject: 'Re: start', text: '2', messageId: '<b@r.test>', inReplyTo: '<a@r.test>' });
  await send(user.email, { subject: 'alone', text: '4', messageId: '<d@r.test>' });
  const { items } = await client.get<{ items: Threaded[] }>('/api/emails');
  const threads = new Set(items.map(({ threadId }) => threadId));
  t.is(threads.size, 2);
  const { threadId } = items.find(({ subject }) => subject === 'start')!;
  for (const base of ['/api/emails', '/api/external/emails']) {
    const emails = await client.get<{ textBody: string }[]>(`${base}/threads/${threadId}`);
    t.deepEqual(
      emails.map(({ textBody }) => textBody.trim()),
      ['3', '1', '2'],
    );
  }
  const other = new MailboxClient(node, (await account('stranger')).key);
  t.is((await other.request('GET', `/api/emails/threads/${threadId}`)).status, 404);
});
