// Tests one mailbox on three nodes: IMAP on one, REST and the hub on another, and the owner on the third. A change of a command
// or a request is visible to the next one of the other side, and waiting clients are told without asking.
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { TesterClient } from '../../../dev/imap-tester/tester-client.js';
import type { ClusterNode } from '../../../dev/local-node.js';
import type { TestAccount } from '../../../dev/node-accounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const EVENTS = [
  'NewEmail',
  'EmailUpdated',
  'EmailDeleted',
  'EmailFlagsChanged',
  'EmailPlaced',
  'LabelCreated',
  'LabelDeleted',
];

interface Shown {
  readonly id: string;
  readonly subject: string;
  readonly threadId: string;
  readonly isRead: boolean;
  readonly isFlagged: boolean;
  readonly labels: readonly { readonly id: string; readonly name: string }[];
}

const message = (id: string, subject: string, more = '') =>
  Buffer.from(
    `From: zoe@example.test\r\nMessage-ID: <${id}@both.test>\r\nSubject: ${subject}\r\n${more}\r\nunheard of\r\n`,
  );

/** Collects the names and payloads of the hub's events. */
async function followed(t: ExecutionContext, node: ClusterNode, { key }: TestAccount): Promise<[string, unknown][]> {
  const hub = new HubConnectionBuilder()
    .withUrl(`${node.http}/hubs/email?changes=true`, { accessTokenFactory: () => key })
    .configureLogging(LogLevel.None)
    .build();
  const heard: [string, unknown][] = [];
  for (const name of EVENTS) hub.on(name, (payload) => void heard.push([name, payload]));
  hub.on('UnreadCountChanged', () => {});
  await startHub(hub);
  t.teardown(() => hub.stop());
  return heard;
}

async function session(node: ClusterNode, { email, key }: TestAccount): Promise<TesterClient> {
  const client = await TesterClient.open({ host: '127.0.0.1', port: Number(node.imap.split(':')[1]) });
  await client.ok(`LOGIN "${email}" "${key}"`);
  await client.select('INBOX');
  return client;
}

