// Tests two clients of one account while its node is killed and another one takes its place: both see every event once and in order, and
// their lists, counts and open emails end as the server has them.
import { filter, firstValueFrom, type Observable } from 'rxjs';
import { createAccount, storeOf } from '../../dev/node-accounts.js';
import { freePorts } from '../../dev/ports.js';
import { createClient } from '../../src/client/client.js';
import type { ListView } from '../../src/client/client-types.js';
import type { ClientEvent, ConnectionState } from '../../src/client/hub/hub-link.js';
import { keepBusy } from '../support/clients/busy-account.js';
import { placed } from '../support/clients/placed.js';
import { loggedEvents } from '../support/logged-events.js';
import { startTestNode } from '../support/node.js';
import test from '../support/test.js';

function when<T>(stream$: Observable<T>, fits: (value: T) => boolean): Promise<T> {
  return firstValueFrom(stream$.pipe(filter(fits)));
}

test('two clients stay in step while the node is killed and another takes its place', async (t) => {
  const [http, mx] = (await freePorts(2)) as [number, number];
  const settings = {
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_HTTP_PORT: String(http),
    MANSIO_MX_PORT: String(mx),
  };
  let node = await startTestNode(settings);
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const account = await createAccount(sql, 'ann@example.test');
  const baseUrl = `http://127.0.0.1:${http}`;
  const clients = [1, 2].map(() => {
    const client = createClient({ baseUrl, credential: { token: async () => account.key } });
    t.teardown(() => client.close());
    const events: ClientEvent[] = [];
    const states: ConnectionState[] = [];
    const views: ListView[] = [];
    client.events$.subscribe((event) => events.push(event));
    client.list({ folder: 'inbox' }).subscribe((view) => views.push(view));
    return { client, events, states, views };
  });
  // A busy node may let the first connection wait for so long that the client begins again: the states count from here.
  for (const { client, states } of clients) {
    await when(client.connection$, (state) => state === 'live');
    client.connection$.subscribe((state) => states.push(state));
  }
  const busy = keepBusy(t, account, { http: () => baseUrl, mx: () => `127.0.0.1:${mx}` });
  await busy.more(20);
  await when(clients[0]!.client.list({ folder: 'inbox' }), ({ items }) => items.length > 0);
  await node.kill('SIGKILL');
  for (const { client } of clients) await when(client.connection$, (state) => state === 'reconnecting');

  // An action of a time without a node waits for the next one.
  const [first, second] = clients as [(typeof clients)[0], (typeof clients)[0]];
  const { id, isRead } = first.views.at(-1)!.items.at(-1)!;
  const action = first.client.act.markRead([id], !isRead);
  t.is(first.views.at(-1)!.items.at(-1)!.isRead, !isRead);
  node = await startTestNode({ ...settings, MANSIO_DATA_DIR: node.dataDir });
  await action.done.catch((error) => t.is(error.code, 'notFound', 'the account may have deleted it'));
  await busy.more(20);
  await busy.stop();
  await placed(node);

  const { totalCount, items } = await first.client.request('GET', '/api/emails', { query: { pageSize: 50 } });
  const marks = JSON.stringify(items);
  for (const { client } of [first, second]) {
    const list$ = client.list({ folder: 'inbox' });
    await when(list$, (view) => view.total === totalCount && JSON.stringify(view.items) === marks);
  }
  const logged = (await loggedEvents(sql, account.id)).map(({ type, payload }) => JSON.stringify({ type, payload }));
  for (const { client, events, states, views } of clients) {
    const own = () =>
      events.filter(({ type }) => type !== 'QueuePositionChanged').map((event) => JSON.stringify(event));
    const isWhole = () => own().at(-1) === logged.at(-1) && own().length >= logged.length;
    if (!isWhole()) await when(client.events$, isWhole);
    t.deepEqual(own(), logged, 'each once and in order');
    t.deepEqual(states, ['live', 'reconnecting', 'live']);
    t.true(views.every(({ error }) => error === undefined));
  }
});
