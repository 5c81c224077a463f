// A node's embedded database that hangs: its processes are stopped (SIGSTOP), so connections stand and nothing is answered.
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { processesAt } from '../../src/store/process-identity.js';
import type { TestNode } from './node.js';

/** Stops the processes, until what is returned is called or the test ends. */
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
      // The node has stopped them meanwhile.
    }
  });
  return () => signal('SIGCONT');
}
