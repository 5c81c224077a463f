// Tests which store a command uses, and where settings come from: the program runs as a process, as for an operator.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as tls from 'node:tls';
import { TLSSocket } from 'node:tls';
import pino from 'pino';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { selfSigned } from '../../src/node/tls/tls-certificate.js';
import { findPostmaster } from '../../src/store/embedded/postmaster.js';
import { identityOf } from '../../src/store/local/process-identity.js';
import { preparedDirectory } from '../support/database/prepared-cluster.js';
import { bareEnvironment, PROGRAM, startTestNode } from '../support/node.js';
import { runProgram } from '../support/run-program.js';
import test from '../support/test.js';
import { until } from '../support/until.js';

/** In ms. A program that loops for ever is ended, and has no status; a busy machine may need minutes for a database. */
const HANGS_MS = 300_000;

const mansio = (args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, ['--', PROGRAM, ...args], {
    env: { ...bareEnvironment(), ...env },
    encoding: 'utf8',
    timeout: HANGS_MS,
  });

test('a command makes no store by accident', (t) => {
  const dataDir = temporaryDirectory('mansio-test-cli-store-');
  const env = { MANSIO_DATA_DIR: dataDir };
  for (const args of [['account', 'list'], ['cluster', 'status'], ['migrate'], ['domain', 'add', 'a.test']]) {
    const { status, stdout, stderr } = mansio([...args, '--json'], env);
    t.deepEqual([status, stdout], [1, '']);
    t.regex(stderr, /^error: there is no store in \S+: give the command the settings of its node [^\n]*--create\n$/);
  }
  t.false(existsSync(join(dataDir, 'postgres')));
  const made = mansio(['domain', 'add', 'a.test', '--create'], env);
  t.is(made.status, 0, made.stderr);
  t.is(made.stderr, `(store: embedded, in ${dataDir})\n`);
  const listed = mansio(['domain', 'list', '--json'], env);
  t.is(JSON.parse(listed.stdout)[0].name, 'a.test');
  t.is(listed.stderr, '');
});

test('a store that is closed to the user is not called missing', (t) => {
  const dataDir = temporaryDirectory('mansio-test-cli-store-');
  mkdirSync(join(dataDir, 'postgres'), { mode: 0o000 });
  // Root enters every directory, unless these capabilities are removed.
  const [command, ...before] =
    process.getuid?.() === 0
      ? (['setpriv', '--bounding-set=-dac_override,-dac_read_search', process.execPath] as const)
      : ([process.execPath] as const);
  for (const create of [[], ['--create']]) {
    const env = { ...bareEnvironment(), MANSIO_DATA_DIR: dataDir };
    const { status, stderr } = spawnSync(command, [...before, PROGRAM, 'account', 'list', ...create], {
      env,
      encoding: 'utf8',
      timeout: HANGS_MS,
    });
    t.is(
      stderr,
      `error: the store in ${dataDir} is closed to this user: run the command as the user who runs the node, or as root\n`,
    );
    t.is(status, 1);
  }
});

// The test runs alone: others block the event loop while they wait for programs.
test.serial('a command that is interrupted leaves no database running', async (t) => {
  const dataDir = temporaryDirectory('mansio-test-cli-store-');
  const env = { ...bareEnvironment(), MANSIO_DATA_DIR: dataDir };
  const command = spawn(process.execPath, [PROGRAM, 'migrate', '--create'], { env, stdio: 'ignore' });
  const ended = once(command, 'exit');
  let database: ReturnType<typeof findPostmaster>;
  while (database?.ready !== true && command.exitCode === null) {
    await delay(5);
    // The command may have ended since the last look.
    database = findPostmaster(join(dataDir, 'postgres')) ?? database;
  }
  command.kill('SIGINT');
  await ended;
  t.truthy(database);
  await until(() => identityOf(database!.pid) === undefined);
});

