// Tests POP3 across nodes: a maildrop has one session in the whole cluster, ids are the same on every node, a dead node releases its
// sessions, and a QUIT whose node or owner is killed has deleted all marked messages, or none.
import net from 'node:net';
import { TesterClient } from '../../../dev/imap-tester/tester-client.js';
import type { ClusterNode } from '../../../dev/local-node.js';
import type { TestAccount } from '../../../dev/node-accounts.js';
import { Pop3Client } from '../../gateways/pop3/client.js';
import { KILLS } from '../../support/amounts.js';
import { Closed } from '../../support/clients/octet-client.js';
import { serialTestWith } from '../../support/test-with.js';
import { startCluster, TAKEOVER_MS, type TestCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const SETTINGS = { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' };
const IN_USE = '-ERR [IN-USE] Another session has the maildrop';
const MARKED = 5;

async function tryToOpen(node: ClusterNode, { email, key }: TestAccount): Promise<Pop3Client | string> {
  const client = new Pop3Client(net.connect(Number(node.pop3.split(':')[1]), '127.0.0.1'));
  await client.line();
  await client.command(`USER ${email}`);
  const reply = await client.command(`PASS ${key}`);
  return reply.startsWith('+OK') ? client : reply;
}

/** Opens a session as soon as the maildrop is free. */
function open(node: ClusterNode, account: TestAccount): Promise<Pop3Client> {
  return eventually('the maildrop to be free', async () => {
    const opened = await tryToOpen(node, account);
    if (typeof opened === 'string') throw new Error(opened);
    return opened;
  });
}

/** Puts messages into the inbox. */
async function fill(node: ClusterNode, { email, key }: TestAccount, count: number): Promise<void> {
  const client = await TesterClient.open({ host: '127.0.0.1', port: Number(node.imap.split(':')[1]) });
  await client.ok(`LOGIN ${email} ${key}`);
  for (let i = 0; i < count; i++) {
    const { completion } = await client.run('APPEND INBOX ', Buffer.from(`Subject: ${i}\r\n\r\n.${i}\r\n`));
    if (completion.name !== 'OK') throw new Error(completion.raw);
  }
  client.destroy();
}

async function idsOf(client: Pop3Client): Promise<string[]> {
  const lines = (await client.listing('UIDL')).split('\r\n').slice(1, -1);
  return lines.map((line) => line.split(' ')[1]!);
}

async function placesOf(cluster: TestCluster, account: TestAccount) {
  const owner = await cluster.ownerOf(account);
  return { owner, other: cluster.nodes.find((node) => node !== owner)! };
}

/** Opens a session, marks all but the first message, and returns the ids of all. */
async function marked(node: ClusterNode, account: TestAccount) {
  const client = await open(node, account);
  const ids = await idsOf(client);
  for (let number = 2; number <= ids.length; number++) await client.command(`DELE ${number}`);
  return { client, ids };
}

/**
 * Ends such a session on the node that is not the owner, with a commit of the owner that does not arrive. The owner has prepared the
 * statement of a QUIT before: only then the statement is sent completely at once. An owner whose lease ends before is passed over; then
 * all begins again with the next one.
 */
async function quitHeldBack(cluster: TestCluster, account: TestAccount) {
  for (;;) {
    const { owner, other } = await placesOf(cluster, account);
    await fill(owner, account, MARKED);
    const { client: first } = await marked(other, account);
    const reply = await first.command('QUIT');
    if (!reply.startsWith('+OK')) throw new Error(reply);
    await fill(owner, account, MARKED);
    const { client, ids } = await marked(other, account);
    await owner.cutOff('postgres', 'black hole');
    let isAnswered = false;
    const answer = client.command('QUIT').finally(() => {
      isAnswered = true;
    });
    answer.catch(() => {});
    const outcome = await eventually('the commit to be sent, or an answer', () => {
      if (owner.holdsBack(ids[1]!)) return 'sent';
      return isAnswered ? 'answered' : undefined;
    });
    if (outcome === 'sent') return { owner, other, ids, answer };
    await owner.reconnect();
    await cluster.settled();
  }
}

serialTestWith('nats-server')(
  'two nodes have one maildrop, and a session outlives the owner of the mailbox',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, { nodes: 2, accounts: 1, leaseTtlMs: PATIENT_TTL_MS, settings: SETTINGS });
    await cluster.settled();
    const account = cluster.accounts[0]!;
    const { owner, other } = await placesOf(cluster, account);
    await fill(owner, account, 3);

    const first = await open(other, account);
    for (const node of cluster.nodes) t.is(await tryToOpen(node, account), IN_USE);
    const ids = await idsOf(first);
    await first.command('QUIT');
    const second = (await tryToOpen(owner, account)) as Pop3Client;
    t.deepEqual(await idsOf(second), ids, 'the ids are of the mailbox, and the maildrop was free at once');
    t.is(await tryToOpen(other, account), IN_USE);
    second.close();

    // The node of a session dies: the lock expires, and nothing is deleted.
    const { client: third } = await marked(other, account);
    await other.kill();
    await third.rest();
    const fourth = await open(owner, account);
    t.deepEqual(await idsOf(fourth), ids);
    await fourth.command('QUIT');
    await other.start();
    await cluster.settled();

    // The owner dies under a session of another node: the session continues with the next owner.
    const places = await placesOf(cluster, account);
    const { client: fifth } = await marked(places.other, account);
    await places.owner.kill();
    await cluster.settled();
    t.is(await fifth.listing('RETR 1'), '+OK 18 octets\r\nSubject: 0\r\n\r\n.0\r\n');
    t.is(await fifth.command('QUIT'), '+OK 2 messages deleted, bye');
    const last = await open(places.other, account);
    t.deepEqual(await idsOf(last), ids.slice(0, 1));
  },
);

