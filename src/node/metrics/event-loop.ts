// The delay of the event loop: the first value to read when everything is slow. The period of the timer is subtracted from the time between
// two ticks, unlike in prom-client's gauges, so an idle loop shows about 0.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Families } from './families.js';

const PERIOD_MS = 10;
/** `quantile` is a reserved label of summaries. */
const PERCENTILES = [50, 90, 99, 100];

export function eventLoopDelay(families: Families): void {
  const delay = monitorEventLoopDelay({ resolution: PERIOD_MS });
  delay.enable();
  families.gauges(
    'event_loop_delay_seconds',
    'Delay of the event loop since the last scrape, by percentile; 100 is the longest. 0.1 s and more is trouble.',
    ['percentile'],
    () => {
      const prefetched = PERCENTILES.map((percentile) => {
        const seconds = percentile === 100 ? delay.max : delay.percentile(percentile);
        return [{ percentile: String(percentile) }, Math.max(0, seconds / 1e9 - PERIOD_MS / 1000)] as const;
      });
      // Without a tick since the last scrape there is no value.
      const ticked = delay.count > 0;
      delay.reset();
      return ticked ? prefetched : [];
    },
  );
}