test('settings may stand in a file, and the environment wins', async (t) => {
  const dataDir = temporaryDirectory('mansio-test-env-file-');
  const file = join(dataDir, 'mansio.env');
  writeFileSync(
    file,
    `# of the service\nMANSIO_DATA_DIR="${dataDir}"\nMANSIO_HTTP_PORT=9999\nMANSIO_LOG_LEVEL=debug\n`,
  );
  const config = mansio(['config', '--json', '--env-file', file], { MANSIO_LOG_LEVEL: 'warn' });
  const row = (name: string) => JSON.parse(config.stdout).find((each: { name: string }) => each.name === name);
  t.deepEqual(row('MANSIO_HTTP_PORT'), { name: 'MANSIO_HTTP_PORT', value: '9999', source: 'env file' });
  t.like(row('MANSIO_LOG_LEVEL'), { value: 'warn', source: 'environment' });
  t.like(row('MANSIO_DATA_DIR'), { value: dataDir });
});

test('authorities of an env file are trusted, or a line says that this version of Node.js cannot add them', async (t) => {
  const directory = temporaryDirectory('mansio-test-env-file-');
  const files = await selfSigned(directory, 'localhost', pino({ level: 'silent' }));
  const [key, cert] = [readFileSync(files.key), readFileSync(files.cert)];
  let isTrusted = false;
  // A PostgreSQL as far as TLS.
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        socket.write('S');
        const secured = new TLSSocket(socket, { isServer: true, key, cert });
        secured
          .on('error', () => undefined)
          .once('data', () => {
            isTrusted = true;
            // Without an error the command would try again.
            const fields = Buffer.from('SFATAL\0C28000\0Mrefused by the test\0\0');
            const length = Buffer.alloc(4);
            length.writeInt32BE(4 + fields.length);
            secured.end(Buffer.concat([Buffer.from('E'), length, fields]));
          });
      });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const file = join(directory, 'mansio.env');
  const url = `postgres://mansio@localhost:${(server.address() as AddressInfo).port}/mansio?sslmode=verify-full`;
  writeFileSync(file, `DATABASE_URL=${url}\nMANSIO_DATA_DIR=${directory}\nNODE_EXTRA_CA_CERTS=${files.cert}\n`);
  const args = ['--', PROGRAM, 'domain', 'list', '--env-file', file];
  const { code, output } = await runProgram(process.execPath, args, '', { NODE_EXTRA_CA_CERTS: '' });
  t.is(code, 1);
  const isAble = 'setDefaultCACertificates' in tls;
  t.is(isTrusted, isAble, output);
  t.is(/^NODE_EXTRA_CA_CERTS of \S+ has no effect/m.test(output), !isAble, output);
});

test('an env file that is missing is one sentence with the name of the option, of the program behind a link too', (t) => {
  const none = join(temporaryDirectory('mansio-test-env-file-'), 'none');
  const link = join(temporaryDirectory('mansio-test-env-file-'), 'mansio');
  symlinkSync(PROGRAM, link);
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
  for (const args of [
    ['config', '--env-file', none],
    ['serve', `--env-file=${none}`],
  ]) {
    // A shell starts it in this way: Node 20 would also look for the option after the program.
    const env = { ...bareEnvironment(), PATH: path };
    const { status, stdout, stderr } = spawnSync(link, args, { env, encoding: 'utf8', timeout: HANGS_MS });
    t.deepEqual([status, stdout], [1, '']);
    t.is(stderr, `error: --env-file ${none}: there is no such file or directory\n`);
  }
});

test('commands and the node take the same file', async (t) => {
  const node = await startTestNode({ MANSIO_DATA_DIR: await preparedDirectory('mansio-test-cli-store-') });
  const file = join(node.dataDir, 'mansio.env');
  writeFileSync(file, `MANSIO_DATA_DIR=${node.dataDir}\n`);
  const { status, stdout, stderr } = mansio(['domain', 'list', '--env-file', file]);
  t.is(status, 0, stderr);
  t.regex(stdout, /example\.test/);
  t.is(stderr, `(store: embedded, in ${node.dataDir})\n`);
  await node.stop();
});

test('a data directory that cannot be made is one sentence', (t) => {
  for (const [path, why] of [
    ['/proc/mansio', /the system makes no directory there/],
    ['/dev/null/x', /not a directory|MANSIO_DATA_DIR/],
  ] as const) {
    const { status, stderr, stdout } = mansio(['serve'], { MANSIO_DATA_DIR: path, MANSIO_HTTP_PORT: '0' });
    t.is(status, 1, path);
    t.regex(`${stdout}${stderr}`, why);
    t.notRegex(`${stdout}${stderr}`, /\n\s+at /);
  }
});
