// Tests a client with a storage against a node: what was read is there for the next client while no server answers, what is done then is
// sent by the one after it, and another account sees nothing of it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { filter, firstValueFrom, type Observable } from 'rxjs';
import { accountOn, port } from '../../dev/node-accounts.js';
import { createClient } from '../../src/client/client.js';
import type { ListView, MansioClient } from '../../src/client/client-types.js';
import { placed } from '../support/clients/placed.js';
import { startTestNode } from '../support/node.js';
import test from '../support/test.js';
import { until } from '../support/until.js';
import { MemoryStorage } from './offline/memory-storage.js';

const when = <T>(stream$: Observable<T>, isIt: (value: T) => boolean): Promise<T> =>
  firstValueFrom(stream$.pipe(filter(isIt)));
const hasItems = ({ items }: ListView) => items.length > 0;

/** A client that shows an account and its inbox, as a page does. */
function opened(t: ExecutionContext, options: Parameters<typeof createClient>[0]): MansioClient {
  const client = createClient(options);
  t.teardown(() => client.close());
  for (const stream$ of [client.account$, client.folders$, client.labels$, client.list({ folder: 'inbox' })])
    (stream$ as Observable<unknown>).subscribe({ error: () => undefined });
  return client;
}

test('reading goes on without a server, and what is done is sent later', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  t.teardown(() => node.stop());
  const baseUrl = `http://127.0.0.1:${port(node, 'http')}`;
  const [ann, bob] = [await accountOn(node, 'ann'), await accountOn(node, 'bob')];
  const smtp = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  for (const subject of ['Read', 'Unread']) {
    await smtp.sendMail({ from: 'zoe@remote.test', to: ann.email, subject, text: `The text of ${subject}.` });
    await placed(node);
  }
  smtp.close();

  const window = new MemoryStorage();
  const first = opened(t, { baseUrl, credential: { apiKey: ann.key }, storage: window });
  const { items } = await when(first.list({ folder: 'inbox' }), (view) => view.items.length === 2);
  const [unread, read] = items;
  await firstValueFrom(first.email(read!.id));
  // A list is stored within a second of its last change.
  await until(() => window.keys('lists').length > 0 && window.keys('followed').length >= 2);
  first.close();
  window.end();

  const nowhere = 'http://127.0.0.1:1';
  const offline = new MemoryStorage(window);
  const second = opened(t, { baseUrl: nowhere, credential: { apiKey: ann.key }, storage: offline });
  t.is((await firstValueFrom(second.account$)).email, ann.email);
  const shown = await when(second.list({ folder: 'inbox' }), hasItems);
  t.deepEqual(
    shown.items.map(({ subject }) => subject),
    ['Unread', 'Read'],
  );
  t.true(shown.isLoading, 'the server has not told it');
  t.true((await firstValueFrom(second.folders$)).some(({ role }) => role === 'archive'));
  t.regex((await firstValueFrom(second.email(read!.id))).textBody, /The text of Read/);
  second.act.markRead([unread!.id], true);
  second.act.move([read!.id], { to: 'archive' });
  await when(second.list({ folder: 'inbox' }), ({ total, unread: count }) => total === 1 && count === 0);
  await until(() => offline.keys('actions').length >= 2);
  second.close();
  offline.end();

  const online = new MemoryStorage(window);
  const third = opened(t, { baseUrl, credential: { apiKey: ann.key }, storage: online });
  const after = await when(third.list({ folder: 'inbox' }), (view) => view.total === 1 && !view.isLoading);
  t.like(after, { unread: 0, items: [{ id: unread!.id, isRead: true }] });
  await until(() => online.keys('actions').length === 0);
  third.close();
  online.end();

  const other = opened(t, { baseUrl, credential: { apiKey: bob.key }, storage: new MemoryStorage(window) });
  const emails: number[] = [];
  other.list({ folder: 'inbox' }).subscribe((view) => emails.push(view.items.length));
  t.is((await firstValueFrom(other.account$)).email, bob.email);
  await when(other.list({ folder: 'inbox' }), ({ isLoading }) => !isLoading);
  t.deepEqual([...new Set(emails)], [0]);
  await until(() => window.keys('emails').length === 0);

  // Only the hub tells that the credential is over: nothing is asked for.
  await until(() => window.keys('account').length > 0);
  const { keys } = await other.request('GET', '/api/smtp-credentials');
  const { id: keyId } = keys[0]!;
  await other.request('DELETE', '/api/smtp-credentials/{keyId}', { params: { keyId } });
  await until(() => window.keys('account').length === 0);
  t.deepEqual([...window.keys('lists'), ...window.keys('followed')], []);
});

/** A server that refuses each connection to the hub with 403, and everything with 401 when the session is over. */
async function forbiddingServer(t: ExecutionContext) {
  const asked = { hub: 0, isOver: false };
  const server = createServer(({ url = '' }, response) => {
    const isHub = url.startsWith('/hubs/');
    if (isHub) asked.hub++;
    const content = url === '/api/sessions' ? [] : { id: 'a1', email: 'ann@example.test' };
    response.statusCode = isHub ? 403 : asked.isOver ? 401 : 200;
    response
      .setHeader('Content-Type', 'application/json')
      .end(JSON.stringify(response.statusCode === 200 ? content : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a hub that refuses the credential removes nothing, unless the session is over', async (t) => {
  const { asked, baseUrl } = await forbiddingServer(t);
  const storage = new MemoryStorage();
  const client = createClient({ baseUrl, storage });
  t.teardown(() => client.close());
  const states: string[] = [];
  client.connection$.subscribe((state) => states.push(state));
  t.is((await firstValueFrom(client.account$)).email, 'ann@example.test');
  await until(() => storage.keys('account').length > 0 && asked.hub >= 2);
  t.deepEqual(states, ['connecting', 'reconnecting']);
  t.deepEqual(storage.keys('account'), ['owner']);
  asked.isOver = true;
  await when(client.connection$, (state) => state === 'signedOut');
  await until(() => storage.keys('account').length === 0);
  t.pass();
});

test('a sign-out ends when nothing is kept any more', async (t) => {
  const { baseUrl } = await forbiddingServer(t);
  const storage = new (class extends MemoryStorage {
    override async clear(): Promise<void> {
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      await super.clear();
    }
  })();
  const client = createClient({ baseUrl, storage });
  t.teardown(() => client.close());
  await firstValueFrom(client.account$);
  await until(() => storage.keys('account').length > 0);
  await client.signOut();
  t.deepEqual(storage.keys('account'), []);
});
