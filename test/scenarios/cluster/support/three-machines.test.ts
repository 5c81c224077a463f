// Tests that the files of deploy/three-machines are ones that their programs take, and that wrong values are one sentence.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { requireProgram } from '../../../../dev/executables.js';
import { temporaryDirectory } from '../../../../dev/temporary-directory.js';
import { readConfig } from '../../../../src/node/config/config.js';
import { runProgram } from '../../../support/run-program.js';
import test from '../../../support/test.js';
import { testWith } from '../../../support/test-with.js';
import { installThreeMachines } from './three-machines.js';

/** What Patroni says of servers that do not run or are on loopback, and of parts that nobody has to set. */
const USUAL =
  /is not reachable|must not contain "127|^(bootstrap\.pg_hba|postgresql\.authentication\.rewind) +is not defined|^$/;

testWith('openssl')('the settings of a node are ones that Mansio knows', async (t) => {
  for (const { name, directory } of await installThreeMachines()) {
    const config = readConfig(parseEnv(readFileSync(join(directory, 'etc/mansio/mansio.env'), 'utf8')));
    t.deepEqual(config.unknown, []);
    t.is(config.nodeId, name);
    for (const path of readdirSync(join(directory, 'etc'), { recursive: true, withFileTypes: true }))
      if (path.isFile())
        t.notRegex(readFileSync(join(path.parentPath, path.name), 'utf8'), /@[A-Z_]+@(?! stands)/, path.name);
  }
});

testWith('openssl', 'haproxy')('HAProxy takes its file', async (t) => {
  const [machine] = await installThreeMachines();
  const args = ['-c', '-f', join(machine!.directory, 'etc/haproxy/haproxy.cfg')];
  const { code, output } = await runProgram(requireProgram('haproxy'), args);
  t.is(code, 0, output);
});

testWith('openssl', 'nats-server')('nats-server takes its file', async (t) => {
  const [machine] = await installThreeMachines();
  const args = ['-t', '-c', join(machine!.directory, 'etc/nats-server.conf')];
  const { code, output } = await runProgram(requireProgram('nats-server'), args);
  t.is(code, 0, output);
});

testWith('openssl', 'patroni')('Patroni takes its file', async (t) => {
  const [machine] = await installThreeMachines();
  const { output } = await runProgram(requireProgram('patroni'), ['--validate-config', machine!.config]);
  t.deepEqual(
    output.split('\n').filter((line) => !USUAL.test(line)),
    [],
  );
});

test('values that are missing or wrong are named, and nothing is written', async (t) => {
  const [folder, prefix] = [temporaryDirectory('mansio-values-'), temporaryDirectory('mansio-prefix-')];
  const install = () => runProgram('sh', ['deploy/three-machines/install.sh', folder, prefix]);
  const values = readFileSync('deploy/three-machines/cluster.env', 'utf8');
  writeFileSync(join(folder, 'cluster.env'), values);
  t.deepEqual(await install(), { code: 1, output: 'cluster.env has no POSTGRES_PASSWORD\n' });
  writeFileSync(
    join(folder, 'cluster.env'),
    values.replaceAll(/PASSWORD=$/gm, 'PASSWORD=x').replace('=node-1', '=mail'),
  );
  t.deepEqual(await install(), { code: 1, output: 'NODE is node-1, node-2 or node-3, not mail\n' });
  t.deepEqual(readdirSync(prefix), []);
});