testWith('nats-server')(
  'what IMAP and REST change is seen by the other at once, on other nodes than the owner',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, {
      nodes: 3,
      accounts: 1,
      leaseTtlMs: PATIENT_TTL_MS,
      settings: { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true', MANSIO_LOG_LEVEL: 'warn' },
    });
    await cluster.settled();
    const account = cluster.accounts[0]!;
    const owner = await cluster.ownerOf(account);
    const [near, far] = cluster.nodes.filter((node) => node !== owner) as [ClusterNode, ClusterNode];
    const client = await session(near, account);
    const rest = new MailboxClient(far.process, account.key);
    const heard = await followed(t, far, account);
    const told = (what: string, name: string, holds: (payload: unknown) => boolean) =>
      eventually(what, () => heard.some(([event, payload]) => event === name && holds(payload)));
    const say = async (method: string, path: string, body?: unknown) => {
      const response = await rest.request(method, path, body);
      t.true(response.ok, `${method} ${path}: ${response.status}`);
    };
    const list = async (path: string) => (await rest.get<EmailList & { items: readonly Shown[] }>(path)).items;
    const found = async () => (await list('/api/emails/search?q=unheard')).map(({ subject }) => subject);
    const responses = async (command: string) => (await client.ok(command)).untagged.map(({ raw }) => raw);

    // These changes go from IMAP to REST and the hub.
    await client.ok('APPEND INBOX ', message('1', 'one'));
    await client.ok('APPEND Archive ', message('3', 'kept apart'));
    await client.ok('APPEND INBOX ', message('2', 'Re: one', 'In-Reply-To: <1@both.test>\r\n'));
    const [second, first] = await list('/api/emails');
    t.deepEqual([second!.subject, first!.subject], ['Re: one', 'one']);
    t.is(second!.threadId, first!.threadId);
    await eventually('the messages to be found', async () => (await found()).length === 3);
    t.deepEqual((await found()).sort(), ['Re: one', 'kept apart', 'one']);
    await told('the second message', 'NewEmail', (payload) => (payload as Shown).subject === 'Re: one');
    const subjects = heard.filter(([name]) => name === 'NewEmail').map(([, payload]) => (payload as Shown).subject);
    t.deepEqual(subjects, ['one', 'Re: one'], 'what is put elsewhere is no new mail');

    await client.ok('STORE 1 +FLAGS (\\Seen \\Flagged)');
    t.like(await rest.get(`/api/emails/${first!.id}`), { isRead: true, isFlagged: true });
    await told('the flags', 'EmailFlagsChanged', (payload) => {
      const { id, isRead, isFlagged } = payload as Shown;
      return id === first!.id && isRead && isFlagged;
    });
    await client.ok('CREATE Receipts');
    await client.ok('COPY 1 Receipts');
    const [label] = await rest.get<{ id: string; name: string }[]>('/api/labels');
    t.is(label!.name, 'Receipts');
    const { labels } = await rest.get<Shown>(`/api/emails/${first!.id}`);
    t.deepEqual(
      labels.map(({ id }) => id),
      [label!.id],
    );
    await told('the label', 'LabelCreated', (payload) => (payload as { id: string }).id === label!.id);
    await told('the placement', 'EmailPlaced', (payload) => {
      const { id, folderId } = payload as { id: string; folderId: string };
      return id === first!.id && folderId === label!.id;
    });
    await client.ok('UID MOVE 2 Archive');
    t.deepEqual(
      (await list('/api/emails')).map(({ subject }) => subject),
      ['one'],
    );
    await client.ok('STORE 1 +FLAGS.SILENT (\\Deleted)');
    await client.ok('EXPUNGE');
    t.deepEqual(await list('/api/emails'), []);
    t.is((await list(`/api/labels/${label!.id}/emails`)).length, 1, 'the label has it still');
    await client.select('Receipts');
    await client.ok('STORE 1 +FLAGS.SILENT (\\Deleted)');
    await client.ok('CLOSE');
    client.mailbox = undefined;
    t.is((await rest.request('GET', `/api/emails/${first!.id}`)).status, 404);
    await told('the deletion', 'EmailDeleted', (payload) => payload === first!.id);
    await client.ok('DELETE Receipts');
    t.deepEqual(await rest.get('/api/labels'), []);
    await told('the end of the label', 'LabelDeleted', (payload) => (payload as { id: string }).id === label!.id);

    // These changes go from REST to IMAP: in the next response, and in IDLE without a command.
    await client.select('Archive');
    t.is(client.mailbox!.messages.length, 2);
    await client.ok('FETCH 1:2 (UID FLAGS)');
    await say('PATCH', `/api/emails/${second!.id}`, { isRead: true, isFlagged: true });
    t.deepEqual(await responses('NOOP'), ['* 2 FETCH (UID 2 FLAGS (\\Seen \\Flagged))']);
    const response = await rest.request('POST', '/api/labels', {
      name: 'Made/by rest',
      color: '#00ff00',
      sortOrder: 1,
    });
    const made = (await response.json()) as { id: string };
    t.is((await responses('LIST "" "Made/*"')).length, 1);
    await say('POST', `/api/labels/emails/${second!.id}`, { labelId: made.id });
    t.deepEqual(await responses('STATUS "Made/by rest" (MESSAGES UNSEEN)'), [
      '* STATUS "Made/by rest" (MESSAGES 1 UNSEEN 0)',
    ]);
    const idle = await client.idle();
    await say('DELETE', `/api/emails/${second!.id}`);
    await client.until('the EXPUNGE', () => client.unasked.some(({ raw }) => raw === '* 2 EXPUNGE'));
    await idle.done();
    t.is(client.mailbox!.messages.length, 1);
    t.deepEqual(await responses('STATUS "Made/by rest" (MESSAGES)'), ['* STATUS "Made/by rest" (MESSAGES 0)']);
    await say('DELETE', `/api/labels/${made.id}`);
    t.deepEqual(await responses('LIST "" "Made/*"'), []);
    client.destroy();
  },
);
