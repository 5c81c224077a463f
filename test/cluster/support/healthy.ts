// Looks at /healthz of every node, as balancers do, but goes by the first answer.
import type { ExecutionContext } from 'ava';
import type { ClusterNode } from '../../../dev/local-node.js';

const LOOK_MS = 200;
const ANSWER_MS = 1_000;

/** The nodes that said last that they are well; never none. Looks until the end of the test. */
export async function healthyOnes(
  t: ExecutionContext,
  nodes: readonly ClusterNode[],
): Promise<() => readonly ClusterNode[]> {
  let healthy = nodes;
  const look = async () => {
    const well = await Promise.all(nodes.map(isWell));
    const now = nodes.filter((_, i) => well[i]);
    if (now.length > 0) healthy = now;
  };
  await look();
  const timer = setInterval(() => void look(), LOOK_MS);
  t.teardown(() => clearInterval(timer));
  return () => healthy;
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
