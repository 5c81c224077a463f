// A rolling restart as an operator makes one: node after node is told to stop, ends by itself, is started, and the next one
// waits until it has its share.
import type { ExecutionContext } from 'ava';
import type { TestCluster } from './cluster.js';
import type { Load } from './load.js';

/** For `answerMs` of the load: no node hangs, and one that is slow on a busy machine has refused nothing. */
export const ROLLING_ANSWER_MS = 25_000;

/** A node that exceeds the time for a stop, or of whose processes one does, has another exit code. */
export async function roll(t: ExecutionContext, cluster: TestCluster, load: Load): Promise<void> {
  for (const node of cluster.nodes) {
    t.deepEqual(await node.stop(), { code: 0, signal: null }, `${node.name} did not stop cleanly`);
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
