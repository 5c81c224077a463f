// When a delivery that left recipients Pending is made again: exponential backoff with jitter (RFC 5321 §4.5.4.1).
export interface RetryPolicy {
  /** Deliveries after the first; 0 for a single one. */
  readonly maxRetries: number;
  readonly baseMs: number;
  readonly capMs: number;
}

const JITTER = 0.1;

/** ms until the next delivery when `retryCount` retries were made or planned before; `random` is evenly from [0, 1). */
export function retryDelay(policy: RetryPolicy, retryCount: number, random: number): number {
  const delay = Math.min(policy.capMs, policy.baseMs * 2 ** retryCount);
  return Math.round(delay * (1 + JITTER * (2 * random - 1)));
}
