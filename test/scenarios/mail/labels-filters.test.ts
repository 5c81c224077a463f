// Tests labels and filters as users see them: rules made over REST, mail by SMTP, and what the hub reports.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { amount } from '../../support/amounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { type EmailList, type ListedEmail, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

/** The most filters of an account. */
const MOST_FILTERS = 200;
const REQUESTS = amount(1_000, 10_000);
const LANES = 8;

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

/** Sends the mail and returns once it is in the mailbox: so the order of several is certain. */
async function deliver(to: string, mail: object): Promise<void> {
  await send(to, mail);
  await placed(node);
}

async function made<T>(t: ExecutionContext, client: MailboxClient, path: string, body: object): Promise<T> {
  const response = await client.request('POST', path, body);
  t.is(response.status, 201);
  return (await response.json()) as T;
}

test('filters move mail by header, list, size and expression, flag it, and stop', async (t) => {
  const user = await account('further');
  const client = new MailboxClient(node, user.key);
  const folder = await made<{ id: string }>(t, client, '/api/folders', { name: 'Lists' });
  const rule = { isEnabled: true, name: 'rule' };
  await made(t, client, '/api/filters', {
    ...{ ...rule, priority: 1, listId: 'devs.lists', toContains: 'FURTHER@', moveToFolderId: folder.id },
    ...{ flag: true, stop: true },
  });
  await made(t, client, '/api/filters', { ...rule, priority: 2, matches: 'build #\\d+', moveToFolderId: 'archive' });
  await made(t, client, '/api/filters', { ...rule, priority: 3, minSizeBytes: 100_000, flag: 'Large' });
  const list = { id: { url: 'devs.lists.test', comment: 'Devs' } };
  await deliver(user.email, { subject: 'build #7', text: 'x', list });
  await deliver(user.email, { subject: 'for you', text: 'Build #42 is done' });
  await deliver(user.email, { subject: 'large', text: 'y'.repeat(300_000) });
  const subjects = async (path: string) =>
    (await client.get<{ items: { subject: string; isFlagged: boolean }[] }>(path)).items.map((item) => [
      item.subject,
      item.isFlagged,
    ]);
  t.deepEqual(await subjects(`/api/folders/${folder.id}/emails`), [['build #7', true]]);
  t.deepEqual(await subjects('/api/folders/archive/emails'), [['for you', false]]);
  t.deepEqual(await subjects('/api/emails'), [['large', false]]);
  await client.request('DELETE', `/api/folders/${folder.id}`);
  const [first] = await client.get<{ isEnabled: boolean; disabledReason: string }[]>('/api/filters');
  t.like(first, { isEnabled: false, disabledReason: 'folderDeleted', moveToFolderId: null, moveToFolderName: null });
});

