// Draining: the first step of a stop. The node tells its cluster, which takes over the mailboxes, and reports the stop in /healthz and to
// its clients, which it still serves. So a balancer sends nobody to a closed port, and nothing over a connection that is about to close.
import type { Ownership } from '../actors/runtime/ownership/ownership.js';

/**
 * Balancers usually check every second and react to the second failure; a little time is added for the checks. Where other processes
 * serve the same ports, balancers notice nothing: each open connection here gets one more reply and then closes.
 */
const NOTICE_MS = 2_500;

export interface DrainOptions {
  readonly ownership: Pick<Ownership, 'nodeId' | 'view' | 'drain'>;
  /** Makes every listener end its connections one by one. */
  readonly beginDrain: () => void;
  /** The time for others to take over the mailboxes; balancers get no more. */
  readonly withinMs: number;
  /** The time for balancers to notice. */
  readonly noticeMs?: number | undefined;
}

/** A node that is alone does not wait for balancers. */
export async function drainNode(options: DrainOptions): Promise<void> {
  const { ownership, beginDrain, withinMs, noticeMs = NOTICE_MS } = options;
  const { nodeId, view } = ownership;
  const others = view?.nodes.some((node) => node.id !== nodeId && node.state === 'serving' && !node.expired) ?? false;
  const drained = ownership.drain(withinMs);
  beginDrain();
  const notice = Math.min(noticeMs, withinMs);
  await Promise.all([drained, others ? new Promise((resolve) => setTimeout(resolve, notice)) : undefined]);
}
