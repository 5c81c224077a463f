// Exports the series of all processes of a parent, which the label `process` distinguishes, whether each is ready, and its restarts.
import { Registry } from 'prom-client';
import { type Declared, Families } from './families.js';
import { joinedTexts } from './joined-texts.js';
import type { Metrics } from './metrics.js';

export interface MeasuredProcesses {
  processes(): readonly { readonly number: number; readonly isReady: boolean; readonly restarted: number }[];
  /** The exported text of each process. */
  texts(): Promise<readonly string[]>;
}

export function createProcessMetrics({
  processes,
  texts,
}: MeasuredProcesses): Pick<Metrics, 'contentType' | 'declared' | 'text'> {
  const registry = new Registry();
  const declared: Declared[] = [];
  const families = new Families(registry, new Set(), declared);
  families.gauges('node_ready', 'Whether the process serves: 1, or 0 while it is started again.', ['process'], () =>
    processes().map(({ number, isReady }) => [{ process: String(number) }, isReady ? 1 : 0]),
  );
  families.readCounters('node_restarts_total', 'Starts of the process after the first.', ['process'], () =>
    processes().map(({ number, restarted }) => [{ process: String(number) }, restarted]),
  );
  return {
    contentType: registry.contentType,
    declared,
    text: async () => joinedTexts([await registry.metrics(), ...(await texts())]),
  };
}
