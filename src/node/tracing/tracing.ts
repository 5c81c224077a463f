// Sends spans to an OTLP collector over HTTP, in batches, in the background. An unavailable collector costs spans and one log line, nothing
// else. Sampling, batches and request headers follow OpenTelemetry's own variables (OTEL_TRACES_SAMPLER, OTEL_BSP_*,
// OTEL_EXPORTER_OTLP_HEADERS), which its libraries read.

import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import type { Tracer } from '../../actors/runtime/tracing.js';
import { atMost } from '../../concurrency/time-bounds.js';
import { openTelemetryTracer } from './tracer.js';

export interface TracingOptions {
  /** The base URL of the collector. */
  readonly endpoint: string;
  readonly nodeId: string;
  readonly version: string;
  readonly log: Logger;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the remaining spans, for up to `withinMs`; never fails. */
  stop(withinMs: number): Promise<void>;
}

export function openTracing({ endpoint, nodeId, version, log }: TracingOptions): Tracing {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new ReportingExporter(new OTLPTraceExporter({ url }), log);
  const own = { 'service.name': 'mansio', 'service.instance.id': nodeId, 'service.version': version };
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  return {
    tracer: openTelemetryTracer(provider.getTracer('mansio', version)),
    async stop(withinMs) {
      const isStopped = await atMost(
        provider.shutdown().catch(() => {}),
        withinMs * 0.9,
      );
      if (!isStopped) exporter.report(new Error('the collector did not take the last spans in time'));
    },
  };
}

/** Equals ExportResultCode.SUCCESS of @opentelemetry/core, which is not a direct dependency. */
const SENT = 0;

/** Logs once that spans cannot be sent, and once that they can be sent again. */
class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Logger;
  #failing = false;

  constructor(exporter: SpanExporter, log: Logger) {
    this.#exporter = exporter;
    this.#log = log;
  }

  export(...[spans, done]: Parameters<SpanExporter['export']>): void {
    this.#exporter.export(spans, (result) => {
      this.report(result.code === SENT ? undefined : (result.error ?? new Error('not exported')));
      done(result);
    });
  }

  report(failure: Error | undefined): void {
    if (this.#failing === (failure !== undefined)) return;
    this.#failing = failure !== undefined;
    if (failure === undefined) this.#log.info('traces are sent again');
    else this.#log.warn({ err: failure }, 'traces cannot be sent and are dropped');
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
