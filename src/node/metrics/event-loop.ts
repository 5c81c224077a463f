// How late the event loop comes to what is due: the first thing to look at when everything is slow. Of the time between
// two ticks of a timer its period is taken off, which the library's own gauges leave in: an idle loop shows about 0 here.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Families } from './families.js';

const PERIOD_MS = 10;
/** `quantile` is a label of summaries alone. */
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
      // Without a tick since the last look there is nothing to say.
      const ticked = delay.count > 0;
      delay.reset();
      return ticked ? prefetched : [];
    },
  );
}
