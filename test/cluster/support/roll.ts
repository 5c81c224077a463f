// A rolling restart as an operator makes one: node after node is told to stop, ends by itself, is started, and the next one
// waits until it has its share.
import type { ExecutionContext } from 'ava';
import type { TestCluster } from './cluster.js';
import type { Load } from './load.js';

/** What the stop of a process may take. */
const STOP_MS = 10_000;

/** `processes`: of each node, which stop one after the other. */
export async function roll(t: ExecutionContext, cluster: TestCluster, load: Load, processes = 1): Promise<void> {
  for (const node of cluster.nodes) {
    const began = performance.now();
    const exit = await node.stop();
    t.deepEqual(exit, { code: 0, signal: null }, `${node.name} did not stop cleanly`);
    t.true(
      performance.now() - began < STOP_MS * processes,
      `${node.name} took ${performance.now() - began} ms to stop`,
    );
    await cluster.settled();
    await load.more(20);
    await node.start();
    await cluster.settled();
    await load.more(20);
  }
}

/** Nobody was told to come again, or broken off: a goodbye between two messages is all there may have been. */
export function assertNothingRefused(t: ExecutionContext, { mail, calls }: Load): void {
  t.deepEqual(mail.temporary, [], 'mail was refused for now');
  t.deepEqual(mail.refused, [], 'mail was refused for good');
  t.is(mail.interrupted, 0, 'connections broke in the middle of a message');
  t.is(mail.unreachable, 0, 'connections were not taken');
  t.deepEqual(calls.failed, [], 'REST calls failed');
  t.deepEqual([...calls.statuses.keys()].sort(), [200, 204], 'REST calls were answered otherwise');
  t.deepEqual(calls.repeated, [], 'REST calls were repeated');
}
