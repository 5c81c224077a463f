import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createAccount, storeOf } from '../../dev/node-accounts.js';
import { freePort } from '../../dev/ports.js';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { whenGone } from '../../dev/watchdog.js';
import { findEmbedded } from '../../src/store/embedded/embedded.js';
import { findPostmaster } from '../../src/store/embedded/postmaster.js';
import { connect as connectDatabase } from '../../src/store/postgres/driver/client.js';
import { SmtpClient } from '../support/clients/smtp-client.js';
import { testDatabase } from '../support/database/embedded-database.js';
import { preparedDirectory } from '../support/database/prepared-cluster.js';
import { bareEnvironment, NodeNotReady, PROGRAM, startTestNode } from '../support/node.js';
import test from '../support/test.js';
import { until } from '../support/until.js';

const mansio = (args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, ['--', PROGRAM, ...args], { env: { ...bareEnvironment(), ...env }, encoding: 'utf8' });

test('a node says when it is ready, stops cleanly, and keeps its name', async (t) => {
  const first = await startTestNode({ MANSIO_DATA_DIR: temporaryDirectory('mansio-test-first-') });
  t.is(first.ready.event, 'ready');
  t.is(first.logs.filter((line) => line.includes('"ready"')).length, 1);
  t.deepEqual(await first.stop(), { code: 0, signal: null });
  t.is(findEmbedded(first.dataDir), undefined);

  const second = await startTestNode({ MANSIO_DATA_DIR: first.dataDir });
  t.is(second.ready.nodeId, first.ready.nodeId);
  t.deepEqual(await second.kill('SIGINT'), { code: 0, signal: null });
});

test('SIGTERM reaches the node through the shell that npm start runs it in', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const ports = {
    MANSIO_HTTP_PORT: '0',
    MANSIO_MX_PORT: '0',
    MANSIO_SUBMISSION_PORT: '0',
    MANSIO_SUBMISSIONS_PORT: '0',
    MANSIO_IMAP_PORT: '0',
    MANSIO_IMAPS_PORT: '0',
    MANSIO_POP3_PORT: '0',
    MANSIO_POP3S_PORT: '0',
    MANSIO_SIEVE_PORT: '0',
  };
  const env = { ...bareEnvironment(), ...ports, MANSIO_DATA_DIR: temporaryDirectory('mansio-test-start-') };
  const shell = spawn('sh', ['-c', scripts.start], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const callOff = whenGone('kill -9 "$1" 2>/dev/null', String(shell.pid));
  let said = '';
  for await (const chunk of shell.stdout) {
    said += chunk;
    if (said.includes('"event":"ready"') && !shell.killed) shell.kill('SIGTERM');
  }
  if (shell.exitCode === null && shell.signalCode === null) await once(shell, 'exit');
  callOff();
  t.deepEqual([shell.exitCode, shell.signalCode], [0, null]);
  t.regex(said, /"msg":"stopped"/);
});

test('a node that was killed leaves what the next start puts right', async (t) => {
  const first = await startTestNode({ MANSIO_DATA_DIR: await preparedDirectory('mansio-test-killed-') });
  t.deepEqual(await first.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
  t.truthy(findEmbedded(first.dataDir), 'its database outlives it');
  const second = await startTestNode({ MANSIO_DATA_DIR: first.dataDir });
  t.is(second.ready.nodeId, first.ready.nodeId);
  t.deepEqual(await second.stop(), { code: 0, signal: null });
});

test('a message in DATA has 3 s after SIGTERM, who is idle is told to go, and slow peers do not make the stop fail', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_LOG_LEVEL: 'debug' });
  const { mx, submission, http } = node.ready.listeners;
  const [idle, slow] = [await SmtpClient.greeted(mx!), await SmtpClient.greeted(mx!)];
  t.is((await slow.envelope('', 'a@example.test')).code, 354);
  slow.write('Subject: x\r\n');
  const login = await SmtpClient.greeted(submission!);
  const request = connect({ port: Number(http!.replace(/.*:/, '')), host: '127.0.0.1' });
  request.on('error', () => {});
  request.write('POST /api/outbound/send HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
  const stopped = node.stop();
  const said = await Promise.all([idle, login, slow].map((client) => client.rest()));
  for (const replies of said)
    t.deepEqual(
      replies.map(({ code, text }) => `${code} ${text.slice(0, 5)}`),
      ['421 4.3.2'],
    );
  t.deepEqual(await stopped, { code: 0, signal: null });
  const parts = node.logs.flatMap((line) => (line.includes('"part":"listeners"') ? [JSON.parse(line)] : []));
  t.is(parts.length, 1);
  t.true(parts[0].ms >= 2950, `the listeners were given ${parts[0].ms} ms`);
  request.destroy();
});

