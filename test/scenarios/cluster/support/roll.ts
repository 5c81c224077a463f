// Does a rolling restart as an operator does: each node is told to stop, ends by itself and is started, perhaps with another version, and
// the next one waits until it has its share.
import type { ExecutionContext } from 'ava';
import type { TestCluster } from './cluster.js';
import type { Load } from './load.js';

/** In ms, as `answerMs` of the load: no node hangs, and a slow one on a busy machine has refused nothing. */
export const ROLLING_ANSWER_MS = 25_000;

/**
 * In ms, as `leaseTtlMs`: a node that a busy machine lets wait for some seconds keeps its mailboxes. The mailboxes of one that is killed are
 * taken over before, because its silence on the bus tells.
 */
export const PATIENT_TTL_MS = 9_000;

/** A node has another exit code when it, or one of its processes, takes too long to stop. `program`: the bin/mansio that is started. */
export async function roll(t: ExecutionContext, cluster: TestCluster, load: Load, program?: string): Promise<void> {
  for (const node of cluster.nodes) {
    t.deepEqual(await node.stop(), { code: 0, signal: null }, `${node.name} did not stop cleanly`);
    await cluster.settled();
    await load.more(20);
    await node.start({}, program);
    await cluster.settled();
    await load.more(20);
  }
}

/** No client was told to try again, and no connection was broken; only a goodbye between two messages is allowed. */
export function assertNothingRefused(t: ExecutionContext, { mail, calls }: Load): void {
  t.deepEqual(mail.temporary, [], 'mail was refused for now');
  t.deepEqual(mail.refused, [], 'mail was refused for good');
  t.deepEqual(mail.interrupted, [], 'connections broke in the middle of a message');
  t.deepEqual(mail.unreachable, [], 'connections were not taken');
  t.deepEqual(calls.failed, [], 'REST calls failed');
  t.deepEqual([...calls.statuses.keys()].sort(), [200, 204], 'REST calls were answered otherwise');
  t.deepEqual(calls.repeated, [], 'REST calls were repeated');
}
