// Tests stock hub clients without a WebSocket on two nodes, behind a balancer that sends each request to the next node: they get
// each email once and in the order of the mailbox, also when a node that answers them dies.
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { createTransport } from 'nodemailer';
import type { ClusterNode } from '../../../dev/local-node.js';
import { startHub } from '../../support/clients/hub-start.js';
import { startRequestBalancer } from '../../support/peers/request-balancer.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const { ServerSentEvents, LongPolling } = HttpTransportType;

/** Connects a client that resumes from its cursor at each connection. */
function follow(url: string, key: string, transport: HttpTransportType) {
  const builder = new HubConnectionBuilder()
    .withUrl(`${url}/hubs/email?resume=true`, { transport, accessTokenFactory: () => key })
    .withAutomaticReconnect({ nextRetryDelayInMilliseconds: () => 100 })
    .configureLogging(LogLevel.None);
  if (transport === LongPolling) builder.withHubProtocol(new MessagePackHubProtocol());
  const hub = builder.build();
  const subjects: string[] = [];
  const answers: boolean[] = [];
  let cursor: string | null = null;
  hub.on('NewEmail', ({ subject }: { readonly subject: string }) => void subjects.push(subject));
  hub.on('Position', (position: string) => {
    cursor = position;
  });
  for (const event of ['EmailUpdated', 'UnreadCountChanged']) hub.on(event, () => {});
  const resume = async () => {
    const { complete } = await hub.invoke<{ complete: boolean }>('Resume', cursor);
    answers.push(complete);
  };
  // The node may die before the call; then the client connects again.
  hub.onreconnected(() => void resume().catch(() => {}));
  return { hub, subjects, answers, resume };
}

testWith('nats-server')('clients without a WebSocket need no sticky sessions', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 2, accounts: 1, leaseTtlMs: PATIENT_TTL_MS });
  await cluster.settled();
  const account = cluster.accounts[0]!;
  const addressOf = (node: ClusterNode) => node.http.replace('http://', '');
  const addresses = cluster.nodes.map(addressOf);
  const balancer = await startRequestBalancer(t, addresses);
  const sent: string[] = [];
  const send = async (node: ClusterNode, count: number) => {
    const [host, port] = node.mx.split(':');
    const transport = createTransport({ host: host!, port: Number(port), tls: { rejectUnauthorized: false } });
    for (let i = 0; i < count; i++) {
      const subject = `Zoë 💌 ${sent.length}`;
      await transport.sendMail({ from: 'bob@remote.test', to: account.email, subject, text: subject });
      sent.push(subject);
    }
  };
  const followers = [ServerSentEvents, LongPolling, ServerSentEvents, LongPolling].map((transport) =>
    follow(balancer.url, account.key, transport),
  );
  t.teardown(() => Promise.all(followers.map(({ hub }) => hub.stop())));
  let first: ClusterNode | undefined;
  for (const { hub, resume } of followers) {
    await startHub(hub);
    await resume();
    // The stream of the first client stays open at one of the nodes.
    first ??= await eventually('the stream alone to be open', () => {
      const [one, ...others] = cluster.nodes.filter((node) => balancer.underWayAt(addressOf(node)) > 0);
      return others.length === 0 ? one : undefined;
    });
  }
  const haveAll = (what: string) =>
    eventually(what, async () => followers.every(({ subjects }) => subjects.length >= sent.length));
  const second = cluster.nodes.find((node) => node !== first)!;
  await send(first!, 5);
  await send(second, 5);
  t.true(await haveAll('the emails at first'));

  addresses.splice(0, addresses.length, addressOf(second));
  await first!.kill();
  await send(second, 5);
  t.true(await haveAll('the emails after the death of a node'));
  // A mailbox that has no owner for a moment places mail later, and perhaps in another order.
  const placed = await cluster.sql<{ subject: string }[]>`
    select e.subject from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      join emails e on e.account_id = p.account_id and e.id = p.email_id
    where p.account_id = ${account.id} and f.role = 'inbox' order by p.uid`;
  t.deepEqual(placed.map(({ subject }) => subject).toSorted(), sent.toSorted());
  for (const { subjects, answers } of followers) {
    t.deepEqual(
      subjects,
      placed.map(({ subject }) => subject),
    );
    t.true(answers.every((isComplete) => isComplete));
  }
  t.true(followers.some(({ answers }) => answers.length > 1));
});
