// Tests a configured domain without DKIM keys: a node warns until `mansio domain add` has made them while it runs.

import { mansio } from '../../support/command.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

interface Health {
  readonly status: string;
  readonly checks: readonly { readonly name: string; readonly status: string }[];
}

test('a node warns at the start and in health of domains without keys, until domain add has made them', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  const health = async () => {
    const response = await fetch(`http://${node.ready.listeners['http']}/healthz`);
    const { status, checks } = (await response.json()) as Health;
    return [response.status, status, checks.find(({ name }) => name === 'signing')?.status];
  };
  t.deepEqual(await health(), [200, 'Degraded', 'Degraded']);
  const warnings = node.logs.filter((line) => line.includes('leaves unsigned')).map((line) => JSON.parse(line));
  t.is(warnings.length, 1);
  t.like(warnings[0], { level: 'warn', domains: ['example.test'], count: 1 });
  const added = JSON.parse((await mansio(node.dataDir, ['domain', 'add', 'example.test', '--json'])).stdout);
  t.deepEqual([added.added, added.dkim.length], [false, 2]);
  await eventually('health to be good', async () => (await health()).join() === '200,Healthy,Healthy');
  t.is((await node.stop()).code, 0);

  const demo = await startTestNode({ MANSIO_DATA_DIR: await preparedDirectory('mansio-demo-') });
  const { status, checks } = (await (await fetch(`http://${demo.ready.listeners['http']}/healthz`)).json()) as Health;
  t.is(status, 'Healthy');
  t.false(checks.some(({ name }) => name === 'signing'));
  t.false(demo.logs.some((line) => line.includes('leaves unsigned')));
  t.is((await demo.stop()).code, 0);
});
