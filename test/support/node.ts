// A whole node for tests: `bin/mansio serve` as its own process, on free ports and a temporary data directory, with its own database in the
// server of the run. A test of the embedded database passes `MANSIO_DATA_DIR: await preparedDirectory(…)`.
import { registerCompletionHandler } from 'ava';
import { type NodeProcess, startNodeProcess, UNLIMITED } from '../../dev/node-process.js';
import type { Program } from '../../dev/program.js';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { nodeDatabase } from './database/embedded-database.js';
import { giveCertificate } from './database/prepared-cluster.js';
import { patiently } from './patience.js';

export { bareEnvironment, NodeNotReady, PROGRAM } from '../../dev/node-process.js';

export type TestNode = NodeProcess;

/** In ms, as MANSIO_LEASE_TTL_MS: a node that a busy machine lets wait for some seconds goes on with its mailboxes, and refuses nobody. */
const PATIENT_TTL_MS = 10_000;
/** In ms. A node that is not ready by then never will be. */
const START_MS = 480_000;

const nodes: TestNode[] = [];
/** The databases, by the data directories that were made here. */
const databases = new Map<string, Awaited<ReturnType<typeof nodeDatabase>>>();

// A node that a failed test has not stopped would keep the test process alive.
registerCompletionHandler(() => {
  for (const node of nodes) if (node.running) node.signal('SIGKILL');
  for (const { drop } of databases.values()) void drop().catch(() => undefined);
});

/** Creates a data directory whose nodes, one after the other, share one database of the run's server. */
export async function nodeDirectory(prefix = 'mansio-test-node-'): Promise<string> {
  const dataDir = temporaryDirectory(prefix);
  await giveCertificate(dataDir);
  databases.set(dataDir, await nodeDatabase());
  return dataDir;
}

/** Returns the settings by which a node, or a command, finds the data of the directory. */
export function storeSettings(dataDir: string): Record<string, string> {
  const database = databases.get(dataDir);
  return { MANSIO_DATA_DIR: dataDir, ...(database === undefined ? {} : { DATABASE_URL: database.url }) };
}

/**
 * `settings` override free ports and a data directory with a database that has the schema. @throws NodeNotReady, and another error when it is
 * not ready in eight minutes
 */
export async function startTestNode(settings: Readonly<Record<string, string>> = {}): Promise<TestNode> {
  const dataDir = settings['MANSIO_DATA_DIR'] ?? (await nodeDirectory());
  let program: Program | undefined;
  const all = {
    ...UNLIMITED,
    MANSIO_LEASE_TTL_MS: String(PATIENT_TTL_MS),
    MANSIO_HTTP_PORT: '0',
    MANSIO_MX_PORT: '0',
    MANSIO_SUBMISSION_PORT: '0',
    MANSIO_SUBMISSIONS_PORT: '0',
    MANSIO_IMAP_PORT: '0',
    MANSIO_IMAPS_PORT: '0',
    MANSIO_POP3_PORT: '0',
    MANSIO_POP3S_PORT: '0',
    MANSIO_SIEVE_PORT: '0',
    ...storeSettings(dataDir),
    ...settings,
    MANSIO_DATA_DIR: dataDir,
  };
  const starting = startNodeProcess(all, (spawned) => {
    program = spawned;
  });
  try {
    const node = await patiently(starting, () => `a node to be ready:\n${program?.logs.join('\n')}`, START_MS);
    nodes.push(node);
    return node;
  } catch (error) {
    if (program?.running === true) void program.kill('SIGKILL');
    throw error;
  }
}
