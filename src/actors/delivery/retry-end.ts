// Until when a message is tried, for reports of a delay (RFC 3464 §2.3.9): pure.
import type { RetryPolicy } from '../../machines/outbound-email/retry.js';

/** ms since the epoch: when the last try is due, jitter left out. `nextRetryAt` is when the next one is. */
export function lastRetryAt(
  nextRetryAt: number,
  retryCount: number,
  { maxRetries, baseMs, capMs }: RetryPolicy,
): number {
  let at = nextRetryAt;
  for (let retry = retryCount + 1; retry <= maxRetries; retry++) at += Math.min(capMs, baseMs * 2 ** (retry - 1));
  return at;
}
