// Plans retries after temporary failures: exponential back-off with jitter (RFC 5321 §4.5.4.1), up to a number of attempts.
export interface RetryPolicy {
  /** The attempts after the first; 0 for a single attempt. */
  readonly maxRetries: number;
  readonly baseMs: number;
  readonly capMs: number;
}

const JITTER = 0.1;

/** Returns the time in ms until the next attempt after `retryCount` retries were made or planned; `random` is uniform in [0, 1). */
export function retryDelay(policy: RetryPolicy, retryCount: number, random: number): number {
  return Math.round(delayOf(policy, retryCount) * (1 + JITTER * (2 * random - 1)));
}

/**
 * Returns when the last attempt is due, in ms since the epoch, without jitter. `nextRetryAt`: when the next attempt is due. Used for DSNs
 * of a delay (RFC 3464 §2.3.9).
 */
export function lastRetryAt(nextRetryAt: number, retryCount: number, policy: RetryPolicy): number {
  let at = nextRetryAt;
  for (let retry = retryCount + 1; retry <= policy.maxRetries; retry++) at += delayOf(policy, retry - 1);
  return at;
}

function delayOf({ baseMs, capMs }: RetryPolicy, retryCount: number): number {
  return Math.min(capMs, baseMs * 2 ** retryCount);
}