serialTestWith('nats-server')(
  'a QUIT whose commit is under way when the owner is killed is carried out once',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, {
      nodes: 2,
      accounts: 1,
      leaseTtlMs: PATIENT_TTL_MS,
      viaProxies: true,
      settings: SETTINGS,
    });
    await cluster.settled();
    const account = cluster.accounts[0]!;
    const { owner, other, ids, answer } = await quitHeldBack(cluster, account);
    const killedAt = performance.now();
    await owner.kill();
    const reply = await answer;
    t.log(`the answer came ${Math.round(performance.now() - killedAt)} ms after the kill`);
    const isDone = reply === `+OK ${MARKED} messages deleted, bye`;
    t.true(isDone || performance.now() - killedAt > TAKEOVER_MS, `the next owner has carried it out: ${reply}`);
    await owner.reconnect();
    const next = await open(other, account);
    const left = (await idsOf(next)).join();
    t.true(left === ids[0] || (!isDone && left === ids.join()), `${reply}: ${ids} became ${left}`);
    await fill(other, account, 2);
    await next.command('QUIT');
    await owner.start();
    await cluster.settled();

    // The node of the session is killed while the owner commits: all marked messages are gone, or none.
    const last = await quitHeldBack(cluster, account);
    await last.other.kill();
    await last.owner.reconnect();
    await t.throwsAsync(last.answer, { instanceOf: Closed });
    const after = (await idsOf(await open(last.owner, account))).join();
    t.true([last.ids.join(), last.ids[0]].includes(after), `${last.ids} became ${after}`);
  },
);

serialTestWith('nats-server')('nodes killed behind QUIT have deleted all that was marked, or nothing', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 2, accounts: 1, leaseTtlMs: PATIENT_TTL_MS, settings: SETTINGS });
  await cluster.settled();
  const account = cluster.accounts[0]!;
  const outcomes: string[] = [];
  for (let round = 0; round < KILLS.clusterQuit; round++) {
    const { owner, other } = await placesOf(cluster, account);
    await fill(owner, account, MARKED);
    const at = round % 3 === 0 ? other : owner;
    const victim = round % 3 === 1 ? owner : at;
    const { client, ids } = await marked(at, account);
    client.write('QUIT\r\n');
    // The kill comes later in the commit in each round.
    for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    await victim.kill();
    const reply = await client.line().catch((error: unknown) => {
      if (!(error instanceof Closed)) throw error;
      return undefined;
    });
    await victim.start();
    await cluster.settled();
    const next = await open(at, account);
    const after = await idsOf(next);
    const isDeleted = after.join() === ids[0];
    // The node of the session may wait for the next owner in vain.
    const isKept = (reply === undefined || reply.startsWith('-ERR')) && after.join() === ids.join();
    t.true(isDeleted || isKept, `${reply}: ${ids} became ${after}`);
    outcomes.push(`${isDeleted ? 'deleted' : 'kept'}, ${reply === undefined ? 'no reply' : 'replied'}`);
    await next.command('QUIT');
  }
  t.log(outcomes);
});
