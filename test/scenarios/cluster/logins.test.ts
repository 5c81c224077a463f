// Tests that a cluster shares its login guard and TLS sessions: wrong credentials at one node count at the other, which still
// accepts the right one, and a TLS session of one node is resumed at the other.

import { TesterClient } from '../../../dev/imap-tester/tester-client.js';
import type { ClusterNode } from '../../../dev/local-node.js';
import { port } from '../../../dev/node-accounts.js';
import { testWith } from '../../support/test-with.js';
import { Conversation } from '../protocols/conversation.js';
import { rows } from '../protocols/rows.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const portOf = ({ process }: ClusterNode, name: string) => port(process, name);

async function logIn(node: ClusterNode, name: string, key: string): Promise<string> {
  const client = await TesterClient.open({ host: '127.0.0.1', port: portOf(node, 'imap') });
  const { completion } = await client.run(`LOGIN ${name} ${key}`);
  client.destroy();
  return completion.raw;
}

testWith('nats-server')(
  'nodes share failures and TLS sessions, and a right credential is let in at both',
  async (t) => {
    t.timeout(600_000);
    const settings = { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' };
    const cluster = await startCluster(t, { nodes: 2, accounts: 1, leaseTtlMs: PATIENT_TTL_MS, settings });
    const [first, second] = cluster.nodes as readonly [ClusterNode, ClusterNode];
    const { email, key } = cluster.accounts[0]!;
    const guesses = Array.from({ length: 21 }, (_, i) => logIn(first, `guessed${i}@example.test`, `guess-${i}`));
    t.deepEqual((await Promise.all(guesses)).filter((reply) => reply.includes('[LIMIT]')).length, 1);
    await eventually('the other node to know', async () =>
      (await logIn(second, 'guessed@example.test', 'guess')).includes('[LIMIT]'),
    );
    const imaps = rows.find(([name]) => name === 'imaps')![1];
    const socket = await Conversation.secured(imaps, portOf(first, 'imaps'));
    const session = await new Promise<Buffer>((resolve) => socket.once('session', resolve));
    t.true((await Conversation.secured(imaps, portOf(second, 'imaps'), { session })).isSessionReused());
    for (const node of [first, second]) t.regex(await logIn(node, email, key), / OK /);
  },
);
