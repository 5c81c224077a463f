// Hangs a node's embedded database: its processes are stopped (SIGSTOP), so connections stay open and nothing is answered.
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { processesAt } from '../../../src/store/local/process-identity.js';
import type { TestNode } from '../node.js';

/** Stops the processes until the returned function is called or the test ends. */
export function hangDatabase(t: ExecutionContext, { dataDir }: Pick<TestNode, 'dataDir'>): () => void {
  const processes = processesAt(join(dataDir, 'postgres'));
  t.true(processes.length > 5);
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of processes) process.kill(pid, name);
  };
  signal('SIGSTOP');
  t.teardown(() => {
    try {
      signal('SIGCONT');
    } catch {
      // The node has stopped the database meanwhile.
    }
  });
  return () => signal('SIGCONT');
}
