// Tests that all who follow an account see the same: stock clients over every transport and in every protocol, EventSource, a
// webhook and a push service get the log of the account, in its order, whatever happens to the network and the node.
import { HttpTransportType } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { createAccount, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { freePorts } from '../../../dev/ports.js';
import { startTcpProxy } from '../../../dev/servers/tcp-proxy.js';
import type { Sql } from '../../../src/store/postgres/driver/client.js';
import { keepBusy } from '../../support/clients/busy-account.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { followHub, followStream, type StockFollower } from '../../support/clients/stock-followers.js';
import { firstOfEach, loggedEvents, newEmailsIn, wholeLog } from '../../support/logged-events.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { startPushService } from '../../support/peers/push-service.js';
import { startWebhookReceiver } from '../../support/peers/webhook-receiver.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const { WebSockets, ServerSentEvents, LongPolling } = HttpTransportType;

interface World {
  readonly account: TestAccount;
  readonly base: string;
  readonly mx: string;
  node(): TestNode;
  /** Kills the node, and starts another on its ports and data. */
  replace(): Promise<void>;
  /** Reads the store; fails while there is no node. */
  store<T>(read: (sql: Sql) => Promise<T>): Promise<T>;
}

async function start(t: ExecutionContext): Promise<World> {
  const [http, mx] = (await freePorts(2)) as [number, number];
  const settings = {
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_PUSH_ALLOW_PRIVATE: 'true',
    MANSIO_WEBHOOK_ALLOW_PRIVATE: 'true',
    MANSIO_HTTP_PORT: String(http),
    MANSIO_MX_PORT: String(mx),
  };
  let node = await startTestNode(settings);
  t.teardown(() => node.stop());
  const store = async <T>(read: (sql: Sql) => Promise<T>) => {
    const sql = await storeOf(node);
    return read(sql).finally(() => sql.end());
  };
  return {
    account: await store((sql) => createAccount(sql, 'ann@example.test')),
    base: `http://127.0.0.1:${http}`,
    mx: `127.0.0.1:${mx}`,
    node: () => node,
    store,
    async replace() {
      const { dataDir } = node;
      await node.kill('SIGKILL');
      node = await startTestNode({ ...settings, MANSIO_DATA_DIR: dataDir });
    },
  };
}

/** Starts every kind of follower as an application does. */
async function followers(t: ExecutionContext, base: string, key: string): Promise<StockFollower[]> {
  const at = { base: () => base, key };
  return Promise.all([
    followHub(t, at, { transport: WebSockets, isBinary: false }, 'WebSockets, JSON'),
    followHub(t, at, { transport: WebSockets, isBinary: true }, 'WebSockets, MessagePack'),
    followHub(t, at, { transport: ServerSentEvents, isBinary: false }, 'ServerSentEvents, JSON'),
    followHub(t, at, { transport: LongPolling, isBinary: true }, 'LongPolling, MessagePack'),
    followStream(t, at),
  ]);
}

test('through cuts, silence and the deaths of the node all clients get the whole log, in its order', async (t) => {
  t.timeout(600_000);
  const world = await start(t);
  const { account, base, mx } = world;
  const service = await startPushService(t);
  const hook = await startWebhookReceiver(t);
  const owner = new MailboxClient(world.node(), account.key);
  const browser = service.subscribe();
  t.is((await owner.request('POST', '/api/push-subscriptions', browser)).status, 201);
  const url = hook.url();
  const made = await owner.request('POST', '/api/webhooks', { url });
  const { secret } = (await made.json()) as { readonly secret: string };
  const network = await startTcpProxy(Number(new URL(base).port));
  t.teardown(() => network.close());
  const clients = await followers(t, `http://127.0.0.1:${network.port}`, account.key);
  const busy = keepBusy(t, account, { http: () => base, mx: () => mx });

  await busy.more(20);
  await network.set('refuse');
  await busy.more(10);
  await network.set('pass');
  await busy.more(10);
  await network.set('black hole');
  await busy.more(10);
  await network.set('pass');
  await world.replace();
  await busy.more(10);
  service.receiver.answerNext({ status: 503, headers: { 'retry-after': '1' } }, 'close');
  hook.receiver.answerNext('close');
  await busy.more(20);
  await network.set('refuse');
  await world.replace();
  await busy.more(10);
  await network.set('pass');
  await busy.more(10);
  await busy.stop();

  const hooked = () => hook.accepted(url, secret).map(({ id }) => id);
  const ids = () => firstOfEach(hooked());
  const pushed = () => service.payloads<{ data: { emailId: string } }>().map(({ data }) => data.emailId);
  const logged = await wholeLog(
    () => world.store((sql) => loggedEvents(sql, account.id)),
    (log) =>
      clients.every(({ events }) => events.length === log.length) &&
      ids().length === log.length &&
      new Set(pushed()).size === newEmailsIn(log).length,
  );
  const expected = logged.map(({ type, payload }) => [type, payload] as const);
  t.true(expected.length > 150);
  for (const client of clients) {
    t.deepEqual(client.events, JSON.parse(JSON.stringify(expected)), client.name);
    t.is(client.incomplete, 0, client.name);
    t.true(client.connections > 1, client.name);
  }
  t.deepEqual(
    ids(),
    logged.map(({ id }) => id),
  );
  t.log(`webhook: ${logged.length} events, ${hooked().length - logged.length} came again`);
  const arrived = newEmailsIn(logged);
  t.deepEqual(firstOfEach(pushed()), arrived);
  t.log(`push: ${arrived.length} emails, ${pushed().length - arrived.length} came again`);
  t.deepEqual(service.faults, []);
});

test('a client that slept longer than the log is kept learns that events are missing, and goes on', async (t) => {
  t.timeout(600_000);
  const { account, base, mx, store } = await start(t);
  const clients = await followers(t, base, account.key);
  const before = keepBusy(t, account, { http: () => base, mx: () => mx });
  await before.more(10);
  await before.stop();
  const log = () => store((sql) => loggedEvents(sql, account.id));
  const haveHeard = (count: number) => clients.every(({ events }) => events.length === count);
  const heard = (await wholeLog(log, ({ length }) => haveHeard(length))).length;
  t.true(haveHeard(heard));
  for (const client of clients) await client.sleep();
  const meanwhile = keepBusy(t, account, { http: () => base, mx: () => mx });
  await meanwhile.more(10);
  await meanwhile.stop();
  // Mail that was accepted last is placed before the log is cut.
  await eventually('all mail to be placed', () =>
    store(async (sql) => (await sql`select 1 from inbound`).length === 0),
  );
  // This deletes all but the newest change, as pruning by age does.
  await store(
    (sql) => sql`
      delete from events e where account_id = ${account.id}
      and seq < (select max(seq) from events where account_id = ${account.id})`,
  );
  const [{ seq = 0 } = {}] = await store(
    (sql) => sql<{ seq: number }[]>`select max(seq)::float8 as seq from events where account_id = ${account.id}`,
  );
  for (const client of clients) {
    await client.wake();
    t.is(client.incomplete, 1, client.name);
    t.is(client.events.length, heard, client.name);
  }
  const after = keepBusy(t, account, { http: () => base, mx: () => mx });
  await after.more(10);
  await after.stop();
  const rest = await wholeLog(
    () => store((sql) => loggedEvents(sql, account.id, seq)),
    ({ length }) => haveHeard(heard + length),
  );
  for (const client of clients) {
    t.deepEqual(
      client.events.slice(heard),
      JSON.parse(JSON.stringify(rest.map(({ type, payload }) => [type, payload]))),
      client.name,
    );
    t.is(client.incomplete, 1, client.name);
  }
});
