// When a recipient is tried again after a temporary failure: exponential back-off with jitter (RFC 5321 §4.5.4.1), and until
// when that goes on.
export interface RetryPolicy {
  /** Attempts after the first; 0 for a single one. */
  readonly maxRetries: number;
  readonly baseMs: number;
  readonly capMs: number;
}

const JITTER = 0.1;

/** ms until the next attempt when `retryCount` retries were made or planned before; `random` is evenly from [0, 1). */
export function retryDelay(policy: RetryPolicy, retryCount: number, random: number): number {
  return Math.round(delayOf(policy, retryCount) * (1 + JITTER * (2 * random - 1)));
}

/**
 * ms since the epoch: when the last attempt is due, jitter left out. `nextRetryAt` is when the next one is. For notifications of
 * a delay (RFC 3464 §2.3.9).
 */
export function lastRetryAt(nextRetryAt: number, retryCount: number, policy: RetryPolicy): number {
  let at = nextRetryAt;
  for (let retry = retryCount + 1; retry <= policy.maxRetries; retry++) at += delayOf(policy, retry - 1);
  return at;
}

function delayOf({ baseMs, capMs }: RetryPolicy, retryCount: number): number {
  return Math.min(capMs, baseMs * 2 ** retryCount);
}