test('filters beyond the most are refused, and other accounts have their mail while a client asks for more and more', async (t) => {
  const [greedy, other] = [await account('greedy'), await account('other')];
  const client = new MailboxClient(node, greedy.key);
  const rule = { isEnabled: true, name: 'rule', priority: 1, headerName: 'X-None', markAsRead: true };
  const statuses: number[] = [];
  const errors = new Set<string>();
  const lane = async () => {
    while (statuses.length < REQUESTS) {
      const response = await client.request('POST', '/api/filters', rule);
      statuses.push(response.status);
      const { errors: named } = (await response.json()) as { errors?: object };
      if (named !== undefined) errors.add(JSON.stringify(named));
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  const subjects: string[] = [];
  for (; statuses.length < REQUESTS; subjects.push(`letter ${subjects.length}`)) {
    await send(other.email, { subject: `letter ${subjects.length}`, text: 'x' });
    // Its own mail passes all of its filters.
    await send(greedy.email, { subject: `letter ${subjects.length}`, text: 'x' });
  }
  await lanes;
  t.is(statuses.filter((status) => status === 201).length, MOST_FILTERS);
  t.is(statuses.filter((status) => status === 400).length, statuses.length - MOST_FILTERS);
  t.deepEqual([...errors], ['{"name":["there are as many filters as an account may have"]}']);
  t.is((await client.get<unknown[]>('/api/filters')).length, MOST_FILTERS);
  t.true(subjects.length > 1, `${subjects.length} letters arrived meanwhile`);
  for (const { key } of [greedy, other]) {
    const list = () => new MailboxClient(node, key).get<{ totalCount: number }>('/api/emails');
    // An accepted message may be placed after its acceptance.
    await eventually('every letter', async () => (await list()).totalCount >= subjects.length);
    t.is((await list()).totalCount, subjects.length);
  }
});

test('a filter is applied to existing mail, and that is undone', async (t) => {
  const user = await account('existing');
  const client = new MailboxClient(node, user.key);
  await deliver(user.email, { subject: 'old invoice', text: 'pay' });
  await deliver(user.email, { subject: 'old letter', text: 'hello' });
  const { id } = await made<{ id: string }>(t, client, '/api/filters', {
    ...{ isEnabled: true, name: 'invoices', priority: 1, matches: 'invoice', moveToFolderId: 'archive', flag: true },
  });
  const begun = await client.request('POST', `/api/filters/${id}/apply`, {});
  t.is(begun.status, 202);
  const path = `/api/filters/${id}/apply/${((await begun.json()) as { runId: string }).runId}`;
  const done = async () => {
    for (;;) {
      const run = await client.get<{ isDone: boolean }>(path);
      if (run.isDone) return run;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  t.deepEqual<unknown, unknown>(await done(), { matched: 1, changed: 1, total: 2, isDone: true, isUndone: false });
  const subjects = async () => (await client.inbox()).map(({ subject }) => subject);
  t.deepEqual(await subjects(), ['old letter']);
  t.is((await client.request('POST', `${path}/undo`)).status, 202);
  t.deepEqual<unknown, unknown>(await done(), { matched: 1, changed: 0, total: 2, isDone: true, isUndone: true });
  t.deepEqual(await subjects(), ['old letter', 'old invoice']);
});

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
  await startHub(hub);
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

  await deliver(user.email, { subject: 'Big SALE', text: 'buy' });
  await deliver(user.email, { subject: 'Invoice', html: '<p>Der <b>Betrag</b> fällig</p>' });
  await deliver(user.email, {
    subject: 'Report',
    text: 'see file',
    attachments: [{ filename: 'a.txt', content: 'a' }],
  });
  // A connection gets the last one of several counts that come together.
  await eventually('the count of unread emails', () => heard.some(([name]) => name === 'UnreadCountChanged'));
  const end = new Promise<void>((resolve) => {
    wake = resolve;
  });
  await deliver(user.email, { subject: 'the end', text: 'x' });
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
    await startHub(hub);
    return { hub, heard, ended };
  };
  const [plain, asked] = [await follow(''), await follow('?changes=true')];
  const say = async (method: string, path: string, body?: unknown) =>
    t.true((await client.request(method, path, body)).ok, `${method} ${path}`);
  await deliver(user.email, { subject: 'one', text: 'x' });
  const [email] = await client.inbox();
  const label = await made<Label>(t, client, '/api/labels', { name: 'Keep', color: '#00ff00', sortOrder: 2 });
  await say('PUT', `/api/labels/${label.id}`, { name: 'Kept', color: '#00ff00', sortOrder: 2 });
  await say('POST', `/api/labels/emails/${email!.id}`, { labelId: label.id });
  await say('DELETE', `/api/labels/emails/${email!.id}/${label.id}`);
  await say('DELETE', `/api/labels/${label.id}`);
  const draft = await made<{ id: string }>(t, client, '/api/outbound/drafts', { subject: 'draft' });
  await say('PUT', `/api/outbound/drafts/${draft.id}`, { subject: 'changed' });
  await say('DELETE', `/api/outbound/drafts/${draft.id}`);
  await deliver(user.email, { subject: 'the end', text: 'x' });
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
