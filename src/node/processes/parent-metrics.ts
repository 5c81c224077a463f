// The metrics port of a parent: one scrape returns the series of all processes, and /healthz has the status of the worst.
import type { Logger } from 'pino';
import { startHttp } from '../../gateways/http/server/server.js';
import type { Config } from '../config/config.js';
import type { Lifecycle } from '../lifecycle.js';
import { listenFailure } from '../start-failure.js';
import { jointHealth, type ProcessHealth } from './joint-health.js';
import type { ProcessLife } from './process-life.js';

/** The current state of a process. */
export interface MeasuredProcess {
  readonly number: number;
  /** Undefined between an end and a restart. */
  readonly life: ProcessLife | undefined;
  readonly restarted: number;
}

/** A scrape takes at most this long. */
const GRACE_MS = 500;

/** Returns the address; undefined when metrics are off. @throws StartFault when the port cannot be opened */
export async function openParentMetrics(
  { httpBind: bind, metricsPort: port }: Config,
  log: Logger,
  lifecycle: Lifecycle,
  processes: readonly MeasuredProcess[],
): Promise<string | undefined> {
  if (port === 'off') return undefined;
  const [{ exposition }, { createProcessMetrics }] = await Promise.all([
    import('../metrics/exposition.js'),
    import('../metrics/process-metrics.js'),
  ]);
  const metrics = createProcessMetrics({
    processes: () =>
      processes.map(({ number, life, restarted }) => ({ number, isReady: life?.isReady === true, restarted })),
    texts: () => Promise.all(processes.map(async ({ life }) => (await life?.ask('metrics')) ?? '')),
  });
  const health = async () => {
    const began = performance.now();
    const each = processes.map(async ({ number, life }): Promise<ProcessHealth> => {
      if (life?.isReady !== true) return { number, state: 'starting' };
      const report = await life.ask('health');
      if (report !== undefined) return { number, state: 'ready', report };
      return { number, state: life.isReady ? 'silent' : 'starting' };
    });
    return jointHealth(await Promise.all(each), performance.now() - began);
  };
  try {
    const http = await startHttp({ bind, port, handler: exposition(metrics, health), webSockets: [], log });
    lifecycle.add('metrics', () => http.stop(GRACE_MS));
    return http.address;
  } catch (error) {
    throw listenFailure(error, {
      name: 'metrics',
      variable: 'MANSIO_METRICS_PORT',
      bindVariable: 'MANSIO_HTTP_BIND',
      bind,
      port,
    });
  }
}
