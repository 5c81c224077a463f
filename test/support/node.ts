// A whole node for tests: `bin/mansio serve` as a process of its own, on free ports and a temporary data directory.
import { registerCompletionHandler } from 'ava';
import { type NodeProcess, startNodeProcess, UNLIMITED } from '../../dev/node-process.js';
import { preparedDirectory } from './prepared-cluster.js';

export { bareEnvironment, NodeNotReady, PROGRAM } from '../../dev/node-process.js';

export type TestNode = NodeProcess;

const nodes: TestNode[] = [];

// One that a failed test has not stopped would keep the test process from ending.
registerCompletionHandler(() => {
  for (const node of nodes) if (node.running) node.signal('SIGKILL');
});

/** `settings` over free ports and a data directory with a database that has the schema. @throws NodeNotReady */
export async function startTestNode(settings: Readonly<Record<string, string>> = {}): Promise<TestNode> {
  const dataDir = settings['MANSIO_DATA_DIR'] ?? (await preparedDirectory('mansio-test-node-'));
  const node = await startNodeProcess({
    ...UNLIMITED,
    MANSIO_HTTP_PORT: '0',
    MANSIO_MX_PORT: '0',
    MANSIO_SUBMISSION_PORT: '0',
    MANSIO_SUBMISSIONS_PORT: '0',
    MANSIO_IMAP_PORT: '0',
    MANSIO_IMAPS_PORT: '0',
    MANSIO_POP3_PORT: '0',
    MANSIO_POP3S_PORT: '0',
    ...settings,
    MANSIO_DATA_DIR: dataDir,
  });
  nodes.push(node);
  return node;
}
