// Wrong credentials at one node of a cluster: the other node knows of them, and lets in who has the right one.
import type { ClusterNode } from '../../dev/local-node.js';
import { TesterClient } from '../imap-tester/tester-client.js';
import { testWith } from '../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';

async function logIn(node: ClusterNode, name: string, key: string): Promise<string> {
  const [host, port] = node.process.ready.listeners['imap']!.split(':');
  const client = await TesterClient.open({ host: host!, port: Number(port) });
  const { completion } = await client.run(`LOGIN ${name} ${key}`);
  client.destroy();
  return completion.raw;
}

testWith('nats-server')('nodes share failures, and a right credential is let in at both', async (t) => {
  t.timeout(180_000);
  const settings = { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' };
  const cluster = await startCluster(t, { nodes: 2, accounts: 1, settings });
  const [first, second] = cluster.nodes as readonly [ClusterNode, ClusterNode];
  const { email, key } = cluster.accounts[0]!;
  const guesses = Array.from({ length: 21 }, (_, i) => logIn(first, `guessed${i}@example.test`, `guess-${i}`));
  t.deepEqual((await Promise.all(guesses)).filter((reply) => reply.includes('[LIMIT]')).length, 1);
  await eventually('the other node to know', async () =>
    (await logIn(second, 'guessed@example.test', 'guess')).includes('[LIMIT]'),
  );
  for (const node of [first, second]) t.regex(await logIn(node, email, key), / OK /);
});
