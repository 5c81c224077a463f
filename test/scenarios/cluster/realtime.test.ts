// Tests clients that follow accounts through the balancer of a cluster, without sticky sessions: each gets the whole log of its account
// in order, and browsers their push messages, while nodes are killed, stopped and paused.
import { HttpTransportType } from '@microsoft/signalr';
import { keepBusy } from '../../support/clients/busy-account.js';
import { followHub, followStream } from '../../support/clients/stock-followers.js';
import { firstOfEach, loggedEvents, newEmailsIn, wholeLog } from '../../support/logged-events.js';
import { startPushService } from '../../support/peers/push-service.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';

const { WebSockets, LongPolling, ServerSentEvents } = HttpTransportType;

testWith('nats-server', 'haproxy')('clients behind a balancer miss nothing while nodes come and go', async (t) => {
  t.timeout(600_000);
  const settings = { MANSIO_PUSH_ALLOW_PRIVATE: 'true' };
  const cluster = await startCluster(t, { nodes: 3, accounts: 3, balanced: true, settings });
  await cluster.settled();
  const { http, mx } = cluster.front;
  const service = await startPushService(t);
  const followed = await Promise.all(
    cluster.accounts.map(async (account) => {
      const browser = service.subscribe();
      const reply = await fetch(`${http}/api/push-subscriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(browser),
      });
      t.is(reply.status, 201);
      const at = { base: () => http, key: account.key };
      const clients = [
        await followStream(t, at),
        await followHub(t, at, { transport: WebSockets, isBinary: true }, 'WebSockets, MessagePack'),
        await followHub(t, at, { transport: ServerSentEvents, isBinary: false }, 'ServerSentEvents, JSON'),
        await followHub(t, at, { transport: LongPolling, isBinary: false }, 'LongPolling, JSON'),
      ];
      return { account, browser, clients, busy: keepBusy(t, account, { http: () => http, mx: () => mx }) };
    }),
  );
  const more = (acts: number) => Promise.all(followed.map(({ busy }) => busy.more(acts)));

  await more(15);
  const owner = await cluster.ownerOf(cluster.accounts[0]!);
  await owner.kill();
  await more(15);
  await cluster.settled();
  await owner.start();
  await more(10);
  const [stopped, hung] = cluster.nodes.filter((node) => node !== owner);
  await stopped!.stop();
  await more(15);
  await stopped!.start();
  await cluster.settled();
  hung!.pause();
  await more(15);
  hung!.resume();
  await more(10);
  await Promise.all(followed.map(({ busy }) => busy.stop()));
  await cluster.settled();

  for (const { account, browser, clients } of followed) {
    const pushed = () =>
      service.payloads<{ data: { emailId: string } }>(browser.endpoint).map(({ data }) => data.emailId);
    const logged = await wholeLog(
      () => loggedEvents(cluster.sql, account.id),
      (log) =>
        clients.every(({ events }) => events.length === log.length) &&
        new Set(pushed()).size === newEmailsIn(log).length,
    );
    const expected: unknown = JSON.parse(JSON.stringify(logged.map(({ type, payload }) => [type, payload])));
    for (const client of clients) {
      t.deepEqual(client.events, expected, `${account.email}: ${client.name}`);
      t.is(client.incomplete, 0, `${account.email}: ${client.name}`);
    }
    const arrived = newEmailsIn(logged);
    t.deepEqual(firstOfEach(pushed()), arrived, account.email);
    t.log(
      `${account.email}: ${logged.length} events; ${arrived.length} emails pushed, ${pushed().length - arrived.length} twice`,
    );
  }
  t.deepEqual(service.faults, []);
});
