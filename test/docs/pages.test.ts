// Checks that the generated pages of docs/ match the code, and the page of metrics what a node exports.
import { readFileSync } from 'node:fs';
import { declaredByParents, METRICS_PAGE } from '../../dev/docs/metrics-page.js';
import { PAGES } from '../../dev/docs/pages.js';
import { freePort } from '../../dev/ports.js';
import { describeConfig } from '../../src/node/config/config.js';
import { connectionsOf } from '../../src/node/resources.js';
import { startTestNode } from '../support/node.js';
import { parseMetrics } from '../support/prometheus-text.js';
import test from '../support/test.js';

for (const { path, made } of PAGES) {
  test(`${path} is what the code gives (npm run docs writes it)`, (t) => {
    t.is(readFileSync(path, 'utf8'), made());
  });
}

test('docs/configuration.md has every variable that `mansio config` prints, and no other', (t) => {
  const rows = readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `([A-Z_0-9]+)` \|/gm);
  t.deepEqual(
    Array.from(rows, ([, name]) => name),
    describeConfig({}).map(({ name }) => name),
  );
});

/** Name → [type, labels, help] of the rows of the page. */
function documented(): Map<string, readonly [type: string, labels: readonly string[], help: string]> {
  const rows = readFileSync(METRICS_PAGE, 'utf8').matchAll(/^\| `(mansio_\w+)` \| (\w+) \| (.*?) \| (.*) \|$/gm);
  return new Map(
    Array.from(rows, ([, name, type, labels, help]) => [
      name!,
      [type!, Array.from(labels!.matchAll(/`(\w+)`/g), ([, label]) => label!), help!],
    ]),
  );
}

test('docs/metrics.md has every family that a node of all roles or a parent of processes exports, and no other', async (t) => {
  const port = await freePort();
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_METRICS_PORT: String(port) });
  const exported = parseMetrics(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  t.is((await node.stop()).code, 0);
  const rows = documented();
  const ofParents = declaredByParents().map(({ name }) => name);
  t.deepEqual([...exported.keys(), ...ofParents].sort(), [...rows.keys()].sort());
  for (const [name, { type, help, samples }] of exported) {
    const [documentedType, labels, documentedHelp] = rows.get(name)!;
    t.deepEqual([documentedType, documentedHelp], [type, help], name);
    const seen = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    seen.delete('le');
    for (const label of seen) t.true(labels.includes(label), `${name}: ${label}`);
  }
});

test('docs/cluster.md and docs/operations.md say how many connections nodes keep to the database', (t) => {
  const page = (name: string) => readFileSync(`docs/${name}`, 'utf8').replaceAll(/\s+/g, ' ');
  const [one, two, four, eight] = [1, 2, 4, 8].map(connectionsOf);
  const further = connectionsOf(21) - connectionsOf(20);
  const several = `a single node opens up to ${one} connections, two processes together ${two}, four ${four}, eight ${eight}, and ${further} for each further one`;
  t.true(page('cluster.md').includes(several), several);
  t.true(page('cluster.md').includes(`up to ${one} connections per node`));
  t.true(page('operations.md').includes(`A node opens up to ${one} connections`));
});
