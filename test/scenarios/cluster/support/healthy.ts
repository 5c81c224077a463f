// Polls /healthz of every node, as balancers do, but believes a single answer.
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { ClusterNode } from '../../../../dev/local-node.js';

const LOOK_MS = 200;
/** No node hangs, and a slow one on a busy machine is well: else all seem unwell, and one that drains stays among the targets. */
const ANSWER_MS = 10_000;
/** An answer that was asked for before this time, in ms, tells nothing: a node that drains takes connections for 2.5 s. */
const FRESH_MS = 2_000;

/** Returns the nodes whose last answer was healthy, without those that have not answered lately; never none. Polls until the end of the test. */
export async function healthyOnes(
  t: ExecutionContext,
  nodes: readonly ClusterNode[],
): Promise<() => readonly ClusterNode[]> {
  const well = new Set<ClusterNode>();
  let healthy = nodes;
  let isOver = false;
  t.teardown(() => {
    isOver = true;
  });
  const askedAt = new Map<ClusterNode, number>();
  const look = async (node: ClusterNode) => {
    const now = performance.now();
    if (await isWell(node)) well.add(node);
    else well.delete(node);
    askedAt.set(node, now);
    if (well.size > 0) healthy = nodes.filter((each) => well.has(each));
  };
  // Each node is polled by itself: a slow one does not hide that another stops.
  const watch = async (node: ClusterNode) => {
    while (!isOver) {
      await delay(LOOK_MS);
      await look(node);
    }
  };
  await Promise.all(nodes.map(look));
  for (const node of nodes) void watch(node);
  return () => {
    const fresh = healthy.filter((node) => performance.now() - askedAt.get(node)! < FRESH_MS);
    return fresh.length > 0 ? fresh : healthy;
  };
}

async function isWell({ http }: ClusterNode): Promise<boolean> {
  try {
    const reply = await fetch(`${http}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    await reply.text();
    return reply.status === 200;
  } catch {
    return false;
  }
}
