// Draining: the first step of a stop. The node tells its cluster, which takes the mailboxes over, /healthz, and its clients, and
// serves them meanwhile. So a balancer sends nobody to a port that is closed already, and nothing over a connection that is about to be.
import type { Ownership } from '../actors/runtime/ownership.js';

/**
 * Balancers look every second, as a rule, and go by the second failure; and a little for their looking. Where other processes serve the
 * same ports on, no balancer notices anything: its next request on each connection that it keeps is answered, and ends the connection.
 */
const NOTICE_MS = 2_500;

export interface DrainOptions {
  readonly ownership: Pick<Ownership, 'nodeId' | 'view' | 'drain'>;
  /** Makes every listener end its connections one by one. */
  readonly beginDrain: () => void;
  /** For others to take the mailboxes over. */
  readonly withinMs: number;
  /** For balancers to notice. */
  readonly noticeMs?: number | undefined;
}

/** Never longer than the longer of the two times; not a moment longer than needed for a node that is alone. */
export async function drainNode(options: DrainOptions): Promise<void> {
  const { ownership, beginDrain, withinMs, noticeMs = NOTICE_MS } = options;
  const { nodeId, view } = ownership;
  const others = view?.nodes.some((node) => node.id !== nodeId && node.state === 'serving' && !node.expired) ?? false;
  const drained = ownership.drain(withinMs);
  beginDrain();
  await Promise.all([drained, others ? new Promise((resolve) => setTimeout(resolve, noticeMs)) : undefined]);
}
