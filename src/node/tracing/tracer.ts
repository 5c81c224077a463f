// Implements the interface of actors/runtime/tracing.ts with OpenTelemetry's API. AsyncLocalStorage keeps the current trace context, which makes every promise slightly slower; so
// this file is loaded only where something is traced.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  type Tracer as OpenTelemetryTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Span, SpanOptions, Tracer } from '../../actors/runtime/tracing.js';
import { parseTraceparent, traceparentOf } from './trace-context.js';

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export function openTelemetryTracer(tracer: OpenTelemetryTracer): Tracer {
  const current = new AsyncLocalStorage<string | undefined>();

  function start(name: string, options: SpanOptions = {}): Span {
    const { kind, parent = current.getStore(), links = [], attributes = {} } = options;
    const span = tracer.startSpan(
      name,
      {
        kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
        attributes: attributes as Attributes,
        links: links.flatMap((link) => {
          const context = parseTraceparent(link);
          return context === undefined ? [] : [{ context }];
        }),
      },
      contextOf(parent),
    );
    const traceparent = traceparentOf(span.spanContext());
    return {
      trace: traceparent,
      within: (work) => current.run(traceparent, work),
      rename: (to) => void span.updateName(to),
      set: (more) => void span.setAttributes(more as Attributes),
      end(failure) {
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(failure) });
        span.end();
      },
    };
  }

  return {
    get current() {
      return current.getStore();
    },
    within: (context, work) => current.run(context, work),
    start,
  };
}

function contextOf(parent: string | undefined): Context {
  const context = parent === undefined ? undefined : parseTraceparent(parent);
  return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
}

/** Uses codes and names, which are ours; messages may quote text of a peer. */
function nameOf(failure: unknown): string {
  if (typeof failure !== 'object' || failure === null) return 'failed';
  if ('code' in failure && typeof failure.code === 'string') return failure.code;
  return failure instanceof Error ? failure.name : 'failed';
}
