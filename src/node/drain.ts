// The first thing a node does that is to stop: it says so, to its cluster (which takes the mailboxes over), on /healthz and
// to its clients, and goes on serving meanwhile. Behind a balancer nobody then comes to a port that is closed already.
import type { Ownership } from '../actors/runtime/ownership.js';

/** Balancers look every second, as a rule, and go by the second failure; and a little for their looking. */
const NOTICE_MS = 2_500;

export interface HandoverOptions {
  readonly ownership: Pick<Ownership, 'nodeId' | 'view' | 'drain'>;
  /** Makes every listener end its connections one by one. */
  readonly beginDrain: () => void;
  /** For others to take the mailboxes over. */
  readonly withinMs: number;
  readonly noticeMs?: number;
}

/** Never longer than the longer of the two times; not a moment longer than needed for a node that is alone. */
export async function handOver(options: HandoverOptions): Promise<void> {
  const { ownership, beginDrain, withinMs, noticeMs = NOTICE_MS } = options;
  const { nodeId, view } = ownership;
  const others = view?.nodes.some((node) => node.id !== nodeId && node.state === 'serving' && !node.expired) ?? false;
  const drained = ownership.drain(withinMs);
  beginDrain();
  await Promise.all([drained, others ? new Promise((resolve) => setTimeout(resolve, noticeMs)) : undefined]);
}
