// Tests several processes of one parent (MANSIO_PROCESSES): clients and operators see one node, which outlives its processes.
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get as httpGet } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { findProgram } from '../../../dev/executables.js';
import { freePort } from '../../../dev/ports.js';
import { startNatsServer } from '../../../dev/servers/nats-server.js';
import { KILLS } from '../../support/amounts.js';
import { startHub } from '../../support/clients/hub-start.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { NodeNotReady, startTestNode } from '../../support/node.js';
import { reportOfPromtool } from '../../support/promtool.js';
import test from '../../support/test.js';
import { serialTestWith } from '../../support/test-with.js';
import { eventually } from './support/eventually.js';
import { isAlive, startProcesses } from './support/processes.js';
import { verify } from './support/verify.js';

const CONNECTIONS = 12;
/** One process gets the connections of all messages by chance only once in 2 ** 23 runs. */
const MESSAGES = 24;

/** In ms. A process drains for longer (`node/drain.ts`). */
const DRAIN_MS = 2_000;

const portOf = (address: string | undefined) => Number(address?.replace(/^.*:/, ''));

serialTestWith('nats-server')('two processes are one node for clients and for those who watch it', async (t) => {
  t.timeout(600_000);
  const { node, sql, accounts, target, lines, metrics } = await startProcesses(t);
  t.is(node.logs.filter((line) => line.includes('"event":"ready"')).length, 1);
  const nodes = await sql<{ id: string }[]>`select id from nodes order by id`;
  t.deepEqual(
    nodes.map(({ id }) => id),
    [`${node.ready.nodeId}.1`, `${node.ready.nodeId}.2`],
  );
  t.deepEqual(
    Object.keys(node.ready.listeners).sort(),
    ['http', 'imap', 'imaps', 'metrics', 'mx', 'pop3', 'pop3s', 'sieve', 'submission', 'submissions'],
    'the ready line has the names of a single node',
  );

  // Clients of both processes hear of each message, whichever process accepted it.
  const [account] = accounts;
  const heard: string[][] = [];
  const hubs = Array.from({ length: CONNECTIONS }, (_, i) => {
    const subjects: string[] = [];
    heard.push(subjects);
    const hub = new HubConnectionBuilder()
      .withUrl(`${target.http}/hubs/email`, {
        transport: i % 2 === 0 ? HttpTransportType.WebSockets : HttpTransportType.LongPolling,
        accessTokenFactory: () => account!.key,
      })
      .configureLogging(LogLevel.None)
      .build();
    hub.on('NewEmail', ({ subject }: { readonly subject: string }) => void subjects.push(subject));
    for (const event of ['EmailUpdated', 'UnreadCountChanged']) hub.on(event, () => {});
    return hub;
  });
  t.teardown(() => Promise.all(hubs.map((hub) => hub.stop())));
  await Promise.all(hubs.map(startHub));

  const subjects = Array.from({ length: MESSAGES }, (_, i) => `message ${i}`);
  for (const subject of subjects) {
    const client = await SmtpClient.greeted(target.mx);
    t.is((await client.envelope('a@remote.test', account!.email)).code, 354);
    client.write(`Subject: ${subject}\r\n\r\ntext\r\n.\r\n`);
    t.is((await client.reply()).code, 250);
    client.destroy();
  }
  const accepted = () => lines().filter(({ msg }) => msg === 'message accepted');
  await eventually('the log', () => accepted().length === MESSAGES);
  t.deepEqual([...new Set(accepted().map(({ process }) => process))].sort(), [1, 2], 'each process takes connections');
  await eventually('the hub clients', () => heard.every((each) => each.length >= MESSAGES));
  // A mailbox that answers late on a busy machine places a message later, perhaps behind the next one.
  const rows = await sql<{ subject: string }[]>`
    select e.subject from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
    where p.account_id = ${account!.id} order by p.uid`;
  const placed = rows.map(({ subject }) => subject);
  t.deepEqual(placed.toSorted(), subjects.toSorted());
  for (const each of heard) t.deepEqual(each, placed);
  const inbox = await new MailboxClient(node, account!.key).inbox();
  t.deepEqual(inbox.map(({ subject }) => subject).toSorted(), subjects.toSorted());

  const certificates = new Set<string>();
  for (let i = 0; i < 6; i++) {
    const socket = connect({
      port: portOf(node.ready.listeners['imaps']),
      host: '127.0.0.1',
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    certificates.add(socket.getPeerCertificate().fingerprint256);
    socket.destroy();
  }
  t.is(certificates.size, 1, 'all processes show one certificate');

  let text = '';
  const shown = (name: string, process: number) =>
    Number(new RegExp(`^${name}\\{[^}]*process="${process}"[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1]);
  await eventually('the connections of SMTP to be over', async () => {
    text = await (await metrics('/metrics')).text();
    return [1, 2].every((process) => shown('mansio_smtp_connections', process) === 0);
  });
  if (findProgram('promtool') === undefined) t.log('promtool is not installed: it checks no metrics');
  else t.is(await reportOfPromtool(text), '');
  for (const process of [1, 2]) {
    t.is(shown('mansio_node_ready', process), 1);
    t.is(shown('mansio_node_restarts_total', process), 0);
    t.true(shown('mansio_process_resident_memory_bytes', process) > 0);
  }
  t.is(text.match(/^# TYPE mansio_smtp_connections /gm)?.length, 1);
  const health = await metrics('/healthz');
  t.is(health.status, 200);
  t.like(await health.json(), { status: 'Healthy' });
});

serialTestWith('nats-server')(
  'a process that is killed under load is started again, and nothing is lost',
  async (t) => {
    t.timeout(600_000);
    const { node, sql, accounts, pid, restarted, load: begin, metrics, lines } = await startProcesses(t);
    const load = begin();
    await load.more(50);
    const seen = new Set<string>();
    const readyAgain = () => lines().filter(({ msg }) => msg === 'a process is ready again').length;
    for (let round = 1; round <= KILLS.processes; round++) {
      process.kill(pid(1 + (round % 2)), 'SIGKILL');
      await eventually('health to say so', async () => {
        const { status, checks } = (await (await metrics('/healthz')).json()) as {
          readonly status: string;
          readonly checks: readonly { readonly name: string; readonly description: string }[];
        };
        seen.add(checks.find(({ name }) => name === 'processes')!.description);
        // A process may be back before it is missed.
        return status !== 'Healthy' || readyAgain() >= round;
      });
      await load.more(20);
      await restarted(round);
      await load.more(20);
    }
    await load.stop();
    await verify(t, { load, sql, accounts, node: { process: node } });
    t.true([...seen].some((description) => /are being started again/.test(description)));
    await eventually('health to be well again', async () => (await metrics('/healthz')).status === 200);
    const restarts = await (await metrics('/metrics')).text();
    t.regex(restarts, new RegExp(`^mansio_node_restarts_total\\{process="1"\\} ${KILLS.processes / 2}$`, 'm'));
    t.is(
      lines().filter(({ msg }) => msg === 'a process has ended by itself: it is started again').length,
      KILLS.processes,
    );
    t.log(load.summary());
    t.deepEqual(await node.stop(), { code: 0, signal: null });
  },
);

serialTestWith('nats-server')(
  'a process that is told to end drains and comes back, and no request fails meanwhile',
  async (t) => {
    t.timeout(600_000);
    const { node, sql, accounts, pid, restarted, load: begin, lines } = await startProcesses(t);
    const load = begin();
    await load.more(50);
    for (let round = 1; round <= 2; round++) {
      process.kill(pid(round), 'SIGTERM');
      await restarted(round);
      await load.more(30);
    }
    await load.stop();
    await verify(t, { load, sql, accounts, node: { process: node } });
    t.deepEqual(load.mail.temporary, [], 'mail was refused for now');
    t.deepEqual(load.mail.interrupted, [], 'connections broke in the middle of a message');
    t.deepEqual(
      [...load.calls.statuses.keys()].filter((status) => status >= 400),
      [],
    );
    t.log(load.summary());

    // A service manager or a terminal signals all processes; only the parent decides, and the processes drain in turn.
    for (const each of [pid(1), pid(2)]) process.kill(each, 'SIGTERM');
    t.deepEqual(await node.stop(), { code: 0, signal: null });
    const ends = lines().filter(({ msg, process }) => process !== undefined && /^stop(ping|ped)$/.test(msg));
    t.deepEqual(
      ends.slice(-4).map((line) => [line.process, line.msg]),
      [
        [1, 'stopping'],
        [1, 'stopped'],
        [2, 'stopping'],
        [2, 'stopped'],
      ],
    );
  },
);

for (const [kind, settings] of [
  ['of its own', {}],
  ['of a balancer', { MANSIO_PROXY_NETWORKS: '127.0.0.1/32' }],
] as const) {
  serialTestWith('nats-server')(
    `a process that drains answers the next request on each connection ${kind} that is kept`,
    async (t) => {
      t.timeout(600_000);
      const { accounts, pid, restarted, target, lines } = await startProcesses(t, settings);
      const url = `${target.http}/api/emails?pageSize=1`;
      const get = (agent: Agent) =>
        new Promise<string | undefined>((resolve, reject) => {
          const headers = { authorization: `Bearer ${accounts[0]!.key}` };
          const request = httpGet(url, { agent, headers }, (response) => {
            response.on('end', () => resolve(response.headers.connection ?? 'kept')).resume();
          });
          request.on('error', reject);
        });
      const stopping = () => lines().filter(({ process, msg }) => process === 1 && msg === 'stopping');
      /** Returns the answers of two requests on each connection; undefined when the first came too late for the drain. */
      const drained = async (round: number) => {
        // One process gets all connections by chance only once in 2 ** 23 runs.
        const agents = Array.from({ length: 24 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
        t.teardown(() => agents.map((agent) => agent.destroy()));
        t.deepEqual([...new Set(await Promise.all(agents.map(get)))], ['kept']);
        process.kill(pid(1), 'SIGTERM');
        await eventually('the process to drain', () => stopping().length === round);
        // This is enough for an idle process to hand over and stop.
        await delay(500);
        const answers = await Promise.all(agents.map(get).map((answer) => answer.catch(String)));
        const tookMs = Date.now() - Date.parse(String(stopping()[round - 1]!['time']));
        const next = await Promise.all(agents.map(get).map((answer) => answer.catch(String)));
        await restarted(round);
        return tookMs < DRAIN_MS ? [answers, next] : undefined;
      };
      let round = 0;
      const [answers, next] = (await eventually('a drain that the requests are in time for', () => drained(++round)))!;
      t.deepEqual([...new Set(answers)].toSorted(), ['close', 'kept'], 'connections of both');
      t.deepEqual([...new Set(next)], ['kept'], 'new ones are of the other process');
    },
  );
}

serialTestWith('nats-server')(
  'processes end with a parent that is killed, and the next parent has their ports',
  async (t) => {
    t.timeout(600_000);
    const http = await freePort();
    const first = await startProcesses(t, { MANSIO_HTTP_PORT: String(http) });
    const { node, accounts, target, nats } = first;
    const client = await SmtpClient.greeted(target.mx);
    t.is((await client.envelope('a@remote.test', accounts[0]!.email)).code, 354);
    const pids = [1, 2].map((process) => first.pid(process));
    const killed = node.kill('SIGKILL');
    // The message under way is still accepted.
    client.write('Subject: last words\r\n\r\ntext\r\n.\r\n');
    t.is((await client.reply()).code, 250);
    await killed;
    const second = await startTestNode({
      MANSIO_PROCESSES: '2',
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_HTTP_PORT: String(http),
      NATS_URL: nats,
      MANSIO_DATA_DIR: node.dataDir,
    });
    t.deepEqual(pids.filter(isAlive), [], 'processes outlived their parent');
    t.is(second.ready.nodeId, node.ready.nodeId);
    const inbox = await new MailboxClient(second, accounts[0]!.key).inbox();
    t.deepEqual(
      inbox.map(({ subject }) => subject),
      ['last words'],
    );
    t.deepEqual(await second.stop(), { code: 0, signal: null });
    // With fewer processes the directories of the others are removed.
    t.deepEqual(readdirSync(join(node.dataDir, 'processes')).sort(), ['1', '2']);
  },
);

serialTestWith('nats-server')('a process that cannot be started again ends the parent with the reason', async (t) => {
  t.timeout(600_000);
  const { node, pid, target } = await startProcesses(t);
  const directory = join(node.dataDir, 'processes', '2');
  const before = pid(2);
  // The directory is gone before the parent can start the next life.
  process.kill(before, 'SIGSTOP');
  rmSync(directory, { recursive: true });
  writeFileSync(directory, '');
  process.kill(before, 'SIGKILL');
  await eventually('the process to end', () => !isAlive(before));
  t.is((await fetch(`${target.http}/healthz`)).status, 200, 'the other one serves meanwhile');
  await eventually('the parent to end', () => !node.running);
  const fatal = node.logs.filter((line) => line.includes('"level":"fatal"')).map((line) => JSON.parse(line));
  t.is(fatal.length, 1);
  t.like(fatal[0], { process: 2, msg: 'a process cannot be started again: all of them are stopped' });
  t.regex(fatal[0].err.message, /process 2 has ended 9 times at its start; it said: cannot use the data directory/);
  t.is((await node.kill('SIGTERM')).code, 1);
});

serialTestWith('nats-server')('a start that fails says why once, and leaves no process', async (t) => {
  const nats = await startNatsServer();
  t.teardown(() => nats.kill());
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  for (const name of ['MANSIO_HTTP_PORT', 'MANSIO_MX_PORT', 'MANSIO_METRICS_PORT']) {
    const dataDir = await preparedDirectory('mansio-test-processes-');
    const settings = { MANSIO_PROCESSES: '2', NATS_URL: nats.url, [name]: String(port), MANSIO_DATA_DIR: dataDir };
    const error = await t.throwsAsync(startTestNode(settings), { instanceOf: NodeNotReady }, name);
    t.deepEqual(error?.exit, { code: 1, signal: null });
    const fatal = error!.logs.filter((line) => line.includes('"level":"fatal"'));
    t.is(fatal.length, 1, name);
    t.true(fatal[0]!.includes(`the port is in use; set ${name} to another`), fatal[0]);
    t.false(existsSync(join(dataDir, 'postgres', 'postmaster.pid')), 'the database is stopped');
  }
});

test('several processes need NATS', async (t) => {
  for (const processes of ['2', 'auto']) {
    const error = await t.throwsAsync(startTestNode({ MANSIO_PROCESSES: processes }), { instanceOf: NodeNotReady });
    t.is(error?.exit.code, 1);
    t.is(error?.logs.length, 1);
    t.regex(error!.logs[0]!, /MANSIO_PROCESSES=.*accepted: 1 while NATS_URL is not set/);
  }
});
