// Metrics and traces of a node. Each is loaded only when its setting turns it on, and otherwise costs nothing.
import { NO_TRACER, type Tracer } from '../actors/runtime/tracing.js';
import type { Metrics } from './metrics/metrics.js';
import type { Resources } from './resources.js';
import { version } from './version.js';

export interface Observability {
  /** Undefined when MANSIO_METRICS_PORT is 0 or off. */
  readonly metrics: Metrics | undefined;
  readonly tracer: Tracer;
}

/** The time for spans that are not sent yet. */
const TRACING_STOP_MS = 500;

export async function openObservability({
  config,
  nodeId,
  processShare,
  log,
  lifecycle,
  dataDirectory,
}: Resources): Promise<Observability> {
  const { metricsPort, otlpEndpoint, roles } = config;
  const metrics =
    metricsPort === 'off'
      ? undefined
      : (await import('./metrics/metrics.js')).createMetrics({
          version,
          roles,
          process: processShare?.number,
        });
  metrics?.watchDisk(dataDirectory.path);
  if (otlpEndpoint === undefined) return { metrics, tracer: NO_TRACER };
  const { openTracing } = await import('./tracing/tracing.js');
  const tracing = openTracing({ endpoint: otlpEndpoint, nodeId, version, log });
  lifecycle.add('tracing', () => tracing.stop(TRACING_STOP_MS), TRACING_STOP_MS);
  return { metrics, tracer: tracing.tracer };
}