test('name servers that do not answer do not make the stop fail', async (t) => {
  const dns = createSocket('udp4').bind(0, '127.0.0.1');
  t.teardown(() => dns.close());
  await once(dns, 'listening');
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_OUTBOUND_DNS: `127.0.0.1:${dns.address().port}`,
  });
  const sql = await storeOf(node);
  const { key } = await createAccount(sql, 'a@example.test');
  await sql.end();
  const response = await fetch(`http://${node.ready.listeners['http']}/api/outbound/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      fromAddress: 'a@example.test',
      subject: 's',
      textBody: 't',
      recipients: [{ address: 'b@elsewhere.test', type: 'To' }],
    }),
  });
  t.is(response.status, 200, await response.text());
  await once(dns, 'message');
  t.deepEqual(await node.stop(), { code: 0, signal: null });
});

test('a second signal ends a node that hangs at once', async (t) => {
  const node = await startTestNode({ MANSIO_DATA_DIR: await preparedDirectory('mansio-test-hung-') });
  const postmaster = findPostmaster(join(node.dataDir, 'postgres'))!.pid;
  process.kill(postmaster, 'SIGSTOP');
  const exited = node.stop();
  await until(() => node.logs.some((line) => line.includes('"stopping"')));
  process.kill(node.pid, 'SIGTERM');
  t.deepEqual(await exited, { code: 143, signal: null });
  // The database was told to end, and ends by itself.
  process.kill(postmaster, 'SIGCONT');
  await until(() => findPostmaster(join(node.dataDir, 'postgres')) === undefined);
});

test('a data directory in use is refused with one message and no stack', async (t) => {
  const node = await startTestNode();
  const error = await t.throwsAsync(startTestNode({ MANSIO_DATA_DIR: node.dataDir }), { instanceOf: NodeNotReady });
  t.deepEqual(error?.exit, { code: 1, signal: null });
  const fatal = error!.logs.map((line) => JSON.parse(line)).filter(({ level }) => level === 'fatal');
  t.is(fatal.length, 1);
  t.regex(fatal[0].msg, /in use by another running Mansio/);
  t.is(fatal[0].err, undefined);
  await node.stop();
});

test('a store of 0.1.0 is refused with one line that says how its mail is moved', async (t) => {
  const { address } = await testDatabase(t);
  const { user, host, port, database } = address as Record<string, unknown>;
  const sql = connectDatabase(address, { max: 1, applicationName: 'test' });
  await sql`create table schema_migrations (name text primary key, checksum text not null, applied_at timestamptz)`;
  await sql`insert into schema_migrations values ('0001_engine', '', now())`;
  await sql.end();
  const url = `postgres://${user}@${host}:${port}/${database}`;
  const error = await t.throwsAsync(startTestNode({ DATABASE_URL: url }), { instanceOf: NodeNotReady });
  t.deepEqual(error?.exit, { code: 1, signal: null });
  const fatal = error!.logs.map((line) => JSON.parse(line)).filter(({ level }) => level === 'fatal');
  t.is(fatal.length, 1);
  t.regex(fatal[0].msg, /of Mansio 0\.1\.0: export .* import /);
  t.is(fatal[0].err, undefined);
});

test('a wrong configuration and a database that is away end the start', async (t) => {
  const wrong = { MANSIO_HTTP_PORT: 'x', MANSIO_SHARDS: '0' };
  const config = await t.throwsAsync(startTestNode(wrong), { instanceOf: NodeNotReady });
  t.is(config?.exit.code, 1);
  t.is(config?.logs.length, 1);
  for (const name of Object.keys(wrong)) t.true(config?.logs[0]?.includes(name));

  const url = `postgres://u:hunter2@127.0.0.1:${await freePort()}/d`;
  const away = await t.throwsAsync(startTestNode({ DATABASE_URL: url }), { instanceOf: NodeNotReady });
  t.is(away?.exit.code, 1);
  t.is(away?.logs.length, 1);
  t.regex(away!.logs[0]!, /database unavailable/);
  t.false(away?.message.includes('hunter2'));
});

test('HTTP and metrics stay on loopback when the mail ports are opened, and a line says so', async (t) => {
  const metrics = String(await freePort());
  const node = await startTestNode({ MANSIO_BIND: '0.0.0.0', MANSIO_METRICS_PORT: metrics });
  const { http, metrics: scraped, ...mail } = node.ready.listeners;
  t.regex(http!, /^127\.0\.0\.1:/);
  t.is(scraped, `127.0.0.1:${metrics}`);
  t.is(Object.keys(mail).length, 8);
  for (const [name, address] of Object.entries(mail)) t.regex(address, /^0\.0\.0\.0:/, name);
  const lines = node.logs.filter((line) => line.includes('MANSIO_HTTP_BIND')).map((line) => JSON.parse(line));
  t.deepEqual(
    lines.map(({ level, http: said }) => [level, said]),
    [['info', http]],
  );
  await node.stop();
});

test('variables of nobody are named in one warning', async (t) => {
  const node = await startTestNode({ MANSIO_HTP_PORT: '1' });
  t.is(node.logs.filter((line) => line.includes('MANSIO_HTP_PORT')).length, 1);
  await node.stop();
});

test('the config command shows values or names what is wrong', (t) => {
  const dataDir = temporaryDirectory('mansio-config-');
  const shown = mansio(['config', '--json'], { MANSIO_DATA_DIR: dataDir });
  t.is(shown.status, 0);
  const rows: { name: string; value: string; source: string }[] = JSON.parse(shown.stdout);
  t.deepEqual(rows.find(({ name }) => name === 'MANSIO_DATA_DIR')?.value, dataDir);
  t.true(mansio(['config']).stdout.includes('MANSIO_BIND'));

  const wrong = mansio(['config'], { MANSIO_BIND: 'x' });
  t.is(wrong.status, 1);
  t.is(wrong.stdout, '');
  t.regex(wrong.stderr, /^mansio: .*MANSIO_BIND="x".*\n$/);
  for (const args of [['nothing'], ['account'], ['serve', 'extra']]) {
    const { status, stdout, stderr } = mansio(args);
    t.is(status, 1);
    t.is(stdout, '');
    t.regex(stderr, /^error: [^\n]+\n$/);
  }
  t.is(mansio(['--help']).status, 0);
});
