// Tests the units: they fit where the program is, and systemd finds no fault in them.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { unitFor } from '../../../src/cli/setup/system-files.js';
import { PROGRAM } from '../../support/node.js';
import test from '../../support/test.js';

const UNIT = readFileSync('deploy/mansio.service', 'utf8');
const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
const isInstalled = analyze('--version').status === 0;
const withSystemd = isInstalled ? test : test.skip;

const lineOf = (text: string, name: string) => text.split('\n').find((line) => line.startsWith(`${name}=`));

test('a unit names the program and its Node.js where they are', (t) => {
  t.is(unitFor(UNIT, '/usr/local/bin/mansio', '/usr/bin/node'), UNIT);
  const own = unitFor(UNIT, '/opt/mansio/bin/mansio', '/opt/node/bin/node');
  t.is(lineOf(own, 'ExecStart'), 'ExecStart=/opt/node/bin/node /opt/mansio/bin/mansio serve');
  t.is(lineOf(own, 'ProtectHome'), 'ProtectHome=yes');
  const home = unitFor(UNIT, '/home/ann/mansio/bin/mansio', '/usr/bin/node');
  t.is(lineOf(home, 'ProtectHome'), 'ProtectHome=read-only');
  const backup = "ExecStart=/bin/sh -c 'mansio backup x'\n";
  t.is(
    unitFor(backup, '/opt/mansio/bin/mansio', '/usr/bin/node'),
    "ExecStart=/bin/sh -c '/opt/mansio/bin/mansio backup x'\n",
  );
});

withSystemd('systemd takes the units as they are, and says that they are hardened', (t) => {
  const directory = temporaryDirectory('mansio-units-');
  for (const name of readdirSync('deploy').filter((each) => /\.(?:service|timer)$/.test(each))) {
    const text = unitFor(readFileSync(join('deploy', name), 'utf8'), PROGRAM);
    writeFileSync(join(directory, name), text);
  }
  const units = readdirSync(directory).map((name) => join(directory, name));
  const { status, stdout, stderr } = analyze('verify', ...units);
  // An unknown key is a line of output and exit code 0; the user is made by setup.
  const lines = `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line.includes(directory) && !/[Uu]ser|mansio\.env/.test(line));
  t.deepEqual([status, lines], [0, []]);
  const security = analyze('security', '--offline=yes', '--threshold=25', join(directory, 'mansio.service'));
  t.is(security.status, 0, security.stdout.slice(-200));
});
