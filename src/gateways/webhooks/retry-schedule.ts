// Decides when a failed delivery is tried again, and when a webhook is disabled. One event is tried at a time, so a failing receiver gets
// one request at each of these times, however many events wait.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The delays after the first failure, the second, …; the last one repeats. */
const DELAYS_MS = [
  ...[2 * SECOND_MS, 10 * SECOND_MS, 30 * SECOND_MS],
  ...[2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS],
  ...[HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS],
];
const JITTER = 0.1;

/** A webhook that has failed for this long is disabled. */
export const FAILING_MS = 5 * 24 * HOUR_MS;

/** `failures`: from 1. `random`: in [0, 1). */
export function retryDelayMs(failures: number, random: () => number): number {
  const delay = DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1]!;
  return Math.round(delay * (1 + JITTER * (2 * random() - 1)));
}
